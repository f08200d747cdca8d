"""System call filters, assembled by hand for x86_64 and aarch64.

Kernel tables: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h; the instructions are those
of classic BPF, Documentation/userspace-api/seccomp_filter.rst.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from stages.sandbox.faults import NoFilter


@dataclass(frozen=True, kw_only=True)
class _Machine:
    audit_arch: int
    column: int  # of _DENIED
    foreign_numbers_from: int | None = None  # x32 shares the audit number of x86_64


_MACHINES: Final[Mapping[str, _Machine]] = {
    "x86_64": _Machine(audit_arch=0xC000003E, column=0, foreign_numbers_from=0x40000000),
    "aarch64": _Machine(audit_arch=0xC00000B7, column=1),
}

# name → number on (x86_64, aarch64); None where the call does not exist.
_DENIED: Final[Mapping[str, tuple[int, int | None]]] = {
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # namespaces and mounts
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    # files past their paths
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    # wide doors into the kernel
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "uselib": (134, None),
    "_sysctl": (156, None),
    "create_module": (174, None),
    # the machine itself
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "syslog": (103, 116),
    "iopl": (172, None),
    "ioperm": (173, None),
    "vhangup": (153, 58),
}
# What processes of one user share where each command has no IPC namespace of its own.
_SHARED: Final = ((29, 194), (30, 196), (64, 190), (68, 186), (240, 180))  # shmget, shmat, semget, msgget, mq_open
_CLONE: Final = (56, 220)
_CLONE3: Final = (435, 435)
_IOCTL: Final = (16, 29)
_SOCKET: Final = (41, 198)
_SOCKETPAIR: Final = (53, 199)

_NEW_NAMESPACES: Final = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_TERMINAL_INPUT: Final = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX type into a terminal
_FAMILIES: Final = (1, 2, 10, 16)  # UNIX, INET, INET6, NETLINK; VSOCK would reach past a network namespace
_DATAGRAM: Final = 2  # SOCK_DGRAM: a pair of these can be connected anew
_SOCKET_TYPE: Final = 0xF

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCH, _FIRST, _SECOND = 0, 4, 16, 24  # places in struct seccomp_data; low halves on little-endian machines
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000


@cache
def filter_program(*, namespaces: bool, machine: str = "") -> bytes:
    """A program for seccomp(2) or `bwrap --seccomp` that refuses what no test needs and an escape would.

    Without `namespaces` around the command no socket can be made, save pairs of connected streams, and no memory is
    shared by key: neither network nor path-named sockets nor other processes are reached. `machine` is this one's when
    empty. Raises NoFilter for other processors.
    """
    name = machine or platform.machine()
    if name not in _MACHINES:
        raise NoFilter(machine=name)
    known = _MACHINES[name]
    column = known.column
    lines = _only_this_machine(known)
    for numbers in _DENIED.values():
        number = numbers[column]
        if number is not None:
            lines += _on(number, _fail(errno.EPERM))
    lines += _on(_CLONE3[column], _fail(errno.ENOSYS))  # its flags lie in memory; the C library then uses clone
    lines += _on(_CLONE[column], [_load(_FIRST), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), *_fail(errno.EPERM), *_allow()])
    lines += _on(_IOCTL[column], [_load(_SECOND), *_refuse_values(_TERMINAL_INPUT), *_allow()])
    lines += _sockets(column) if namespaces else _nothing_shared(column)
    return b"".join(struct.pack("=HBBI", *line) for line in [*lines, *_allow()])


_Line = tuple[int, int, int, int]  # code, jump if true, jump if false, constant


def _only_this_machine(known: _Machine) -> list[_Line]:
    lines = [_load(_ARCH), (_EQUAL, 1, 0, known.audit_arch), (_RETURN, 0, 0, _KILL), _load(_NUMBER)]
    if known.foreign_numbers_from is not None:
        lines += [(_AT_LEAST, 0, 1, known.foreign_numbers_from), *_fail(errno.ENOSYS)]
    return lines


def _sockets(column: int) -> list[_Line]:
    kept = [line for family in _FAMILIES for line in ((_EQUAL, 0, 1, family), *_allow())]
    lines = [_load(_FIRST), *kept, *_fail(errno.EAFNOSUPPORT)]
    return _on(_SOCKET[column], lines) + _on(_SOCKETPAIR[column], lines)


def _nothing_shared(column: int) -> list[_Line]:
    streams_only = [
        _load(_FIRST),
        (_EQUAL, 1, 0, _FAMILIES[0]),
        *_fail(errno.EACCES),
        _load(_SECOND),
        (_AND, 0, 0, _SOCKET_TYPE),
        *_refuse_values((_DATAGRAM,)),
        *_allow(),
    ]
    shared = [line for numbers in _SHARED for line in _on(numbers[column], _fail(errno.EACCES))]
    return [*shared, *_on(_SOCKET[column], _fail(errno.EACCES)), *_on(_SOCKETPAIR[column], streams_only)]


def _on(number: int, then: list[_Line]) -> list[_Line]:
    return [(_EQUAL, 0, len(then), number), *then]


def _refuse_values(values: tuple[int, ...]) -> list[_Line]:
    return [line for value in values for line in ((_EQUAL, 0, 1, value), *_fail(errno.EPERM))]


def _load(place: int) -> _Line:
    return (_LOAD, 0, 0, place)


def _fail(number: int) -> list[_Line]:
    return [(_RETURN, 0, 0, _ERROR | number)]


def _allow() -> list[_Line]:
    return [(_RETURN, 0, 0, _ALLOW)]
