"""Reads of the App itself: where it is installed, and which webhooks did not arrive."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

from bot.forge import parsing
from bot.forge.api import METADATA, PER_PAGE, Api
from bot.forge.errors import ForgeFault, Unauthorised
from bot.forge.tokens import Minter
from bot.forge.types import Account, AppInfo, Delivery, Installation, RepositoryRef
from bot.forge.wire import Answer, Question

_CURSOR: Final = re.compile(r'[?&]cursor=([^&>]+)[^>]*>; rel="next"')
_PAGES_AT_MOST: Final = 30


class AppReads:
    """Only for an App, not for a token. All of them raise the errors of `bot.forge.errors`."""

    _api: Api

    def app_info(self) -> AppInfo:
        """The App as GitHub knows it, with the account that it acts as."""
        data = self._of_app("GET", "/app", "this App").data
        bot = self._bot(parsing.shaped(lambda answer: str(answer["slug"]), data))
        return parsing.shaped(lambda answer: _app(answer, bot), data)

    def account(self, login: str) -> Account:
        """An account by its name, for a token that was given to us."""
        token = self._api.tokens.token(0, None, METADATA)
        path, what = f"/users/{quote(login, safe='')}", f"account {login}"
        question = Question(verb="GET", path=path, what=what, permission="", installation=0)
        return parsing.shaped(parsing.account, self._asked(question, token).data)

    def installations(self) -> tuple[Installation, ...]:
        """Where the App is installed, suspended ones too."""
        found = self._pages("/app/installations", "the installations of this App")
        return tuple(parsing.shaped(parsing.installation, one) for one in found)

    def installation(self, number: int) -> Installation:
        """One installation, with the permissions that were accepted there."""
        data = self._of_app("GET", f"/app/installations/{number}", f"installation {number}").data
        return parsing.shaped(parsing.installation, data)

    def repositories(self, installation: int) -> tuple[RepositoryRef, ...]:
        """What an installation lets the App see."""
        token = self._api.tokens.token(installation, None, METADATA)
        found: list[Any] = []
        for number in range(1, _PAGES_AT_MOST + 1):
            answer = self._with_token(token, installation, number)
            found += answer.data["repositories"]
            if 'rel="next"' not in answer.headers.get("link", ""):
                break
        return tuple(
            parsing.shaped(
                lambda one: RepositoryRef(
                    installation=installation, id=int(one["id"]), full_name=str(one["full_name"])
                ),
                one,
            )
            for one in found
        )

    def failed_deliveries(self, since: datetime) -> tuple[Delivery, ...]:
        """Webhooks that did not arrive since then, oldest first: those of which no sending went well."""
        newest_first: list[Delivery] = []
        query = {"per_page": str(PER_PAGE)}
        for _ in range(_PAGES_AT_MOST):
            answer = self._of_app("GET", "/app/hook/deliveries", "deliveries of webhooks", query)
            newest_first += [parsing.shaped(parsing.delivery, one) for one in answer.data]
            cursor = _CURSOR.search(answer.headers.get("link", ""))
            if not cursor or newest_first[-1].at < since:
                break
            query = {"per_page": str(PER_PAGE), "cursor": cursor[1]}
        arrived = {one.guid for one in newest_first if not one.failed}
        failed = {one.guid: one for one in newest_first if one.at >= since and one.guid not in arrived}
        return tuple(sorted(failed.values(), key=lambda one: (one.at, one.id)))

    def redeliver(self, number: int) -> None:
        """Have GitHub send a webhook again, under the same guid. Twice does no harm: it is known by its guid."""
        self._of_app("POST", f"/app/hook/deliveries/{number}/attempts", f"delivery {number}")

    # --- inside ------------------------------------------------------------------------------------------------------

    def _minter(self) -> Minter:
        tokens = self._api.tokens
        if not isinstance(tokens, Minter):
            raise Unauthorised(said="this needs the App itself, and there is only a token")
        return tokens

    def _bot(self, slug: str) -> Account:
        """Accounts are not shown to an App itself, but to each of its installations; before the first, to everybody."""
        acting = next((one.id for one in self.installations() if not one.suspended), None)
        token = self._api.tokens.token(acting, None, METADATA) if acting is not None else None
        path = f"/users/{quote(f'{slug}[bot]', safe='')}"
        question = Question(verb="GET", path=path, what=f"account {slug}[bot]", permission="", installation=acting or 0)
        return parsing.shaped(parsing.account, self._asked(question, token).data)

    def _pages(self, path: str, what: str) -> list[Any]:
        found: list[Any] = []
        for number in range(1, _PAGES_AT_MOST + 1):
            answer = self._of_app("GET", path, what, {"per_page": str(PER_PAGE), "page": str(number)})
            found += answer.data
            if 'rel="next"' not in answer.headers.get("link", ""):
                break
        return found

    def _of_app(self, verb: str, path: str, what: str, query: dict[str, str] | None = None) -> Answer:
        question = Question(verb=verb, path=path, what=what, permission="", installation=0, query=query)
        return self._api.tried(lambda: _good(self._api, question, self._minter().as_app(question)))

    def _with_token(self, token: str, installation: int, page: int) -> Answer:
        question = Question(
            verb="GET",
            path="/installation/repositories",
            what=f"repositories of installation {installation}",
            permission="metadata: read",
            installation=installation,
            query={"per_page": str(PER_PAGE), "page": str(page)},
        )
        return self._asked(question, token)

    def _asked(self, question: Question, token: str | None) -> Answer:
        from bot.forge import pygithub

        credential = pygithub.bearer(token) if token else None
        return self._api.tried(lambda: _good(self._api, question, self._api.wire.ask(question, credential)))


def _good(api: Api, question: Question, answer: Answer) -> Answer:
    if answer.status >= 400:
        fault: ForgeFault = api.wire.fault(question, answer)
        raise fault
    return answer


def _app(data: Any, bot: Account) -> AppInfo:
    return AppInfo(
        id=int(data["id"]),
        slug=str(data["slug"]),
        name=str(data["name"]),
        bot=bot,
        permissions=dict(data.get("permissions") or {}),
        events=tuple(data.get("events") or ()),
    )
