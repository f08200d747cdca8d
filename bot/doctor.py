"""`doctor`: whether everything that the App stands on is there, one line each with the way out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final
from urllib.parse import quote

from bot.agents import check_command, check_model
from bot.app_manifest import ALWAYS_SENT, EVENTS, NEVER, PERMISSIONS
from bot.book import open_book
from bot.config import Settings
from bot.course.breakers import BreakerStore
from bot.credentials import app_id, private_key, webhook_secrets
from bot.forge.addresses import install_page
from bot.forge.errors import ForgeFault, NotThere, Unauthorised
from bot.forge.github import Forge
from bot.forge.types import AppInfo, Installation, RepositoryInfo, RepositoryRef
from bot.programs import program_for
from bot.why import flaws_told
from bot.wording import count, listed
from memory.errors import Told
from memory.scrub import Scrubber
from memory.unread import unread_now
from stages.agents.model import NoModel
from stages.errors import Parked
from stages.sandbox import choose

REPOSITORIES_AT_MOST: Final = 20
CLOCK_AT_MOST: Final = timedelta(seconds=30)
_LATELY: Final = timedelta(hours=24)
_LEVELS: Final = ("none", "read", "write", "admin")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one look found; `way_out` is empty where all is well. `ok` is None for what could not be looked at."""

    name: str
    ok: bool | None
    said: str
    way_out: str = ""


