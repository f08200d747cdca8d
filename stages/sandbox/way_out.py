"""What a person can do where bubblewrap does not work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

_APPARMOR: Final = "kernel/apparmor_restrict_unprivileged_userns"
_CLONE: Final = "kernel/unprivileged_userns_clone"
_COUNT: Final = "user/max_user_namespaces"
_CONTAINER_MARKS: Final = (".dockerenv", "run/.containerenv")


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What the machine says about user namespaces."""

    apparmor_restricts: bool = False
    namespaces_off: str = ""  # the sysctl that turns them off
    container: bool = False


def look(root: Path = Path("/")) -> Facts:
    """The facts of the machine whose files stand below `root`."""
    off = [name for name, value in ((_CLONE, "0"), (_COUNT, "0")) if _sysctl(root, name) == value]
    return Facts(
        apparmor_restricts=_sysctl(root, _APPARMOR) == "1",
        namespaces_off=off[0].replace("/", ".") if off else "",
        container=any((root / mark).exists() for mark in _CONTAINER_MARKS),
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
            "or a profile for bwrap in /etc/apparmor.d with the line `userns,`"
        )
    if facts.namespaces_off:
        value = "1" if facts.namespaces_off.endswith("clone") else "15000"
        steps.append(f"turn user namespaces on: sudo sysctl -w {facts.namespaces_off}={value}")
    if facts.container or not steps:
        steps.append(
            "in Docker or Podman: start the container with --security-opt seccomp=unconfined "
            "--security-opt apparmor=unconfined --security-opt systempaths=unconfined"
        )
    return tuple(steps)


def _sysctl(root: Path, name: str) -> str:
    try:
        return (root / "proc/sys" / name).read_text(encoding="ascii").strip()
    except OSError:
        return ""
