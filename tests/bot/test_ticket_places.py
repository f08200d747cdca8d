"""Which ticket files are one ticket: told by where a file lies, never by its name alone."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from bot.ticket_file import read_ticket, ticket_id
from memory.types import TicketId

NAMES = (
    "empty-cart.md", "Empty cart.md", "empty_cart.md", "empty--cart.md", "empty-cart.json", "empty-cart.MD",
    "EMPTY-CART.md", "a/empty-cart.md", "b/empty-cart.md", "/b/empty-cart.md", "empty-cart", "empty-cart.txt",
)  # fmt: skip


def id_of(path: Path, repository: Path | None = None) -> TicketId:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# Total is wrong\n")
    return read_ticket(path, repository).id


@pytest.mark.parametrize(("one", "other"), list(combinations(NAMES, 2)))
def test_two_places_are_two_tickets(one: str, other: str) -> None:
    assert ticket_id(Path(one), None) != ticket_id(Path(other), None)


def test_files_of_one_name_in_two_folders_are_two_tickets(tmp_path: Path) -> None:
    assert id_of(tmp_path / "monday" / "crash.md") != id_of(tmp_path / "tuesday" / "crash.md")


def test_a_file_in_the_repository_is_one_ticket_in_every_clone(tmp_path: Path) -> None:
    one, other = (id_of(tmp_path / clone / "tickets" / "crash.md", tmp_path / clone) for clone in ("shop", "again"))

    assert one == other


def test_a_path_is_the_same_ticket_however_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = id_of(tmp_path / "crash.md")
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)

    assert {read_ticket(Path(path)).id for path in ("crash.md", "./crash.md", "link/crash.md")} == {whole}


def test_an_id_with_its_hash_fits_into_the_name_of_a_branch() -> None:
    assert len(ticket_id(Path("x" * 300 + ".md"), None).removeprefix("local:")) <= 60
