"""What a person can do where bubblewrap does not work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

_APPARMOR: Final = "kernel/apparmor_restrict_unprivileged_userns"
_CLONE: Final = "kernel/unprivileged_userns_clone"
_COUNT: Final = "user/max_user_namespaces"
_CAP_SYS_ADMIN: Final = 21  # capabilities(7)
_CONTAINER_MARKS: Final = (".dockerenv", "run/.containerenv")


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What the machine says about user namespaces."""

    apparmor_restricts: bool = False
    namespaces_off: str = ""  # the sysctl that turns them off
    container: bool = False
    mere_root: bool = False  # root, and without the right to mount that namespaces need then


def look(root: Path = Path("/")) -> Facts:
    """The facts of the machine whose files stand below `root`."""
    off = [name for name, value in ((_CLONE, "0"), (_COUNT, "0")) if _sysctl(root, name) == value]
    return Facts(
        apparmor_restricts=_sysctl(root, _APPARMOR) == "1",
        namespaces_off=off[0].replace("/", ".") if off else "",
        container=any((root / mark).exists() for mark in _CONTAINER_MARKS),
        mere_root=_is_mere_root(root),
    )


def way_out(reason: str, facts: Facts) -> tuple[str, ...]:
    """Steps that may help against this reason, the likeliest first."""
    if reason.endswith("is not installed"):
        return ("install it: apt-get install bubblewrap util-linux (or the same names with dnf, zypper or apk)",)
    if "Unknown option" in reason:
        return ("install bubblewrap 0.7 or newer",)
    steps = []
    if facts.apparmor_restricts:
        steps.append(
            "let AppArmor allow user namespaces: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, "
            "or a profile for bwrap in /etc/apparmor.d with the line `userns,`, loaded by sudo apparmor_parser -r"
        )
    if facts.namespaces_off:
        value = "1" if facts.namespaces_off.endswith("clone") else "15000"
        steps.append(f"turn user namespaces on: sudo sysctl -w {facts.namespaces_off}={value}")
    if facts.mere_root:
        steps.append("start as an ordinary user (docker run --user 1000), or let this root mount (--cap-add SYS_ADMIN)")
    if facts.container or not steps:
        steps.append(
            "in Docker: start the container with --security-opt seccomp=unconfined "
            "--security-opt apparmor=unconfined --security-opt systempaths=unconfined; "
            "in Podman: with --security-opt seccomp=unconfined --security-opt unmask=ALL"
        )
    return tuple(steps)


def _is_mere_root(root: Path) -> bool:
    try:
        lines = (root / "proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return False
    told = dict(line.split(":", 1) for line in lines if ":" in line)
    effective = int(told.get("CapEff", "0"), 16)
    return told.get("Uid", "").split()[1:2] == ["0"] and not effective >> _CAP_SYS_ADMIN & 1


def _sysctl(root: Path, name: str) -> str:
    try:
        return (root / "proc/sys" / name).read_text(encoding="ascii").strip()
    except OSError:
        return ""
