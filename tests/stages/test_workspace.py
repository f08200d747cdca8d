"""Workspaces: what they hold, what they keep apart, and the patches that come out of them."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memory.types import CheckId
from stages.errors import Refused
from stages.git import Git
from stages.patch import Patch
from stages.report import Check, CheckKind
from stages.repository import Repository, UnreadableRepository
from stages.sandbox import Command, Level, choose
from stages.workspace import Workspace, Workspaces
from tests.stages.repositories import FIXED, SHOP, checks, commit, git, make, put, reproduction, workspace

PYTEST = CheckId("pytest")
CART = "src/shop/cart.py"


# --- isolation -------------------------------------------------------------------------------------------------------


@pytest.fixture
def rich(tmp_path: Path) -> tuple[Repository, Workspace]:
    """A workspace of the middle commit of a repository with all that must not be found."""
    repository = make(tmp_path / "canary-source")
    put(repository.folder, {"canary.txt": "canary in the first commit"})
    commit(repository.folder, message="canary parent")
    git(repository.folder, "tag", "-a", "canary-tag", "-m", "canary")
    middle = commit(repository.folder, {"canary.txt": "", CART: SHOP[CART] + "\n"}, "middle")
    git(repository.folder, "branch", "canary-branch")
    commit(repository.folder, {CART: f"{FIXED}# canary in the future\n"}, "canary future")
    git(repository.folder, "config", "remote.origin.url", "https://user:canary@example.org/a")
    git(repository.folder, "update-ref", "refs/remotes/origin/canary", "HEAD")
    put(repository.folder, {"untracked.txt": "canary untracked"})
    return repository, Workspaces(tmp_path / "work", checks()).make(repository, middle, "one")


def test_the_clone_knows_exactly_one_commit(rich: tuple[Repository, Workspace]) -> None:
    _, space = rich
    trusted = Git(folder=space.tree, git_dir=space.tree.parent / "git")

    objects = trusted.run("cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").decode().split()
    assert trusted.run("rev-list", "--all", "HEAD").decode().split() == [space.base]
    assert objects.count("commit") == 1
    assert "tag" not in objects
    assert trusted.run("for-each-ref") == b""
    assert trusted.run("remote") == b""
    assert trusted.run("reflog", "show", "--all") == b""
    assert trusted.ask("rev-parse", "--verify", "--quiet", "HEAD^") is None
    assert not (space.tree.parent / "git" / "objects" / "info" / "alternates").exists()


@pytest.mark.parametrize("name", ["a b", "größe", 'a"b', "a\\b", "a\nb", "a:b", "#a"])
def test_a_repository_is_cloned_whatever_its_folder_is_called(name: str, tmp_path: Path) -> None:
    repository = make(tmp_path / name)

    space = Workspaces(tmp_path / "work", checks()).make(repository, repository.resolve(), "one")

    assert space.files() == tuple(sorted(SHOP))


def test_sec_5_15_nothing_of_the_source_can_be_found_in_the_workspace(rich: tuple[Repository, Workspace]) -> None:
    repository, space = rich
    trusted = Git(folder=space.tree, git_dir=space.tree.parent / "git")

    held = [file for file in space.tree.parent.rglob("*") if file.is_file()]
    blobs = trusted.run("cat-file", "--batch-all-objects", "--batch")

    assert b"canary" not in blobs.replace(b"canary.txt", b"")
    assert not [file for file in held if str(repository.folder).encode() in file.read_bytes()]
    assert not [file for file in held if b"canary" in file.read_bytes().replace(b"canary.txt", b"")]
    assert not list(space.tree.rglob(".git"))


def test_sec_5_15_the_source_cannot_be_read_from_the_sandbox(tmp_path: Path) -> None:
    repository = make(tmp_path / "sibling", {**SHOP, "canary.txt": "canary"})
    space = Workspaces(tmp_path / "work", checks()).make(repository, repository.resolve(), "one")
    os.chmod(tmp_path, 0o755)
    sandbox = choose("auto", trusted=True)
    if sandbox.level is Level.PLAIN:
        pytest.skip("no sandbox on this machine keeps files apart")
    look = f"cat {repository.folder}/canary.txt; cat {space.tree.parent}/git/HEAD; cat tests/test_cart.py"

    ran = sandbox.run(Command(arguments=("/bin/sh", "-c", look), tree=space.tree))

    assert "def test_total" in ran.output
    assert "canary\n" not in ran.output
    assert space.base not in ran.output


def test_a_repository_with_ids_of_sha_256_is_cloned_as_well(tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main", "--object-format=sha256")
    commit(folder, SHOP)
    repository = Repository.open(folder)

    space = Workspaces(tmp_path / "work", checks()).make(repository, repository.resolve(), "one")

    assert len(space.base) == 64
    assert (space.tree / "tests/test_cart.py").read_text() == SHOP["tests/test_cart.py"]


def test_b71_no_filter_or_conversion_of_the_base_touches_the_tree(tmp_path: Path) -> None:
    rules = "*.txt text eol=crlf\n*.id ident\n*.bin filter=lfs\n*.u working-tree-encoding=UTF-16\n"
    files = {
        "a.txt": "one\ntwo\n",
        "b.id": "$Id$\n",
        "c.bin": "version https://git-lfs\n",
        "d.u": "text\n",
        "e.crlf": "one\r\ntwo\r\n",
    }
    repository = make(tmp_path / "repository", files)
    put(repository.folder, {".gitattributes": rules})
    git(repository.folder, "add", ".gitattributes")
    git(repository.folder, "commit", "--quiet", "-m", "rules")
    at = repository.resolve()

    made = Workspaces(tmp_path / "work", checks()).make(repository, at, "one")

    assert {path: made.read(path).decode() for path in files} == files
    assert not made.patch(touched_only=False)


def test_links_of_the_base_stay_links_and_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "canary").write_text("canary")
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "link").symlink_to(tmp_path / "canary")
    (tmp_path / "repository" / "folder").symlink_to(tmp_path)
    made = workspace(tmp_path, {"a.txt": "a"})

    assert os.readlink(made.tree / "link") == str(tmp_path / "canary")
    assert made.files() == ("a.txt",)
    for path in ("link", "folder/canary"):
        with pytest.raises(Refused):
            made.read(path)
        with pytest.raises(Refused):
            made.write(path, b"x")
    assert (tmp_path / "canary").read_text() == "canary"


def test_b83_a_repository_with_a_submodule_is_cloned_without_it(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository", {".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = -x\n', "a": "a"})
    git(repository.folder, "update-index", "--add", "--cacheinfo", f"160000,{repository.resolve()},x")
    git(repository.folder, "commit", "--quiet", "-m", "submodule")
    space = Workspaces(tmp_path / "work", checks()).make(repository, repository.resolve(), "one")

    assert space.files() == (".gitmodules", "a")
    assert not space.patch(touched_only=False)


def test_a_work_tree_and_a_shallow_clone_can_be_sources(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    git(repository.folder, "worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"))
    commit(repository.folder, {"a": "a"})
    (repository.folder / ".git" / "shallow").write_text(f"{repository.resolve()}\n")

    spaces = Workspaces(tmp_path / "work", checks())
    for number, source in enumerate((tmp_path / "tree", repository.folder)):
        opened = Repository.open(source)
        assert spaces.make(opened, opened.resolve(), f"n{number}").read(CART)


def test_what_a_source_keeps_to_be_faster_brings_no_other_commit(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    middle = commit(repository.folder, {CART: FIXED})
    commit(repository.folder, {CART: f"{FIXED}# later\n"})
    git(repository.folder, "repack", "-adqb")
    git(repository.folder, "commit-graph", "write", "--reachable")

    space = Workspaces(tmp_path / "work", checks()).make(repository, middle, "one")

    trusted = Git(folder=space.tree, git_dir=space.tree.parent / "git")
    held = trusted.run("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").decode().split()
    listed = git(repository.folder, "rev-list", "--objects", "--no-walk", "--no-object-names", middle).split()
    assert sorted(held) == sorted(listed)
    assert trusted.run("fsck", "--strict") == b""


def test_a_commit_that_is_not_whole_is_told(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    blob = git(repository.folder, "rev-parse", f"HEAD:{CART}")
    (repository.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()

    with pytest.raises(UnreadableRepository, match="git fsck"):
        Workspaces(tmp_path / "work", checks()).make(repository, repository.resolve(), "one")


def test_a_workspace_of_the_same_name_is_replaced(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    spaces = Workspaces(tmp_path / "work", checks())
    first = spaces.make(repository, repository.resolve(), "one")
    first.write("left.txt", b"left")

    second = spaces.make(repository, repository.resolve(), "one")

    assert second.files() == tuple(sorted(SHOP))
    spaces.remove("one")
    assert not second.tree.exists()


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".", "-x", "a b", "x" * 200])
def test_a_name_that_is_no_folder_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Refused, match="no name of a workspace"):
        Workspaces(tmp_path, checks()).remove(name)


# --- patches ---------------------------------------------------------------------------------------------------------


def test_a_fix_written_through_the_workspace_is_the_patch(tmp_path: Path) -> None:
    shop = workspace(tmp_path)

    shop.write(CART, FIXED.encode())

    patch = shop.patch()
    assert patch.paths == (CART,)
    assert [(edit.path, edit.line) for edit in patch.edits] == [(CART, 2)]
    assert "-    return sum(prices[1:])\n+    return sum(prices)\n" in patch.diff
    assert shop.run(PYTEST).passed


def test_what_tests_and_caches_leave_is_no_part_of_the_patch(tmp_path: Path) -> None:
    shop = workspace(tmp_path, {**SHOP, ".gitignore": "ignored/\n"})
    shop.write(CART, FIXED.encode())
    left = {"left.txt": "x", "src/__pycache__/a.pyc": "x", ".pytest_cache/y": "x", "ignored/z": "x"}

    put(shop.tree, left)
    (shop.tree / "tests" / "test_cart.py").unlink()

    assert shop.patch().paths == (CART,)
    assert shop.patch(touched_only=False).paths == ("left.txt", CART, "tests/test_cart.py")
    assert "src/__pycache__/a.pyc" not in shop.files()


def test_what_a_program_left_is_the_patch_once_it_is_absorbed(tmp_path: Path) -> None:
    shop = workspace(tmp_path)
    put(shop.tree, {CART: FIXED, "new.txt": "new"})

    shop.absorb()
    put(shop.tree, {"by-a-test.txt": "later"})

    assert shop.patch().paths == ("new.txt", CART)


def test_new_deleted_binary_and_odd_files_come_back_from_their_patch(tmp_path: Path) -> None:
    base: dict[str, str | bytes] = {"gone.txt": "gone", "latin.txt": b"caf\xe9\n", "a.bin": b"\0\1\2", "d/e": "e"}
    made = workspace(tmp_path, {**base, "no-end": "a", "dir": "file"})
    new: dict[str, bytes] = {
        "new/deep/file.txt": b"new\n",
        "latin.txt": b"caf\xe9 cr\xe8me\n",
        "a.bin": b"\0\3\4",
        "no-end": b"a\nb",
        "crlf.txt": b"a\r\nb\r\n",
        "empty.txt": b"",
        "ä ö.txt": "ü\n".encode(),
    }
    for path, data in new.items():
        made.write(path, data)
    made.remove("gone.txt")
    made.remove("dir")
    made.write("dir/inner", b"now a folder\n")

    patch = made.patch()
    made.reset()
    assert not made.patch()
    made.apply(patch)

    again = made.patch()
    assert again == patch
    assert {path: made.read(path) for path in new} == new
    assert "gone.txt" not in made.files()
    assert made.read("dir/inner") == b"now a folder\n"
    assert {file.path for file in patch.files if file.binary} == {"latin.txt", "a.bin"}
    assert {file.path: file.status for file in patch.files}["gone.txt"] == "D"
    assert len(patch.edits) > 0


def test_a_file_keeps_its_mode_when_it_is_written(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository", {"run.sh": "#!/bin/sh\n"})
    os.chmod(repository.folder / "run.sh", 0o755)
    at = commit(repository.folder)
    space = Workspaces(tmp_path / "work", checks()).make(repository, at, "one")

    space.write("run.sh", b"#!/bin/sh\necho\n")

    assert [(file.old_mode, file.new_mode) for file in space.patch().files] == [("100755", "100755")]


@pytest.mark.parametrize("saved", [True, False])
def test_a_file_and_a_folder_of_one_name_take_turns(tmp_path: Path, saved: bool) -> None:
    space = workspace(tmp_path, {"a": "file", "b/c": "in a folder"})
    space.remove("a")
    space.write("a/b", b"in a folder")
    space.remove("b/c")
    (space.tree / "b").rmdir()
    space.write("b", b"file")
    space.write("d", b"file")
    if saved:
        assert "d" in space.patch().paths
    space.remove("d")
    space.write("d/e", b"in a folder")

    patch = space.patch()

    assert [(file.path, file.status) for file in patch.files] == [
        ("a", "D"),
        ("a/b", "A"),
        ("b", "A"),
        ("b/c", "D"),
        ("d/e", "A"),
    ]


def test_attributes_that_are_written_touch_no_byte_of_what_is_written(tmp_path: Path) -> None:
    space = workspace(tmp_path, {"a.txt": "one\n"})
    space.write(".gitattributes", b"*.txt text eol=crlf\n*.id ident\n*.u working-tree-encoding=UTF-16\n")
    written = {"a.txt": b"one\r\ntwo\n", "b.id": b"$Id: mine $\n", "c.u": b"text\n"}
    for path, data in written.items():
        space.write(path, data)

    patch = space.patch()

    space.reset()
    space.apply(patch)
    assert {path: space.read(path) for path in written} == written


def test_a_change_of_mode_alone_is_seen(tmp_path: Path) -> None:
    made = workspace(tmp_path, {"a": "a"})
    os.chmod(made.tree / "a", 0o755)

    patch = made.patch(touched_only=False)

    assert [(file.status, file.old_mode, file.new_mode) for file in patch.files] == [("M", "100644", "100755")]
    assert patch.edits == ()


def test_b71_attributes_cannot_hide_a_change(tmp_path: Path) -> None:
    made = workspace(tmp_path, {".gitattributes": "*.py binary\n*.py -diff\n", "a.py": "a = 1\n"})

    made.write("a.py", b"a = 2\n")

    assert "-a = 1\n+a = 2\n" in made.patch().diff


def test_a_time_stamp_cannot_hide_a_change(tmp_path: Path) -> None:
    made = workspace(tmp_path, {"a.py": "a = 1\n"})
    before = os.stat(made.tree / "a.py")
    with (made.tree / "a.py").open("r+") as file:
        file.write("a = 2\n")
    os.utime(made.tree / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))

    assert made.patch(touched_only=False).paths == ("a.py",)


def nested(tree: Path, marker: Path) -> None:
    (tree / "vendor").mkdir()
    git(tree / "vendor", "init", "--quiet", ".")
    commit(tree / "vendor", {"a.txt": "a"})
    git(tree / "vendor", "config", "core.fsmonitor", f"touch {marker}")
    git(tree / "vendor", "config", "core.worktree", "/")


def pretended(tree: Path, marker: Path) -> None:
    put(tree, {".git": f"gitdir: {marker.parent}/elsewhere\n", "vendor/a.txt": "a"})


def linked(tree: Path, marker: Path) -> None:
    put(tree, {"vendor/a.txt": "a"})
    (tree / "vendor" / ".git").symlink_to(marker.parent / "repository" / ".git")


def capital(tree: Path, marker: Path) -> None:
    put(tree, {"vendor/.GIT/config": f"[core]\n\tfsmonitor = touch {marker}\n", "vendor/a.txt": "a"})


@pytest.mark.parametrize("leave", [nested, pretended, linked, capital])
def test_sec_18_a_git_folder_that_tests_left_is_taken_away_and_not_read(
    tmp_path: Path, leave: Callable[[Path, Path], None]
) -> None:
    made = workspace(tmp_path, {"b.txt": "b"})
    leave(made.tree, tmp_path / "marker")

    patch = made.patch(touched_only=False)

    assert [(file.path, file.new_mode) for file in patch.files] == [("vendor/a.txt", "100644")]
    assert not (tmp_path / "marker").exists()
    assert (tmp_path / "repository" / ".git").exists()


def test_sec_18_a_git_folder_that_tests_left_acts_on_whoever_reads_it(tmp_path: Path) -> None:
    made = workspace(tmp_path, {"b.txt": "b"})
    nested(made.tree, tmp_path / "marker")

    plain = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    subprocess.run(["git", "status"], cwd=made.tree / "vendor", env=plain, capture_output=True, check=False)

    assert (tmp_path / "marker").exists(), "without this the test above would prove nothing"


def test_b83_a_buried_bare_repository_is_only_files(tmp_path: Path) -> None:
    made = workspace(tmp_path, {"b.txt": "b"})
    git(tmp_path, "init", "--quiet", "--bare", str(made.tree / "buried"))
    put(made.tree, {"buried/config": f"[core]\n\tfsmonitor = touch {tmp_path}/marker\n"})

    paths = made.patch(touched_only=False).paths

    assert "buried/config" in paths
    assert not (tmp_path / "marker").exists()
    core = f"repositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = touch {tmp_path}/marker"
    put(made.tree, {"buried/config": f"[core]\n\t{core}\n"})
    plain = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    for command in (["add", "config"], ["status"]):
        subprocess.run(["git", *command], cwd=made.tree / "buried", env=plain, capture_output=True, check=False)
    assert (tmp_path / "marker").exists(), "the trap works for whoever runs git in there"


def test_pipes_sockets_and_links_out_of_the_tree_do_not_stop_a_patch(tmp_path: Path) -> None:
    made = workspace(tmp_path, {"b.txt": "b"})
    os.mkfifo(made.tree / "pipe")
    (made.tree / "out").symlink_to("/etc/passwd")
    (made.tree / "loop").symlink_to("loop")
    here = os.getcwd()
    os.chdir(made.tree)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        os.chdir(here)

        patch = made.patch(touched_only=False)

    assert [(file.path, file.new_mode) for file in patch.files] == [("loop", "120000"), ("out", "120000")]
    assert "root:" not in patch.diff


@pytest.mark.parametrize("name", [b"caf\xe9.txt", b"line\nbreak", b"-rf", b"a\\..\\b", b"tab\t", b'"q"'])
def test_b68_a_name_that_no_policy_lets_pass_is_in_the_patch_all_the_same(tmp_path: Path, name: bytes) -> None:
    made = workspace(tmp_path, {"b.txt": "b"})
    with open(os.fsencode(made.tree) + b"/" + name, "wb") as file:
        file.write(b"caf\xe9\n")

    patch = made.patch(touched_only=False)

    assert patch.paths == (name.decode("utf-8", "backslashreplace"),)
    assert patch.files[0].binary
    assert patch.edits == ()


def test_a_name_that_git_refuses_is_refused(tmp_path: Path) -> None:
    made = workspace(tmp_path, {"b.txt": "b"})
    put(made.tree, {"git~1/config": "x"})

    with pytest.raises(Refused, match="cannot be read"):
        made.absorb()


def test_a_diff_that_is_too_long_is_cut_and_cannot_be_applied(tmp_path: Path) -> None:
    made = workspace(tmp_path, {"b.txt": "b"})
    made_of_lines = "".join(f"{number}\n" for number in range(1_400_000))
    put(made.tree, {"big.txt": made_of_lines})

    patch = made.patch(touched_only=False)

    assert patch.cut
    assert patch.paths == ("big.txt",)
    assert patch.diff == ""
    with pytest.raises(Refused, match="too long"):
        made.apply(patch)


def test_a_patch_that_does_not_fit_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    shop = workspace(tmp_path)
    shop.write(CART, FIXED.encode())
    patch = shop.patch()
    shop.reset()

    with pytest.raises(Refused, match="does not fit"):
        shop.apply(Patch(diff=patch.diff.replace("sum(prices[1:])", "max(prices)"), files=patch.files))

    assert shop.read(CART).decode() == SHOP[CART]
    shop.apply(Patch(diff=""))
    assert not shop.patch()


def test_a_reset_takes_everything_back_whatever_was_left(tmp_path: Path) -> None:
    shop = workspace(tmp_path)
    shop.write(CART, b"")
    put(shop.tree, {"deep/er/file": "x"})
    os.chmod(shop.tree / "deep", 0)

    shop.reset()

    assert shop.files() == tuple(sorted(SHOP))
    assert shop.read(CART).decode() == SHOP[CART]
    assert not shop.patch(touched_only=False)


def test_files_are_restored_without_changing_the_patch(tmp_path: Path) -> None:
    shop = workspace(tmp_path)
    shop.write(CART, FIXED.encode())
    shop.write("new.txt", b"new")
    before = shop.patch()

    shop.restore([CART, "new.txt", "never.txt"])

    assert shop.read(CART).decode() == SHOP[CART]
    assert "new.txt" not in shop.files()
    assert shop.patch() == before


# --- the frozen reproduction -----------------------------------------------------------------------------------------

SHOWN = reproduction(
    "tests/test_ticket.py", "from shop.cart import total\n\n\ndef test_ticket():\n    assert total([5]) == 5\n"
)


def test_the_reproduction_stays_as_it_is_frozen(tmp_path: Path) -> None:
    shop = workspace(tmp_path)
    shop.place(SHOWN)
    shop.write(CART, FIXED.encode())
    put(shop.tree, {SHOWN.path: "def test_ticket(): pass\n"})

    report = shop.run(PYTEST, tests=[SHOWN.test])

    assert report.passed
    assert shop.read(SHOWN.path).decode() == SHOWN.text
    assert shop.patch().paths == (CART,)
    assert shop.patch(touched_only=False).paths == (CART,)
    with pytest.raises(Refused, match="stays as it is"):
        shop.write(SHOWN.path, b"")
    with pytest.raises(Refused, match="stays as it is"):
        shop.remove(f"./{SHOWN.path}")
    shop.reset()
    assert shop.run(PYTEST, tests=[SHOWN.test]).failing == (f"{SHOWN.path}::test_ticket",)


def test_a_program_cannot_change_the_reproduction(tmp_path: Path) -> None:
    shop = workspace(tmp_path)
    shop.place(SHOWN)
    put(shop.tree, {SHOWN.path: "def test_ticket(): pass\n", CART: FIXED})

    shop.absorb()

    assert shop.patch().paths == (CART,)
    assert shop.read(SHOWN.path).decode() == SHOWN.text


def test_a_patch_that_touches_the_reproduction_is_not_applied(tmp_path: Path) -> None:
    shop = workspace(tmp_path)
    shop.write(SHOWN.path, b"def test_ticket(): pass\n")
    patch = shop.patch()
    shop.reset()
    shop.place(SHOWN)

    with pytest.raises(Refused, match="frozen"):
        shop.apply(patch)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("tests/test_cart.py", "exists at the base"),
        ("tests/conftest.py", "no name of a new test file"),
        ("tests/helper.py", "no name of a new test file"),
        ("./tests/test_x.py", "no name of a new test file"),
        ("../test_x.py", "leaves the tree"),
        ("-x/test_x.py", "like an option"),
    ],
)
def test_a_reproduction_at_a_wrong_place_is_refused(tmp_path: Path, path: str, reason: str) -> None:
    shop = workspace(tmp_path)

    with pytest.raises(Refused, match=reason):
        shop.place(reproduction(path, "def test_x(): assert 0\n"))

    assert shop.reproduction is None


def test_a_reproduction_that_is_not_the_hashed_text_is_refused(tmp_path: Path) -> None:
    shop = workspace(tmp_path)
    changed = reproduction("tests/test_x.py", "def test_x(): pass\n")
    object.__setattr__(changed, "text", "def test_y(): pass\n")

    with pytest.raises(Refused, match="not the text that was frozen"):
        shop.place(changed)


# --- checks ----------------------------------------------------------------------------------------------------------


def test_an_unknown_check_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    shop = workspace(tmp_path)

    with pytest.raises(Refused, match="known are: pytest"):
        shop.run(CheckId("lint"))


def test_checks_that_are_given_take_the_place_of_detected_ones(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    lint = Check(name=CheckId("lint"), kind=CheckKind.COMMAND, arguments=("true",))

    space = Workspaces(tmp_path / "work", checks()).make(repository, repository.resolve(), "one", checks=(lint,))

    assert space.checks == (lint,)
    assert space.run(CheckId("lint")).passed
