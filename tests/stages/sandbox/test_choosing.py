"""Which sandbox a run gets, and what it is told when there is none (faults F59)."""

from __future__ import annotations

import errno
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from stages.errors import ParkCause, Parked, Refused
from stages.sandbox import Level, Probe, choose, probe
from stages.sandbox.bubblewrap import PROGRAMS
from stages.sandbox.launcher import CAPABILITIES_OF_THIS, PR_SET_NO_NEW_PRIVS, _libc, call, install
from stages.sandbox.seccomp import filter_program
from stages.sandbox.way_out import Facts, look, way_out
from tests.stages.sandbox.ways import WE_ARE_ROOT, Way, in_child, missing

needs_bubblewrap = pytest.mark.skipif(
    bool(missing(Way(level=Level.BUBBLEWRAP))), reason=missing(Way(level=Level.BUBBLEWRAP)) or "bubblewrap works"
)
needs_landlock = pytest.mark.skipif(
    bool(missing(Way(level=Level.LANDLOCK))), reason=missing(Way(level=Level.LANDLOCK)) or "Landlock works"
)


def without_namespaces() -> None:
    """As behind the default filter of a container: no namespace can be made from here on."""
    call(_libc.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    install(filter_program(namespaces=True))


def without_namespaces_and_landlock() -> None:
    without_namespaces()
    missing_call = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (6, 0, 0, 0x00050000 | errno.ENOSYS), (6, 0, 0, 0x7FFF0000)]
    install(b"".join(struct.pack("=HBBI", *line) for line in missing_call))


def without_changing_users() -> None:
    """Nothing is left to a process of root here: not even another user can be taken."""
    without_namespaces_and_landlock()
    denied = [(0x20, 0, 0, 0), (0x15, 0, 1, 157), (6, 0, 0, 0x00050000 | errno.EPERM), (6, 0, 0, 0x7FFF0000)]
    install(b"".join(struct.pack("=HBBI", *line) for line in denied))  # prctl: no limits on privilege either


@needs_bubblewrap
def test_bubblewrap_is_taken_where_it_works() -> None:
    found = probe()

    assert found == Probe(level=Level.BUBBLEWRAP, reasons={}, way_out=())
    assert found.explanation == ""
    assert choose("auto", trusted=False).level is Level.BUBBLEWRAP


@needs_bubblewrap
@needs_landlock
def test_blocked_namespaces_leave_landlock_with_the_reason_and_the_way_out() -> None:
    found = in_child(probe, without_namespaces)

    assert found.level is Level.LANDLOCK
    assert list(found.reasons) == [Level.BUBBLEWRAP]
    assert "bwrap: " in found.reasons[Level.BUBBLEWRAP]
    assert found.way_out
    assert found.explanation.endswith(found.way_out[-1])


@needs_landlock
def test_blocked_namespaces_and_landlock_leave_plain_processes() -> None:
    found = in_child(probe, without_namespaces_and_landlock)

    assert found.level is Level.PLAIN
    assert list(found.reasons) == [Level.BUBBLEWRAP, Level.LANDLOCK]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the test's own filter knows numbers of x86_64 only")
def test_where_nothing_works_even_our_own_fixtures_are_refused() -> None:
    found = in_child(probe, without_changing_users)
    error = in_child(lambda: refusal("auto", trusted=True), without_changing_users)

    assert (found.level, len(found.reasons)) == (None, 3)
    assert all(reason.rstrip(".") in error.reason for reason in found.reasons.values())


def refusal(wanted: str, *, trusted: bool, path: str = PROGRAMS) -> Parked:
    with pytest.raises(Parked) as parked:
        choose(wanted, trusted=trusted, path=path)
    return parked.value


@needs_landlock
@pytest.mark.parametrize("blocked", [without_namespaces, without_namespaces_and_landlock])
def test_f59_a_foreign_repository_waits_rather_than_run_with_less(blocked: Callable[[], None]) -> None:
    error = in_child(lambda: refusal("auto", trusted=False), blocked)

    assert error.cause is ParkCause.SANDBOX
    assert "bwrap: " in error.reason
    assert "security-opt" in error.reason or "sysctl" in error.reason
    assert "ask for a weaker level by name" in error.reason


@needs_landlock
@pytest.mark.parametrize(
    ("blocked", "level"), [(without_namespaces, Level.LANDLOCK), (without_namespaces_and_landlock, Level.PLAIN)]
)
def test_our_own_fixtures_run_with_what_there_is(blocked: Callable[[], None], level: Level) -> None:
    assert in_child(lambda: choose("auto", trusted=True).level, blocked) is level


