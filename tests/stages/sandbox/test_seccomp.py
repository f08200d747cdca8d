"""The system call filters, by the machine's own rules for such programs."""

from __future__ import annotations

import errno
import struct

import pytest

from stages.sandbox.faults import NoFilter
from stages.sandbox.seccomp import filter_program

ALLOW, KILL = 0x7FFF0000, 0x80000000
ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# name → number on (x86_64, aarch64), from the kernel's own tables
NUMBERS = {
    "read": (0, 63),
    "execve": (59, 221),
    "kill": (62, 129),
    "ioctl": (16, 29),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "clone": (56, 220),
    "clone3": (435, 435),
    "ptrace": (101, 117),
    "mount": (165, 40),
    "unshare": (272, 97),
    "setns": (308, 268),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "open_by_handle_at": (304, 265),
    "process_vm_readv": (310, 270),
    "kexec_load": (246, 104),
    "shmget": (29, 194),
    "setuid": (105, 146),
}


def verdict(machine: str, call: str, *arguments: int, namespaces: bool = True, arch: int | None = None) -> int:
    """What the filter says to a call; a small reading of classic BPF."""
    number = NUMBERS[call][0 if machine == "x86_64" else 1]
    places = list(arguments) + [0] * (6 - len(arguments))
    data = struct.pack("=iIQ6Q", number, ARCHES[machine] if arch is None else arch, 0, *places)
    return run(filter_program(namespaces=namespaces, machine=machine), data)


def run(program: bytes, data: bytes) -> int:
    lines: list[tuple[int, int, int, int]] = list(struct.iter_unpack("=HBBI", program))
    held, at = 0, 0
    while True:
        code, true, false, constant = lines[at]
        at += 1
        match code:
            case 0x20:
                (held,) = struct.unpack_from("=I", data, constant)
            case 0x54:
                held &= constant
            case 0x15:
                at += true if held == constant else false
            case 0x35:
                at += true if held >= constant else false
            case 0x45:
                at += true if held & constant else false
            case 0x06:
                return constant
            case _:
                raise AssertionError(code)


def refused(number: int) -> int:
    return 0x00050000 | number


@pytest.fixture(params=list(ARCHES))
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("call", ["read", "execve", "kill", "connect", "setuid"])
@pytest.mark.parametrize("namespaces", [True, False])
def test_what_every_program_needs_is_let_through(call: str, namespaces: bool, machine: str) -> None:
    assert verdict(machine, call, namespaces=namespaces) == ALLOW


@pytest.mark.parametrize(
    "call",
    [
        *("ptrace", "mount", "unshare", "setns", "keyctl", "bpf", "perf_event_open", "userfaultfd", "io_uring_setup"),
        *("open_by_handle_at", "process_vm_readv", "kexec_load"),
    ],
)
@pytest.mark.parametrize("namespaces", [True, False])
def test_doors_into_the_kernel_are_refused(call: str, namespaces: bool, machine: str) -> None:
    assert verdict(machine, call, namespaces=namespaces) == refused(errno.EPERM)


@pytest.mark.parametrize("flag", [1 << bit for bit in (17, 25, 26, 27, 28, 29, 30)])
def test_clone_makes_no_namespace(flag: int, machine: str) -> None:
    assert verdict(machine, "clone", flag | 17) == refused(errno.EPERM)


def test_clone_makes_processes_and_threads(machine: str) -> None:
    assert [verdict(machine, "clone", flags) for flags in (17, 0x3D0F00)] == [ALLOW, ALLOW]


def test_clone3_is_said_to_be_missing_so_that_clone_is_used(machine: str) -> None:
    assert verdict(machine, "clone3") == refused(errno.ENOSYS)


@pytest.mark.parametrize(("command", "let"), [(0x5412, False), (0x541C, False), (0x5401, True), (0x5413, True)])
def test_nobody_types_into_a_terminal(command: int, let: bool, machine: str) -> None:
    assert verdict(machine, "ioctl", 0, command) == (ALLOW if let else refused(errno.EPERM))


@pytest.mark.parametrize(
    ("family", "let"), [(1, True), (2, True), (10, True), (16, True), (17, False), (38, False), (40, False)]
)
def test_with_namespaces_only_families_that_they_cover_are_open(family: int, let: bool, machine: str) -> None:
    assert verdict(machine, "socket", family, 1) == (ALLOW if let else refused(errno.EAFNOSUPPORT))


@pytest.mark.parametrize("family", [1, 2, 10, 16, 40])
def test_without_namespaces_there_is_no_socket(family: int, machine: str) -> None:
    assert verdict(machine, "socket", family, 1, namespaces=False) == refused(errno.EACCES)


@pytest.mark.parametrize(
    ("family", "kind", "said"),
    [
        (1, 1, ALLOW),
        (1, 1 | 0o2000000, ALLOW),
        (1, 5, ALLOW),
        (1, 2, refused(errno.EPERM)),
        (1, 2 | 0o2000000, refused(errno.EPERM)),
        (2, 1, refused(errno.EACCES)),
    ],
)
def test_without_namespaces_only_connected_pairs_are_made(family: int, kind: int, said: int, machine: str) -> None:
    assert verdict(machine, "socketpair", family, kind, namespaces=False) == said


def test_memory_is_shared_by_key_only_inside_namespaces(machine: str) -> None:
    assert verdict(machine, "shmget") == ALLOW
    assert verdict(machine, "shmget", namespaces=False) == refused(errno.EACCES)


def test_calls_of_another_machine_kill(machine: str) -> None:
    assert verdict(machine, "read", arch=0x40000003) == KILL


def test_the_other_numbers_of_x86_64_are_missing() -> None:
    data = struct.pack("=iIQ6Q", 0x40000000 | 101, ARCHES["x86_64"], 0, *[0] * 6)

    assert run(filter_program(namespaces=True, machine="x86_64"), data) == refused(errno.ENOSYS)


def test_an_unknown_processor_has_no_filter() -> None:
    with pytest.raises(NoFilter, match="riscv64"):
        filter_program(namespaces=True, machine="riscv64")
