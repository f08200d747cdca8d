"""Hosts that an operator lets commands reach, by exact name and port."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final

from memory.text import one_line
from stages.errors import Refused

USUAL_PORT: Final = 443

_PORTS_BELOW: Final = 2**16
_PLACE: Final = re.compile(r"(?:\[(?P<address>[0-9a-f:.]{2,45})\]|(?P<name>[^:\[\]]{1,254}))(?::(?P<port>[0-9]{1,5}))?")
_NAME: Final = re.compile(r"(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*")
_SHOWN_AT_MOST: Final = 100  # characters
# Where clouds answer besides 169.254.169.254: AWS and Google by IPv6, Azure's host, Alibaba.
_METADATA: Final = frozenset({"fd00:ec2::254", "fd20:ce::254", "168.63.129.16", "100.100.100.200"})
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052, 2.1: all IPv4 hosts, where there is IPv6 alone
_HERE: Final = "localhost"


@dataclass(frozen=True, kw_only=True)
class Host:
    """One place in the network: a name in small letters, or an address, and a port."""

    name: str
    port: int = USUAL_PORT

    @classmethod
    def parse(cls, text: str, *, port: int = USUAL_PORT) -> Host:
        """`name`, `name:port`, `[address]` or `[address]:port`; `port` where none is named. Raises Refused."""
        found = _PLACE.fullmatch(text.strip().lower())
        name = (found["address"] or found["name"].rstrip(".")) if found else ""
        number = int(found["port"] or port) if found else 0
        if not (_is_address(name) or _NAME.fullmatch(name)) or not 0 < number < _PORTS_BELOW:
            raise Refused(reason=f"{one_line(text)[:_SHOWN_AT_MOST]!r} is no host, with or without a port")
        return cls(name=name, port=number)

    @property
    def named_on_purpose(self) -> bool:
        """True for an address, and for this machine: whoever wrote it down knew where it leads."""
        return self.name == _HERE or _is_address(self.name)

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port == USUAL_PORT else f"{name}:{self.port}"


def leads_astray(address: str) -> bool:
    """True for addresses that no name of another machine may lead to: this one, its neighbours, and whole groups.

    Cloud machines tell their credentials at link-local addresses, and at a few others.
    """
    found = _ending(ipaddress.ip_address(address.partition("%")[0]))
    if str(found) in _METADATA:
        return True
    return found.is_loopback or found.is_link_local or found.is_unspecified or found.is_multicast or found.is_reserved


def _ending(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The IPv4 address at which a connection ends that begins at an IPv6 one: mapped, 6to4, and behind NAT64."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    behind = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None
    return address.ipv4_mapped or address.sixtofour or behind or address


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