@pytest.mark.parametrize("trusted", [True, False])
def test_f59_a_missing_bubblewrap_is_told_with_the_way_to_get_it(trusted: bool, tmp_path: Path) -> None:
    error = refusal("bubblewrap", trusted=trusted, path=str(tmp_path))

    assert "bwrap is not installed" in error.reason
    assert "apt-get install bubblewrap" in error.reason


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs a helper to become another user")
def test_a_missing_helper_of_bubblewrap_is_told_by_name(tmp_path: Path) -> None:
    found = shutil.which("bwrap")
    if found is None:
        pytest.skip("bubblewrap is not installed")
    (tmp_path / "bwrap").symlink_to(found)

    assert "setpriv is not installed" in refusal("auto", trusted=False, path=str(tmp_path)).reason


@pytest.mark.parametrize(
    ("program", "told"),
    [("echo 'bwrap: Unknown option --size' >&2; exit 1", "0.7 or newer"), ("exit 0", "it ended without a status")],
)
def test_a_bubblewrap_that_does_not_do_its_work_is_told_by_its_own_words(
    program: str, told: str, tmp_path: Path
) -> None:
    for name in ("bwrap", "setpriv"):
        (tmp_path / name).write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / name).chmod(0o755)

    assert told in refusal("bubblewrap", trusted=True, path=str(tmp_path)).reason


@pytest.mark.parametrize("level", list(Level))
def test_a_level_that_is_asked_for_by_name_is_taken_even_for_foreign_code(level: Level) -> None:
    reason = missing(Way(level=level))
    if reason:
        pytest.skip(reason)

    assert choose(level.value, trusted=False).level is level


@needs_landlock
def test_a_level_that_is_asked_for_and_does_not_work_is_not_replaced() -> None:
    error = in_child(lambda: refusal("landlock", trusted=True), without_namespaces_and_landlock)

    assert "the landlock sandbox cannot run a command" in error.reason


def test_a_word_that_names_no_level_is_refused_with_the_words_that_do() -> None:
    with pytest.raises(Refused, match=r"^jail is no sandbox; there are: auto, bubblewrap, landlock, plain$"):
        choose("jail", trusted=True)


@pytest.mark.parametrize(
    ("reason", "facts", "expected"),
    [
        ("bwrap is not installed", Facts(), ["apt-get install bubblewrap"]),
        ("bwrap: Unknown option --size", Facts(), ["0.7"]),
        ("bwrap: setting up uid map: Permission denied", Facts(apparmor_restricts=True), ["apparmor_restrict"]),
        ("bwrap: No permissions", Facts(namespaces_off="user.max_user_namespaces"), ["max_user_namespaces=15000"]),
        ("bwrap: No permissions", Facts(namespaces_off="kernel.unprivileged_userns_clone"), ["userns_clone=1"]),
        (
            "bwrap: No permissions",
            Facts(container=True, apparmor_restricts=True),
            ["apparmor_restrict", "--security-opt"],
        ),
        ("bwrap: something new", Facts(), ["unmask=ALL"]),
        ("bwrap: not permitted", Facts(mere_root=True), ["--user 1000"]),
        ("bwrap: not permitted", Facts(mere_root=True, container=True), ["SYS_ADMIN", "systempaths=unconfined"]),
    ],
)
def test_the_way_out_fits_the_reason(reason: str, facts: Facts, expected: list[str]) -> None:
    steps = way_out(reason, facts)

    assert len(steps) == len(expected)
    assert all(part in step for part, step in zip(expected, steps, strict=True))


def test_the_facts_are_read_from_the_machine(tmp_path: Path) -> None:
    kernel = tmp_path / "proc/sys/kernel"
    kernel.mkdir(parents=True)
    (kernel / "apparmor_restrict_unprivileged_userns").write_text("1\n")
    (kernel / "unprivileged_userns_clone").write_text("0\n")
    (tmp_path / ".dockerenv").touch()
    (tmp_path / "proc/self").mkdir()
    (tmp_path / "proc/self/status").write_text("Name:\tx\nUid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\n")

    assert look(tmp_path) == Facts(
        apparmor_restricts=True,
        namespaces_off="kernel.unprivileged_userns_clone",
        container=True,
        mere_root=True,
    )
    assert look(tmp_path / "nothing") == Facts()


@pytest.mark.skipif(not WE_ARE_ROOT, reason="only root can be root without its rights")
def test_a_root_without_the_right_to_mount_is_told_to_be_another_user() -> None:
    def without_the_right() -> None:
        _libc.prctl(24, 21, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_SYS_ADMIN
        kept = (1 << 21) - 1
        call(_libc.capset, CAPABILITIES_OF_THIS, struct.pack("=IIIIII", kept, kept, 0, 0, 0, 0))

    found = in_child(probe, without_the_right)

    assert found.level is not Level.BUBBLEWRAP
    assert "ordinary user" in found.way_out[0]
    assert Level.BUBBLEWRAP in found.reasons
