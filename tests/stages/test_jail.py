"""The jail against links, devices, swaps and sizes (requirements B68-B70, security row 12)."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stages.errors import ParkCause, Parked, Refused
from stages.jail import Jail
from tests.stages.sandbox.ways import as_ordinary_user, new_world

CANARY = b"canary-outside"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_bytes(CANARY)
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "src" / "a.py").write_bytes(b"a = 1\n")
    return tree


def link_to_file(tree: Path, outside: Path) -> str:
    (tree / "x").symlink_to(outside / "secret")
    return "x"


def link_to_folder(tree: Path, outside: Path) -> str:
    (tree / "x").symlink_to(outside)
    return "x/secret"


def link_inside_the_tree(tree: Path, outside: Path) -> str:
    (tree / "x").symlink_to("src/a.py")
    return "x"


def hard_link(tree: Path, outside: Path) -> str:
    os.link(outside / "secret", tree / "x")
    return "x"


def fifo(tree: Path, outside: Path) -> str:
    os.mkfifo(tree / "x")
    return "x"


def unix_socket(tree: Path, outside: Path) -> str:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tree / "x"))
    return "x"


def folder(tree: Path, outside: Path) -> str:
    return "src"


def file_as_a_folder(tree: Path, outside: Path) -> str:
    return "src/a.py/x"


def device(tree: Path, outside: Path) -> str:
    try:
        os.mknod(tree / "x", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root can make a device node")
    return "x"


def the_tree_itself(tree: Path, outside: Path) -> str:
    return "."


TRAPS = (
    link_to_file,
    link_to_folder,
    link_inside_the_tree,
    hard_link,
    fifo,
    unix_socket,
    folder,
    file_as_a_folder,
    device,
    the_tree_itself,
)
Trap = Callable[[Path, Path], str]


@pytest.mark.parametrize("trap", TRAPS)
def test_b69_what_is_no_plain_file_of_the_tree_is_not_read(trap: Trap, tree: Path, outside: Path) -> None:
    path = trap(tree, outside)

    with pytest.raises(Refused):
        Jail(tree).read(path)


@pytest.mark.parametrize("trap", TRAPS)
def test_b69_what_is_no_plain_file_of_the_tree_is_not_written(trap: Trap, tree: Path, outside: Path) -> None:
    path = trap(tree, outside)

    with pytest.raises(Refused):
        Jail(tree).write(path, b"overwritten")

    assert (outside / "secret").read_bytes() == CANARY
    assert (tree / "src" / "a.py").read_bytes() == b"a = 1\n"


@pytest.mark.parametrize("trap", TRAPS)
def test_b69_what_is_no_plain_file_of_the_tree_is_not_removed(trap: Trap, tree: Path, outside: Path) -> None:
    path = trap(tree, outside)

    with pytest.raises(Refused):
        Jail(tree).remove(path)

    assert (outside / "secret").exists()


def test_b69_the_traps_work_without_the_jail(tree: Path, outside: Path) -> None:
    read = [(tree / trap(tree, outside)).read_bytes() for trap in (link_to_folder,)]
    (tree / "x").unlink()
    hard_link(tree, outside)
    (tree / "x").write_bytes(b"overwritten")

    assert read == [CANARY]
    assert (outside / "secret").read_bytes() == b"overwritten"


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../outside/secret", "src/../../outside/secret", ".git/config", ".git\u200c/config", "-rf", "a\nb"],
)
def test_b68_a_refused_name_is_refused_by_every_method(path: str, tree: Path, outside: Path) -> None:
    jail = Jail(tree)

    for method in (jail.read, lambda name: jail.write(name, b""), jail.remove, jail.list):
        with pytest.raises(Refused):
            method(path)

    assert sorted(path.name for path in tree.rglob("*")) == ["a.py", "src"]


KERNEL = (
    *("proc/self/environ", "proc/1/environ", "proc/self/mem", "proc/self/maps", "proc/self/fd/0", "proc/self/cwd/a"),
    *("proc/1/root/etc/shadow", "proc/kcore", "proc/net/tcp", "dev/fd/0", "dev/zero", "dev/tty"),
)


@pytest.mark.parametrize("path", KERNEL)
def test_sec_13_the_kernels_files_cannot_be_reached_through_a_link(
    path: str, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", CANARY.decode())
    for name in ("proc", "dev"):
        (tree / name).symlink_to(f"/{name}")

    with pytest.raises(Refused, match="link"):
        Jail(tree).read(path)
    with pytest.raises(Refused, match="relative"):
        Jail(tree).read(f"/{path}")
    assert (tree / "proc/self/status").read_bytes(), "without the jail the link leads there"


@pytest.mark.parametrize("path", ["proc/self/environ", "proc/self/fd/9", "dev/zero"])
def test_sec_13_a_copy_of_the_kernels_folders_in_a_tree_is_not_read_either(path: str, tree: Path) -> None:
    # A tree on a filesystem of its own, or one that somebody mounted there: what is no plain file is none.
    with pytest.raises(Refused):
        Jail(Path("/")).read(path)


def test_a_file_is_read_as_it_is(tree: Path) -> None:
    assert Jail(tree).read("./src//a.py") == b"a = 1\n"


def test_a_missing_file_is_refused_by_name(tree: Path) -> None:
    with pytest.raises(Refused, match=r"^src/b\.py does not exist$"):
        Jail(tree).read("src/b.py")


def test_a_file_above_the_cap_is_not_read(tree: Path) -> None:
    (tree / "big").write_bytes(b"x" * 101)

    with pytest.raises(Refused, match="larger than 100 bytes"):
        Jail(tree, at_most=100).read("big")


def test_a_file_of_exactly_the_cap_is_read(tree: Path) -> None:
    (tree / "big").write_bytes(b"x" * 100)

    assert len(Jail(tree, at_most=100).read("big")) == 100


def test_content_above_the_cap_is_not_written(tree: Path) -> None:
    with pytest.raises(Refused, match="larger than 100 bytes"):
        Jail(tree, at_most=100).write("big", b"x" * 101)

    assert not (tree / "big").exists()


def test_writing_makes_the_folders_above(tree: Path) -> None:
    Jail(tree).write("new/deep/b.py", b"b")

    assert (tree / "new/deep/b.py").read_bytes() == b"b"
    assert stat.S_IMODE((tree / "new/deep/b.py").stat().st_mode) == 0o644


def test_writing_keeps_the_mode_and_drops_privileged_bits(tree: Path) -> None:
    (tree / "run.sh").write_bytes(b"old")
    (tree / "run.sh").chmod(0o4755)

    Jail(tree).write("run.sh", b"new")

    assert stat.S_IMODE((tree / "run.sh").stat().st_mode) == 0o755


def test_what_is_written_belongs_to_the_owner_of_the_tree(tree: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(tree, 12345, 12345)

    Jail(tree).write("new/b.py", b"b")

    assert {(tree / path).stat().st_uid for path in ("new", "new/b.py")} == {12345}


def test_a_removed_file_is_gone_and_its_folder_stays(tree: Path) -> None:
    Jail(tree).remove("src/a.py")

    assert list((tree / "src").iterdir()) == []


def test_the_list_holds_only_what_can_be_read(tree: Path, outside: Path) -> None:
    for trap in (link_to_folder, fifo):
        trap(tree / "src", outside)
        (tree / "src/x").rename(tree / "src" / trap.__name__)
    (tree / ".git").mkdir()
    (tree / ".git/config").write_text("")
    (tree / "z\u200b").write_text("")
    (tree / "b").write_text("")
    jail = Jail(tree)

    listed = jail.list()

    assert listed == ("b", "src/a.py")
    assert [jail.read(path) for path in listed] == [b"", b"a = 1\n"]
    assert jail.list("src/") == ("src/a.py",)


def test_a_folder_that_is_not_there_cannot_be_listed(tree: Path) -> None:
    with pytest.raises(Refused, match="does not exist"):
        Jail(tree).list("nowhere")


def test_a_closed_folder_hides_only_what_is_in_it() -> None:
    def work(tree: Path) -> tuple[str, ...]:
        for name in ("open", "shut", "unreadable", "without-names"):
            (tree / name).mkdir()
            (tree / name / "a.py").touch()
        (tree / "shut").chmod(0)
        (tree / "without-names").chmod(0o444)  # names can be listed, and nothing behind them be looked at
        (tree / "unreadable").chmod(0o111)
        return Jail(tree).list()

    with new_world() as world:
        assert as_ordinary_user(lambda: work(world.tree)) == ("open/a.py",)


def test_another_filesystem_hides_only_what_is_on_it() -> None:
    mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    if not any(mount.startswith("/dev/") for mount in mounts):
        pytest.skip("nothing is mounted below /dev here")
    here = os.stat("/dev").st_dev

    listed = Jail(Path("/dev")).list()

    assert {os.stat(f"/dev/{path}").st_dev for path in listed} <= {here}


def test_a_full_disk_parks_the_run_and_leaves_the_old_content(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)

    with pytest.raises(Parked) as parked:
        Jail(tree).write("src/a.py", b"new")

    assert parked.value.cause is ParkCause.DISK
    assert [(path.name, path.read_bytes()) for path in (tree / "src").iterdir()] == [("a.py", b"a = 1\n")]


def test_another_filesystem_inside_the_tree_is_refused(tree: Path) -> None:
    with pytest.raises(Refused, match="another filesystem"):
        Jail(Path("/")).read("proc/version")


def test_b70_a_folder_that_turns_into_a_link_and_back_never_leads_out(tree: Path, outside: Path) -> None:
    (tree / "src" / "secret").write_bytes(b"inside")
    (tree / "link").symlink_to(outside)
    done = threading.Event()
    swapper = threading.Thread(target=swap_until, args=(done, tree / "src", tree / "link"))
    swapper.start()
    jail, seen, without = Jail(tree), set(), set()
    try:
        for _ in range(2_000):
            without.add((tree / "src/secret").read_bytes())
            with contextlib.suppress(Refused):
                seen.add(jail.read("src/secret"))
                jail.write("src/secret", b"inside")
    finally:
        done.set()
        swapper.join()

    assert CANARY in without
    assert seen == {b"inside"}
    assert (outside / "secret").read_bytes() == CANARY


def swap_until(done: threading.Event, one: Path, other: Path) -> None:
    exchange, here = 2, -100  # RENAME_EXCHANGE, AT_FDCWD
    library = ctypes.CDLL(None)
    while not done.is_set():
        library.renameat2(here, bytes(one), here, bytes(other), exchange)


NAMES = st.sampled_from(["a", "b", "..", ".", "", "/", ".git", "-x", "link", "loop", "src", "a.py", "\u200b", "x\\y"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(names=st.lists(NAMES, min_size=1, max_size=5), data=st.binary(max_size=20))
def test_sec_12_no_path_reads_or_writes_outside_the_tree(names: list[str], data: bytes, tmp_path: Path) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    (tree / "src").mkdir(parents=True, exist_ok=True)
    outside.mkdir(exist_ok=True)
    (outside / "a").write_bytes(CANARY)
    for name, target in (("link", "../outside"), ("loop", "loop")):
        if not (tree / name).is_symlink():
            (tree / name).symlink_to(target)
    jail, path = Jail(tree), "/".join(names)

    try:
        jail.write(path, data)
        read = jail.read(path)
    except Refused:
        read = None

    assert read in (None, data)
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {"a": CANARY}
    assert {path.name for path in tmp_path.iterdir()} == {"tree", "outside"}
