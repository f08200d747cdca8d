"""The user's repository: its name, what is read of it, what is said when it cannot be used, what is published."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.types import CheckId, CommitId
from stages.checks import PYTEST
from stages.errors import Refused
from stages.origin import local_path, remote_id
from stages.patch import Patch
from stages.report import Reproduction
from stages.repository import (
    READ_AT_MOST,
    BadBranchName,
    BareRepository,
    BranchTaken,
    EmptyRepository,
    NoSuchFolder,
    NotARepository,
    Repository,
    RepositoryFault,
    UncommittedChanges,
    UnknownRevision,
    UnreadableRepository,
)
from stages.workspace import Workspace, Workspaces
from tests.stages.repositories import FIXED, SHOP, checks, commit, git, make, put, reproduction

# --- opening ---------------------------------------------------------------------------------------------------------


def not_git(folder: Path) -> Path:
    folder.mkdir()
    return folder


def empty(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "--quiet", ".")
    return folder


def empty_but_for_a_strange_name(folder: Path) -> Path:
    put(empty(folder), {"HEAD^{commit}": "git takes what it asks for for this file"})
    return folder


def with_its_tree_elsewhere(folder: Path) -> Path:
    """As people keep the files of their home: what git says of `folder` is true of another one."""
    tree = empty(folder.parent / "tree")
    git(make(folder).folder, "config", "core.worktree", str(tree))
    return folder


def bare(folder: Path) -> Path:
    make(folder.with_name("source"))
    git(folder.parent, "init", "--quiet", "--bare", str(folder))
    return folder


def headless(folder: Path) -> Path:
    make(folder)
    git(folder, "symbolic-ref", "HEAD", "refs/heads/gone")
    return folder


def broken(folder: Path) -> Path:
    make(folder)
    (folder / ".git" / "refs" / "heads" / "main").write_text("0" * 39 + "1\n")
    return folder


@pytest.mark.parametrize(
    ("made", "error", "way_out"),
    [
        (lambda folder: folder, NoSuchFolder, "does not exist. Name a folder"),
        (not_git, NotARepository, "make one: git init"),
        (empty, EmptyRepository, "Commit what is there"),
        (empty_but_for_a_strange_name, EmptyRepository, "Commit what is there"),
        (with_its_tree_elsewhere, EmptyRepository, "Commit what is there"),
        (bare, BareRepository, "Clone it"),
        (headless, UnreadableRepository, "git fsck"),
        (broken, UnreadableRepository, "git fsck"),
    ],
)
def test_a_repository_that_cannot_be_used_says_the_way_out(
    tmp_path: Path, made: Callable[[Path], Path], error: type[RepositoryFault], way_out: str
) -> None:
    folder = made(tmp_path / "repository")

    with pytest.raises(error) as told:
        Repository.open(folder)

    assert way_out in str(told.value)
    assert "\n" not in str(told.value)
    assert str(folder) in str(told.value)


STRANGE = os.fsdecode(b"caf\xe9")


def moved(folder: Path) -> Path:
    make(folder.with_name("first"))
    return folder.with_name("first").rename(folder)


def in_a_moved_folder(folder: Path) -> Path:
    (moved(folder) / "docs").mkdir()
    return folder / "docs"


def in_a_work_tree(folder: Path) -> Path:
    git(make(folder.with_name("first")).folder, "worktree", "add", "--quiet", os.fspath(folder))
    return folder


def of_a_moved_one(folder: Path) -> Path:
    git(moved(folder), "worktree", "add", "--quiet", str(folder.with_name("tree")))
    return folder.with_name("tree")


@pytest.mark.parametrize("made", [moved, in_a_moved_folder, in_a_work_tree, of_a_moved_one])
def test_a_repository_whose_path_is_not_utf_8_says_the_way_out(tmp_path: Path, made: Callable[[Path], Path]) -> None:
    folder = made(tmp_path / STRANGE)

    with pytest.raises(RepositoryFault) as told:
        Repository.open(folder)

    assert str(tmp_path / "caf\\xe9") in str(told.value)
    assert str(told.value).endswith("is not UTF-8. Rename that folder, or name a clone of it with --repo.")


@pytest.mark.parametrize("bare", [False, True])
def test_a_clone_of_a_repository_whose_path_is_not_utf_8_can_be_used(tmp_path: Path, bare: bool) -> None:
    first = tmp_path / STRANGE
    if bare:
        first.mkdir()
        git(first, "init", "--quiet", "--bare", ".")
    else:
        moved(first)
    git(make(tmp_path / "clone").folder, "config", "remote.origin.url", os.fspath(first))

    found = Repository.open(tmp_path / "clone")

    assert found.id == f"local:{tmp_path / 'clone' / '.git'}"


def test_a_folder_in_a_repository_may_have_any_name(tmp_path: Path) -> None:
    top = make(tmp_path / "repository").folder
    (top / STRANGE).mkdir()

    assert Repository.open(top / STRANGE).folder == top


def test_a_repository_of_another_owner_can_be_used(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    repository = make(tmp_path / "repository")
    for folder, folders, files in os.walk(repository.folder):
        for name in (*folders, *files, "."):
            os.chown(Path(folder, name), 12345, 12345)

    opened = Repository.open(tmp_path / "repository")

    assert opened.uncommitted() == 0
    assert Workspaces(tmp_path / "work", checks()).make(opened, opened.resolve(), "one").files()


def test_a_detached_head_works_and_is_told(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    at = repository.resolve()
    git(repository.folder, "checkout", "--quiet", "--detach")

    opened = Repository.open(repository.folder)

    assert opened.detached
    assert not_detached(repository.folder)
    assert opened.resolve() == at


def not_detached(folder: Path) -> bool:
    git(folder, "checkout", "--quiet", "main")
    return not Repository.open(folder).detached


def test_uncommitted_changes_are_counted(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository", {**SHOP, ".gitignore": "ignored/\n"})
    put(repository.folder, {"src/shop/cart.py": "changed", "new.txt": "new", "ignored/x": "ignored"})

    count = repository.uncommitted()

    assert count == 2
    assert str(UncommittedChanges(count=count)).startswith("2 changed files are not committed")


# --- identity --------------------------------------------------------------------------------------------------------


def clone(source: Path, folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "--quiet", ".")
    git(folder, "config", "remote.origin.url", str(source))
    commit(folder)
    return folder


@pytest.mark.parametrize("url", [None, "git@github.com:Owner/Shop.git"])
def test_clones_work_trees_links_and_sub_folders_are_one_repository(tmp_path: Path, url: str | None) -> None:
    source = make(tmp_path / "source")
    if url:
        git(source.folder, "config", "remote.origin.url", url)
    first = clone(source.folder, tmp_path / "first")
    second = clone(first, tmp_path / "second")
    git(second, "config", "remote.origin.url", "../first")
    git(source.folder, "worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"))
    (tmp_path / "link").symlink_to(source.folder)
    git(source.folder, "config", "core.quotePath", "true")

    places = [source.folder, first, second, tmp_path / "tree", tmp_path / "link", source.folder / "src" / "shop"]
    ids = {Repository.open(place).id for place in places}

    assert ids == {f"local:{source.folder}/.git" if url is None else "github.com/owner/shop"}


def test_two_repositories_have_two_ids(tmp_path: Path) -> None:
    assert make(tmp_path / "one").id != make(tmp_path / "two").id


def test_origins_that_name_each_other_have_one_id(tmp_path: Path) -> None:
    one, two = make(tmp_path / "one"), make(tmp_path / "two")
    git(one.folder, "config", "remote.origin.url", str(two.folder))
    git(two.folder, "config", "remote.origin.url", str(one.folder))

    assert Repository.open(one.folder).id == Repository.open(two.folder).id


def test_an_origin_that_is_gone_leaves_the_clone_its_own_id(tmp_path: Path) -> None:
    one = make(tmp_path / "one")
    git(one.folder, "config", "remote.origin.url", "/nowhere/at/all")

    assert Repository.open(one.folder).id == f"local:{one.folder}/.git"


def test_a_bare_source_gives_its_id_to_its_clones(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "source.git")
    git(tmp_path / "source.git", "--git-dir=.", "config", "remote.origin.url", "https://example.org/team/shop")

    assert Repository.open(clone(tmp_path / "source.git", tmp_path / "one")).id == "example.org/team/shop"


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/owner/shop",
        "https://github.com/owner/shop.git",
        "https://user:secret@github.com/Owner/Shop.git/",
        "https://github.com:443/owner//shop",
        "http://GitHub.com/owner/shop",
        "git://github.com/owner/shop.git",
        "ssh://git@github.com/owner/shop.git",
        "ssh://git@github.com:22/owner/shop.git",
        "git+ssh://git@github.com/owner/shop",
        "git@github.com:owner/shop.git",
        "github.com:/owner/shop",
        "https://github.com/owner/%73hop",
    ],
)
def test_every_address_of_a_repository_is_one_id(url: str) -> None:
    assert local_path(url) is None
    assert remote_id(url) == "github.com/owner/shop"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://git.example.org/Owner/shop", "https://git.example.org/owner/shop"),
        ("http://127.0.0.1:3000/a/b", "http://127.0.0.1:4000/a/b"),
        ("https://github.com/owner/shop", "https://gitlab.com/owner/shop"),
        ("ext::sh -c a", "ext::sh -c b"),
        ("git@[::1]:a/b", "git@[::2]:a/b"),
    ],
)
def test_different_addresses_are_different_ids(one: str, other: str) -> None:
    assert remote_id(one) != remote_id(other)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("/srv/shop", "/srv/shop"),
        ("../shop", "../shop"),
        ("./a:b", "./a:b"),
        ("file:///srv/my%20shop", "/srv/my shop"),
        ("file://localhost/srv/shop", "/srv/shop"),
        ("file://elsewhere/srv/shop", None),
        ("host:shop", None),
    ],
)
def test_an_address_on_this_machine_is_a_path(url: str, path: str | None) -> None:
    assert local_path(url) == path


@given(st.text(max_size=60) | st.from_regex(r"(https?|file|ssh)://[\[@:a-z0-9\u2100]{0,9}(/.{0,9})?", fullmatch=True))
def test_no_address_breaks_the_identity(url: str) -> None:
    path = local_path(url)

    assert path == url or path is None or url.startswith("file://")
    assert path is not None or remote_id(url)


def test_tracked_paths_are_files_and_links_of_the_index_and_nothing_else(tmp_path: Path) -> None:
    repository = make(tmp_path / "a", {"src/[a].py": "", "b.py": ""})
    (tmp_path / "a" / "link").symlink_to("src")
    commit(tmp_path / "a")
    put(tmp_path / "a", {"new.py": ""})

    tracked = repository.tracked(["src", "src/[a].py", "link", "link/[a].py", "new.py", "nothing", "b.py"])

    assert tracked == ("b.py", "link", "src/[a].py")
    assert repository.tracked([]) == ()


# --- branches and commits --------------------------------------------------------------------------------------------


def test_the_default_branch_is_what_origin_says(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    git(repository.folder, "update-ref", "refs/remotes/origin/trunk", repository.resolve())
    git(repository.folder, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")

    assert repository.default[0] == "trunk"
    assert repository.resolve("trunk") == repository.resolve()


@pytest.mark.parametrize(
    ("branches", "here", "default"),
    [
        ([], "main", "main"),
        (["topic"], "topic", "main"),
        (["one", "two"], "two", "main"),
    ],
)
def test_without_an_origin_main_is_the_default_branch(
    tmp_path: Path, branches: list[str], here: str, default: str
) -> None:
    repository = make(tmp_path / "repository")
    for branch in branches:
        git(repository.folder, "branch", branch)
    git(repository.folder, "checkout", "--quiet", here)

    assert repository.default[0] == default


def test_the_only_branch_is_the_default_branch(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    git(repository.folder, "branch", "-m", "trunk")
    git(repository.folder, "checkout", "--quiet", "--detach")

    assert repository.default[0] == "trunk"


@pytest.mark.parametrize("name", ["größe", "a\u2028b", "a\x85b", "x" * 200])
def test_the_only_branch_may_have_any_name_that_git_takes(tmp_path: Path, name: str) -> None:
    repository = make(tmp_path / "repository")
    git(repository.folder, "branch", "-m", name)

    assert repository.default == (name, repository.resolve())


def test_a_default_branch_of_origin_that_is_gone_is_none(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    git(repository.folder, "branch", "topic")
    git(repository.folder, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")

    assert repository.default == ("main", repository.resolve())


def test_a_branch_here_goes_before_the_one_of_origin(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    begun = repository.resolve()
    git(repository.folder, "update-ref", "refs/remotes/origin/main", begun)
    git(repository.folder, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    newer = commit(repository.folder, {"new.py": ""})

    assert repository.default == ("main", newer)


def test_without_a_known_name_the_branch_that_is_checked_out_is_the_default(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    git(repository.folder, "branch", "-m", "trunk")
    git(repository.folder, "branch", "topic")

    assert repository.default[0] == "trunk"


def test_without_any_branch_head_is_the_default(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    git(repository.folder, "checkout", "--quiet", "--detach")
    git(repository.folder, "branch", "-D", "main")

    assert repository.default[0] == "HEAD"
    assert repository.resolve(repository.default[0]) == repository.resolve()


def test_branches_tags_ids_and_short_ids_are_resolved(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    first = repository.resolve()
    git(repository.folder, "tag", "-a", "v1", "-m", "one")
    second = commit(repository.folder, {"a": "b"})

    assert repository.resolve("v1") == first
    assert repository.resolve(first) == first
    assert repository.resolve(second[:10]) == second
    assert repository.resolve("main~1") == first


def test_a_branch_goes_before_a_tag_of_its_name(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    git(repository.folder, "tag", "main")
    second = commit(repository.folder, {"a": "b"})

    assert repository.resolve("main") == second


@pytest.mark.parametrize(
    "ref", ["nothing", "-f", "--all", "main\nx", "HEAD:src", "main\u200b", "a b", ":/begin", "f" * 40, "x" * 300]
)
def test_a_name_of_no_commit_is_told(tmp_path: Path, ref: str) -> None:
    repository = make(tmp_path / "repository")

    with pytest.raises(UnknownRevision):
        repository.resolve(ref)


# --- files -----------------------------------------------------------------------------------------------------------


def test_files_are_read_at_a_commit_and_not_from_the_folder(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")
    first = repository.resolve()
    put(repository.folder, {"src/shop/cart.py": "changed"})

    assert repository.read(first, "src/shop/cart.py") == str(SHOP["src/shop/cart.py"]).encode()
    assert repository.read(first, "src") is None
    assert repository.read(first, "nothing") is None
    assert repository.files(first) == tuple(sorted(SHOP))
    assert repository.files(first, "src/shop") == ("src/shop/__init__.py", "src/shop/cart.py")
    assert repository.files(first, "nothing") == ()
    assert repository.blob(first, "src/shop/cart.py") == git(
        repository.folder, "rev-parse", f"{first}:src/shop/cart.py"
    )
    assert repository.blob(first, "nothing") is None


def test_links_of_a_repository_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "canary").write_text("canary")
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "link").symlink_to(tmp_path / "canary")
    repository = make(tmp_path / "repository")

    assert repository.read(repository.resolve(), "link") is None
    assert "link" not in repository.files(repository.resolve())


def test_names_with_odd_characters_are_read_as_they_are(tmp_path: Path) -> None:
    odd = {"a b/[x]*.txt": "1", "ä/ö.txt": "2", "line\nbreak": "3", '"quoted"': "4"}
    repository = make(tmp_path / "repository", odd)
    with open(os.fsencode(tmp_path / "repository") + b"/caf\xe9", "wb") as file:
        file.write(b"5")
    at = commit(repository.folder)

    assert set(repository.files(at)) == set(odd)
    assert [repository.read(at, path) for path in odd] == [b"1", b"2", b"3", b"4"]


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "", "a\0b"])
def test_a_path_outside_is_refused(tmp_path: Path, path: str) -> None:
    repository = make(tmp_path / "repository")

    with pytest.raises(Refused, match="no path inside"):
        repository.read(repository.resolve(), path)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository", {"big": b"x" * (READ_AT_MOST + 1)})

    with pytest.raises(Refused, match="more than"):
        repository.read(repository.resolve(), "big")


def test_a_commit_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    repository = make(tmp_path / "repository")

    with pytest.raises(UnreadableRepository, match="git fsck"):
        repository.files(CommitId("f" * 40))


# --- publishing ------------------------------------------------------------------------------------------------------


@pytest.fixture
def fixed(tmp_path: Path) -> tuple[Repository, Workspace, Patch]:
    repository = make(tmp_path / "repository")
    space = Workspaces(tmp_path / "work", checks()).make(repository, repository.resolve(), "one")
    space.write("src/shop/cart.py", FIXED.encode())
    return repository, space, space.patch()


def test_a_published_branch_is_the_base_and_one_commit(fixed: tuple[Repository, Workspace, Patch]) -> None:
    repository, space, patch = fixed

    branch, made = repository.publish("ticketsmith/issue-1", space, patch, "Sum all prices\n\nFixes #1")

    assert branch == "ticketsmith/issue-1"
    assert git(repository.folder, "rev-parse", f"{branch}^") == space.base
    assert git(repository.folder, "rev-parse", branch) == made
    assert git(repository.folder, "show", f"{branch}:src/shop/cart.py") == FIXED.strip()
    who = "ticketsmith <ticketsmith@localhost>"
    said = git(repository.folder, "show", "-s", "--format=%an <%ae>|%cn <%ce>|%s|%b", branch)
    assert said == f"{who}|{who}|Sum all prices|Fixes #1"
    assert repository.contains(made, patch)
    assert not repository.contains(space.base, patch)


def test_sec_35_publishing_leaves_everything_else_of_the_repository_alone(
    fixed: tuple[Repository, Workspace, Patch],
) -> None:
    repository, space, patch = fixed
    put(repository.folder, {"src/shop/cart.py": "staged"})
    git(repository.folder, "add", "src/shop/cart.py")
    put(repository.folder, {"src/shop/cart.py": "changed again", "new.txt": "new"})
    before = everything(repository.folder)

    repository.publish("ticketsmith/issue-1", space, patch, "Sum all prices")

    after = everything(repository.folder)
    assert {path: data for path, data in after.items() if path not in before} == {
        ".git/refs/heads/ticketsmith/issue-1": git(repository.folder, "rev-parse", "ticketsmith/issue-1").encode()
        + b"\n"
    }
    assert {path: after[path] for path in before} == before


def everything(folder: Path) -> dict[str, bytes]:
    files = (Path(top, name) for top, _, names in os.walk(folder) for name in names if "objects" not in Path(top).parts)
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_the_reproduction_is_published_with_the_patch(fixed: tuple[Repository, Workspace, Patch]) -> None:
    repository, space, patch = fixed
    space.place(reproduction("tests/test_prices.py", "def test_it(): ..."))

    branch, made = repository.publish("ticketsmith/issue-1", space, patch, "Sum all prices")

    assert git(repository.folder, "show", f"{branch}:tests/test_prices.py") == "def test_it(): ..."
    assert repository.contains(made, patch)


def test_a_known_test_as_reproduction_adds_no_file(fixed: tuple[Repository, Workspace, Patch]) -> None:
    repository, space, patch = fixed
    known = "tests/test_cart.py::test_total"
    space.place(Reproduction(check=PYTEST, test=CheckId(known)))

    branch, _ = repository.publish("ticketsmith/issue-1", space, patch, "Sum all prices")

    assert git(repository.folder, "diff", "--name-only", f"{branch}^", branch) == "src/shop/cart.py"


def test_publishing_twice_gives_the_same_commit(fixed: tuple[Repository, Workspace, Patch]) -> None:
    repository, space, patch = fixed

    once = repository.publish("ticketsmith/issue-1", space, patch, "Sum all prices")

    assert repository.publish("ticketsmith/issue-1", space, patch, "Sum all prices") == once


def test_a_name_taken_by_another_history_gets_a_number(fixed: tuple[Repository, Workspace, Patch]) -> None:
    repository, space, patch = fixed
    for name in ("ticketsmith/issue-1", "ticketsmith/issue-1-2"):
        git(repository.folder, "branch", name, space.base)

    branch, made = repository.publish("ticketsmith/issue-1", space, patch, "Sum all prices")

    assert branch == "ticketsmith/issue-1-3"
    assert git(repository.folder, "rev-parse", "ticketsmith/issue-1") == space.base
    assert git(repository.folder, "rev-parse", branch) == made


def test_a_branch_in_the_way_of_a_folder_is_told(fixed: tuple[Repository, Workspace, Patch]) -> None:
    repository, space, patch = fixed
    git(repository.folder, "branch", "ticketsmith")

    with pytest.raises(BranchTaken, match="Delete or rename"):
        repository.publish("ticketsmith/issue-1", space, patch, "Sum all prices")


@pytest.mark.parametrize(
    "branch",
    [
        "-f",
        "--help",
        "refs/heads/../x",
        "HEAD",
        "head",
        "a" * 40,
        "0" * 64,
        "main\u200b",
        "a b",
        "a\nb",
        "a..b",
        "a@{1}",
        "a//b",
        "/a",
        "a/",
        "a.lock",
        "a.lock/b",
        ".a",
        "a/.b",
        "a.",
        "a./b",
        "a~1",
        "a^",
        "a:b",
        "",
        "x" * 300,
    ],
)
def test_sec_19_b85_a_bad_name_for_a_branch_is_refused(fixed: tuple[Repository, Workspace, Patch], branch: str) -> None:
    repository, space, patch = fixed

    with pytest.raises(BadBranchName):
        repository.publish(branch, space, patch, "Sum all prices")

    assert git(repository.folder, "for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_a_patch_that_does_not_fit_is_refused(fixed: tuple[Repository, Workspace, Patch]) -> None:
    repository, space, patch = fixed
    other = Patch(diff=patch.diff.replace("sum(prices[1:])", "max(prices)"), files=patch.files)

    with pytest.raises(Refused, match="does not fit"):
        repository.publish("ticketsmith/issue-1", space, other, "Sum all prices")


def test_an_empty_patch_is_in_no_commit(fixed: tuple[Repository, Workspace, Patch]) -> None:
    repository, space, _ = fixed

    assert not repository.contains(space.base, Patch(diff=""))


def test_a_patch_is_found_again_where_other_lines_moved(fixed: tuple[Repository, Workspace, Patch]) -> None:
    repository, space, patch = fixed
    moved = commit(repository.folder, {"src/shop/cart.py": f'"""Carts."""\n\n{FIXED}'})

    assert repository.contains(moved, patch)
    assert not repository.contains(space.base, patch)
