"""What the operator decided about the GitHub App: who it is, what starts it, and where it listens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from bot.forge.addresses import web_of
from bot.toml_table import TomlTable

LABEL: Final = "ticketsmith"
BASE_URL: Final = "https://api.github.com"
CREDENTIALS: Final = "app.json"
OWN_LABELS: Final = "ticketsmith:"  # how the labels begin that the bot sets itself
NUMBERS: Final = ("id", "port", "pause_after")

_PORT_AT_MOST: Final = 65_535
_FAILURES_AT_MOST: Final = 100
_ID_AT_MOST: Final = 2**63 - 1
_LABEL_AT_MOST: Final = 50  # characters: GitHub's own limit
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


class PublishMode(StrEnum):
    """What becomes of a patch that passed."""

    DRAFT = "draft"
    READY = "ready"
    BRANCH = "branch"  # no pull request
    PATCH = "patch"  # nothing is pushed


@dataclass(frozen=True, kw_only=True)
class AppSettings:
    """Of the GitHub App. Secrets are read from their files when they are needed: see `bot.credentials`.

    `credentials` is the file that `app create` writes; `id`, `key` and `webhook_secrets` go before what it holds.
    `webhook_secret` is the value of the variable that `webhook_secret_variable` names.
    """

    id: int | None = None
    credentials: Path = Path(CREDENTIALS)
    key: Path | None = None
    webhook_secrets: Path | None = None
    webhook_secret_variable: str = ""
    webhook_secret: str = field(default="", repr=False)
    label: str = LABEL
    base_url: str = BASE_URL
    mode: PublishMode = PublishMode.DRAFT
    allowed_bots: tuple[int, ...] = ()
    pause_after: int = 3  # tickets of one repository in a row that fail alike
    address: str = "127.0.0.1"
    port: int = 8080

    @property
    def web(self) -> str:
        """Where GitHub has its pages and its repositories."""
        return web_of(self.base_url)


def read_app(
    sources: tuple[tuple[TomlTable, Path, Callable[[str], str]], ...], folder: Path, environment: Mapping[str, str]
) -> AppSettings:
    """The settings from these sources: of each key, the last one counts. Raises WrongSetting.

    A source is a table, the folder for its paths, and how it calls a key; `folder` is where the credentials are.
    """
    decided: dict[str, Any] = {"credentials": folder / CREDENTIALS}
    for table, base, name in sources:
        decided |= {key: value for key, value in _decided(table, base, name).items() if value is not None}
    decided["webhook_secret"] = environment.get(decided.get("webhook_secret_variable", ""), "")
    return AppSettings(**decided)


def _decided(table: TomlTable, base: Path, name: Callable[[str], str]) -> dict[str, Any]:
    mode = table.choice(name("mode"), tuple(PublishMode))
    return {
        "id": table.whole(name("id"), 1, _ID_AT_MOST),
        **{key: _path(table.text(name(key)), base) for key in ("credentials", "key", "webhook_secrets")},
        "webhook_secret_variable": table.text(name("webhook_secret_variable")),
        "label": _label(table, name("label")),
        "base_url": _base_url(table, name("base_url")),
        "mode": PublishMode(mode) if mode else None,
        "allowed_bots": _bots(table, name("allowed_bots")),
        "pause_after": table.whole(name("pause_after"), 1, _FAILURES_AT_MOST),
        "address": table.text(name("address")),
        "port": table.whole(name("port"), 0, _PORT_AT_MOST),
    }


def _label(table: TomlTable, key: str) -> str | None:
    label = table.text(key)
    if label is None:
        return None
    if not label.strip() or label != label.strip() or not label.isprintable() or len(label) > _LABEL_AT_MOST:
        raise table.refusal(key, f"the name of a label, of {_LABEL_AT_MOST} characters at most")
    if label.casefold().startswith(OWN_LABELS):
        raise table.refusal(key, f"another label than those that begin with {OWN_LABELS}, which the bot sets itself")
    return label


def _base_url(table: TomlTable, key: str) -> str | None:
    url = table.text(key)
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    safe = host and (parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK))
    if not safe or parts.username is not None or parts.query or parts.fragment or port == 0:
        raise table.refusal(key, f"an address like {BASE_URL} or https://HOST/api/v3, without a user", "another text")
    return url.rstrip("/")


def _bots(table: TomlTable, key: str) -> tuple[int, ...] | None:
    """Numbers of accounts: a list, or in a variable a text with commas. No name, and no sign for all of them."""
    wanted = "a list of the numbers of accounts, such as [41898282]"
    match table.any(key):
        case None:
            return None
        case int() as number if not isinstance(number, bool):
            values: list[object] = [number]
        case str() as text:
            values = [int(one) if one.strip().isdecimal() else one for one in text.split(",")]
        case list() as values:
            pass
        case _:
            raise table.refusal(key, wanted)
    numbers = [one for one in values if isinstance(one, int) and not isinstance(one, bool) and 0 < one <= _ID_AT_MOST]
    if len(numbers) != len(values):
        raise table.refusal(key, wanted)
    return tuple(numbers)


def _path(text: str | None, base: Path) -> Path | None:
    return (base / Path(text).expanduser()).absolute() if text else None