class Doctor:
    """Looks at the settings, at this machine, and at GitHub. Changes nothing, and calls no model."""

    def __init__(self, settings: Settings, *, now: Callable[[], datetime]) -> None:
        self._settings, self._now = settings, now
        self._skew = timedelta()

    def look(self) -> Iterator[Finding]:
        """One finding after the other."""
        here = (self._app, self._key, self._secret, self._database, self._model, self._sandbox)
        for look in here:
            yield self._told(look)
        yield from self._kept()
        answers = self._told(self._github)
        yield answers
        if not answers.ok:
            yield Finding(name="the App on GitHub", ok=None, said="not looked at: GitHub does not answer us")
            return
        for look in (self._clock, self._permissions, self._events, self._deliveries):
            yield self._told(look)
        yield from self._places()

    def _told(self, look: Callable[[], Finding]) -> Finding:
        """What a look found, or what kept it from looking: an error's own words end with the way out."""
        try:
            return look()
        except (Told, OSError) as error:
            said = error.reason if isinstance(error, Parked) else str(error)
            name = look.__name__.strip("_")
            return Finding(name=name, ok=False, said=" ".join(said.split()))

    # --- Here ------------------------------------------------------------------------------------------------------

    def _app(self) -> Finding:
        return Finding(
            name="app", ok=True, said=f"number {app_id(self._settings.app)} at {self._settings.app.base_url}"
        )

    def _key(self) -> Finding:
        private_key(self._settings.app)
        return Finding(name="key", ok=True, said="the private key is there, and only its owner can read it")

    def _secret(self) -> Finding:
        count = len(webhook_secrets(self._settings.app))
        more = "" if count == 1 else f"; {count} are taken: take the old one out when GitHub has the new one"
        return Finding(name="secret", ok=True, said=f"webhooks are signed{more}")

    def _database(self) -> Finding:
        open_book(self._settings).engine.dispose()
        return Finding(name="database", ok=True, said=f"{self._settings.database} can be written")

    def _kept(self) -> Iterator[Finding]:
        """Where tickets failed alike, and notes that no run can use; nothing where all is well."""
        try:
            book = open_book(self._settings)
        except (Told, OSError):  # told above
            return
        for one in BreakerStore(book).paused():
            yield Finding(name="paused", ok=False, said=one.said())
        for repository, notes in unread_now(book.engine).items():
            if flaws := tuple(flaws_told(notes)):
                said = f"{count(len(flaws), 'note')} of {repository} cannot be used: {listed(flaws)}"
                yield Finding(name="notes", ok=False, said=said, way_out="mend these lines on the default branch")
        book.engine.dispose()

    def _model(self) -> Finding:
        """Its price and its key, by what litellm knows; it is not called."""
        if command := self._settings.agent:
            check_command(command, Scrubber(self._settings.secrets()))
            return Finding(name="model", ok=True, said=f"the program {program_for(command).command[0]} answers")
        if not self._settings.model:
            raise NoModel
        check_model(self._settings.model, self._settings)
        return Finding(name="model", ok=True, said=f"{self._settings.model}, with a known price")

    def _sandbox(self) -> Finding:
        level = choose(self._settings.sandbox or "auto", trusted=False).level
        return Finding(name="sandbox", ok=True, said=f"{level} works")

    # --- GitHub ----------------------------------------------------------------------------------------------------

    @cached_property
    def _forge(self) -> Forge:
        settings = self._settings.app
        return Forge.for_app(
            app_id=app_id(settings),
            key=private_key(settings),
            base_url=settings.base_url,
            clock=self._now,
            sleep=lambda _: None,
            clock_is_wrong=self._is_off,
        )

    def _is_off(self, skew: timedelta) -> None:
        self._skew = skew

    @cached_property
    def _info(self) -> AppInfo:
        return self._forge.app_info()

    def _github(self) -> Finding:
        try:
            return Finding(name="github", ok=True, said=f"it answers, and knows us as {self._info.slug}")
        except (Unauthorised, NotThere) as refused:
            way_out = "does `id` belong to this key? A new key can be made on the App's page on GitHub"
            return Finding(name="github", ok=False, said=" ".join(str(refused).split()), way_out=way_out)

    def _clock(self) -> Finding:
        seconds = abs(self._skew.total_seconds())
        if abs(self._skew) > CLOCK_AT_MOST:
            said = f"this machine's clock is {seconds:.0f} seconds off"
            return Finding(name="clock", ok=False, said=said, way_out="let NTP set it: timedatectl set-ntp true")
        return Finding(name="clock", ok=True, said="GitHub takes what it signs")

    def _permissions(self) -> Finding:
        return permissions_of(self._info.permissions, "permissions", f"{self._page}/permissions")

    def _events(self) -> Finding:
        missing = sorted(set(EVENTS) - set(self._info.events) - ALWAYS_SENT)
        if missing:
            way_out = f"tick them on {self._page}/permissions, below the permissions"
            return Finding(name="events", ok=False, said=f"not sent: {', '.join(missing)}", way_out=way_out)
        return Finding(name="events", ok=True, said="all that are read are sent")

    def _deliveries(self) -> Finding:
        failed = self._forge.failed_deliveries(self._now() - _LATELY)
        if failed:
            way_out = f"does the App's webhook address lead to `serve`? {self._page}/advanced shows each answer"
            return Finding(name="reachable", ok=False, said=f"{len(failed)} webhooks of a day failed", way_out=way_out)
        return Finding(name="reachable", ok=True, said="no webhook of a day failed")

    @property
    def _page(self) -> str:
        return f"{self._settings.app.web}/settings/apps/{self._info.slug}"

    # --- Where it is installed -------------------------------------------------------------------------------------

    def _places(self) -> Iterator[Finding]:
        try:
            installations = self._forge.installations()
        except ForgeFault as fault:
            yield Finding(name="installed", ok=False, said=str(fault))
            return
        if not installations:
            way_out = f"install it: {install_page(self._settings.app.web, self._info.slug)}"
            yield Finding(name="installed", ok=False, said="nowhere yet", way_out=way_out)
        left = REPOSITORIES_AT_MOST
        for one in installations:
            yield self._installation(one)
            if not one.suspended:
                found = self._repositories(one)
                yield from (self._repository(ref) for ref in found[:left])
                left = max(0, left - len(found))

    def _installation(self, one: Installation) -> Finding:
        name = f"installed for {one.account.login}"
        page = f"{self._settings.app.web}/settings/installations/{one.id}"
        if one.suspended:
            return Finding(name=name, ok=False, said="suspended", way_out=f"lift it on {page}")
        return permissions_of(one.permissions, name, f"{page}: accept what is new")

    def _repositories(self, one: Installation) -> tuple[RepositoryRef, ...]:
        try:
            return self._forge.repositories(one.id)
        except ForgeFault:
            return ()

    def _repository(self, ref: RepositoryRef) -> Finding:
        """The first thing that would keep a run from beginning there."""
        try:
            said, way_out = self._in_the_way(ref, self._forge.repository(ref))
        except ForgeFault as fault:
            return Finding(name=ref.full_name, ok=False, said=" ".join(str(fault).split()))
        return Finding(name=ref.full_name, ok=not way_out, said=said, way_out=way_out)

    def _in_the_way(self, ref: RepositoryRef, about: RepositoryInfo) -> tuple[str, str]:
        label = self._settings.app.label
        if about.archived:
            return "archived", "take it out of the installation"
        if not about.has_issues:
            return "issues are switched off", "switch them on in its settings, or take it out of the installation"
        if self._forge.branch_head(ref, about.default_branch) is None:
            return f"its default branch {about.default_branch} has no commit", "push one"
        if not self._has_label(ref, label):
            page = f"{self._settings.app.web}/{ref.full_name}/labels"
            return f"it has no label {label}", f"make it on {page}"
        return f"label {label}, default branch {about.default_branch}", ""

    def _has_label(self, ref: RepositoryRef, label: str) -> bool:
        try:
            self._forge.api.read(ref, f"/labels/{quote(label, safe='')}", what=f"label {label}")
        except NotThere:
            return False
        return True


def permissions_of(granted: object, name: str, where: str) -> Finding:
    """Whether what is granted is what the App uses, no less, and nothing that it must never have."""
    has = granted if isinstance(granted, dict) else {}
    missing = [f"{one}: {level}" for one, level in PERMISSIONS.items() if _level(has.get(one)) < _level(level)]
    too_much = [one for one in NEVER if _level(has.get(one)) > 0]
    if missing:
        return Finding(name=name, ok=False, said=f"missing: {', '.join(missing)}", way_out=f"grant them on {where}")
    if too_much:
        said = f"too much: with {', '.join(too_much)} it could change what judges it"
        return Finding(name=name, ok=False, said=said, way_out=f"take them away on {where}")
    return Finding(name=name, ok=True, said="as needed, and no more")


def _level(name: object) -> int:
    return _LEVELS.index(name) if isinstance(name, str) and name in _LEVELS else 0
