"""What a commit of the past changed, as far as its objects are here."""

from __future__ import annotations

from memory.types import CommitId, Edit
from stages.diff import compare
from stages.remote import trusted
from stages.repository import Repository


def edits_since(repository: Repository, base: CommitId, commit: CommitId) -> tuple[Edit, ...]:
    """The edits of `commit` and its ancestors that were not in `base` when it branched off; none where that is unknown.

    Of a commit that `base` holds by a merge, what the merge brought.
    """
    git = repository.git
    if git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}") is None:
        return ()
    line = git.ask("rev-list", "--ancestry-path", "--merges", "--reverse", f"{commit}..{base}") or b""
    merge = line.split(b"\n")[0].decode()
    onto = f"{merge}^1" if merge else base
    found = git.ask("merge-base", onto, commit)
    if found is None:
        return ()
    with trusted(git) as clean:  # comparing writes attributes, and the repository is a person's
        assert clean.git_dir is not None
        (clean.git_dir / "info").mkdir(exist_ok=True)
        return compare(clean, clean.git_dir, found.decode().strip(), commit).edits
