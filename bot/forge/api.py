"""Requests in the name of an installation: reads are tried again, writes are sent once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bot.forge.errors import Unreachable
from bot.forge.tokens import Permissions, Tokens
from bot.forge.types import RepositoryRef
from bot.forge.wire import Answer, Question, Wire, moved

if TYPE_CHECKING:
    from bot.forge.pygithub import Credential

# Read together in a run, so that they share one token.
READING: Final[Permissions] = {"contents": "read", "issues": "read", "pull_requests": "read"}
METADATA: Final[Permissions] = {"metadata": "read"}
PER_PAGE: Final = 100
PAUSES_SECONDS: Final = (1.0, 2.0, 4.0)  # between the tries of one read
_PAGES_AT_MOST: Final = 30
_REPOSITORY: Final = re.compile(r".*?/repositories/(\d+)(/.*)?")
_LAST: Final = re.compile(r'[?&]page=(\d+)[^>]*>; rel="last"')
_NEXT: Final = re.compile(r'<([^>]*)>; rel="next"')


class Api:
    """`requests` counts what was sent, tokens too."""

    def __init__(self, wire: Wire, tokens: Tokens, *, sleep: Callable[[float], None]) -> None:
        self.wire, self.tokens, self._sleep = wire, tokens, sleep

    def read(
        self,
        ref: RepositoryRef,
        path: str,
        *,
        what: str,
        needs: Permissions = READING,
        query: Mapping[str, str] | None = None,
    ) -> Any:
        """JSON of an answer. `path` goes on after the repository's. Raises the errors of `bot.forge.errors`."""
        return self._read(ref, path, what, needs, query).data

    def last_pages(self, ref: RepositoryRef, path: str, *, what: str, pages: int) -> tuple[list[Any], int]:
        """The end of a long list in its own order, at most so many pages, and how many entries were left out."""
        first = self._read(ref, path, what, READING, {"per_page": str(PER_PAGE)})
        found = _LAST.search(first.headers.get("link", ""))
        last = int(found[1]) if found else 1
        begin = max(1, last - pages + 1)
        items: list[Any] = list(first.data) if begin == 1 else []
        for number in range(max(begin, 2), last + 1):
            query = {"per_page": str(PER_PAGE), "page": str(number)}
            items += self._read(ref, path, what, READING, query).data
        return items, (begin - 1) * PER_PAGE

    def all_pages(
        self,
        ref: RepositoryRef,
        path: str,
        *,
        what: str,
        needs: Permissions = READING,
        query: Mapping[str, str] | None = None,
        inside: str = "",
    ) -> list[Any]:
        """All entries of a list; `inside` names the field that holds them."""
        items: list[Any] = []
        for number in range(1, _PAGES_AT_MOST + 1):
            paged = {**(query or {}), "per_page": str(PER_PAGE), **({"page": str(number)} if number > 1 else {})}
            answer = self._read(ref, path, what, needs, paged)
            items += answer.data[inside] if inside else answer.data
            if not _NEXT.search(answer.headers.get("link", "")):
                break
        return items

    def graphql(self, ref: RepositoryRef, query: str, variables: Mapping[str, object], *, what: str) -> Any:
        """The `data` of a query that reads. Raises NotThere where a part of it is not there, and as `read`."""
        body = {"query": query, "variables": dict(variables)}
        question = Question(
            verb="POST", path="/graphql", what=what, permission="issues: read", installation=ref.installation, body=body
        )
        answer = self._tried(ref, question, READING)
        if fault := self.wire.graphql_fault(question, answer):
            raise fault
        return answer.data["data"]

    def mutate(
        self, ref: RepositoryRef, query: str, given: Mapping[str, object], *, what: str, needs: Permissions
    ) -> Any:
        """The `data` of one GraphQL mutation with one `input`, sent once. Raises as `write`."""
        body = {"query": query, "variables": {"input": dict(given)}}
        question = replace(_question(ref, "POST", "", what, needs, None, body), path="/graphql")
        answer = self._asked(ref, question, needs)
        if fault := self.wire.graphql_fault(question, answer):
            raise fault
        return answer.data["data"]

    def write(
        self, ref: RepositoryRef, verb: str, path: str, *, what: str, needs: Permissions, body: object = None
    ) -> Any:
        """JSON of the answer to one request that changes something, sent once.

        A refused credential is renewed once: then nothing was done before. Raises Unreachable where nobody knows
        whether it was done, else the errors of `bot.forge.errors`.
        """
        return self._asked(ref, _question(ref, verb, path, what, needs, None, body), needs).data

    def tried(self, ask: Callable[[], Answer]) -> Answer:
        """What `ask` gives; asked again some times, with pauses, while GitHub cannot be reached. For reads only."""
        for pause in PAUSES_SECONDS:
            try:
                return ask()
            except Unreachable:
                self._sleep(pause)
        return ask()

    # --- inside ------------------------------------------------------------------------------------------------------

    def _read(
        self, ref: RepositoryRef, path: str, what: str, needs: Permissions, query: Mapping[str, str] | None
    ) -> Answer:
        return self._tried(ref, _question(ref, "GET", path, what, needs, query, None), needs)

    def _tried(self, ref: RepositoryRef, question: Question, needs: Permissions) -> Answer:
        return self.tried(lambda: self._asked(ref, question, needs))

    def _asked(self, ref: RepositoryRef, question: Question, needs: Permissions) -> Answer:
        token = self.tokens.token(ref.installation, ref.id, needs)
        answer = self._followed(ref, question, token)
        if answer.status == 401 and self.tokens.refused(token):
            answer = self._followed(ref, question, self.tokens.token(ref.installation, ref.id, needs))
        if answer.status >= 400:
            raise self.wire.fault(question, answer)
        return answer

    def _followed(self, ref: RepositoryRef, question: Question, token: str) -> Answer:
        """Goes along when the repository has got a new name; into another repository never."""
        from bot.forge import pygithub

        credential: Credential = pygithub.bearer(token)
        try:
            return self.wire.ask(question, credential)
        except pygithub.Redirected as elsewhere:
            there = _REPOSITORY.fullmatch(elsewhere.location.partition("?")[0])
            before = question.path.removeprefix(f"/repos/{ref.full_name}")
            if not there or int(there[1]) != ref.id or (there[2] or "") != before:
                raise moved(question, elsewhere.location) from None
            renamed = replace(question, path=f"/repositories/{ref.id}{there[2] or ''}")
        try:
            return self.wire.ask(renamed, credential)
        except pygithub.Redirected as elsewhere:
            raise moved(question, elsewhere.location) from None


def _question(
    ref: RepositoryRef,
    verb: str,
    path: str,
    what: str,
    needs: Permissions,
    query: Mapping[str, str] | None,
    body: object,
) -> Question:
    named = ", ".join(f"{name}: {level}" for name, level in sorted(needs.items()))
    return Question(
        verb=verb,
        path=f"/repos/{ref.full_name}{path}",
        what=what,
        permission=named,
        installation=ref.installation,
        query=query,
        body=body,
    )
