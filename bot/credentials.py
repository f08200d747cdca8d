"""What proves who we are: the App's private key and the secrets of its webhooks, in files that nobody else may read."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from bot.app_settings import AppSettings
from bot.errors import WrongInput

SECRET_AT_LEAST: Final = 32  # bytes: as long as what HMAC-SHA256 gives
_FILE_AT_MOST: Final = 64 * 1024  # bytes
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class NoApp(WrongInput):
    """There is no GitHub App here ({path} is missing): make one by `ticketsmith app create`, or name yours by `id`,
    `key` and `webhook_secrets` in the table [app] of the operator's ticketsmith.toml.
    """


class NoKey(WrongInput):
    """The private key of the GitHub App is missing: name its file as `key` in the table [app] of the operator's
    ticketsmith.toml.
    """


class NoSecret(WrongInput):
    """There is no secret for webhooks, so nothing that arrives could be trusted: put the one that the App has on GitHub
    into a file, one a line, name it as `webhook_secrets` in the table [app] of the operator's ticketsmith.toml, or set
    the variable that `webhook_secret_variable` names there.
    """


class SecretTooShort(WrongInput):
    """A secret for webhooks from {source} has {found} bytes, and {needed} are the least: make one by
    `openssl rand -hex 32`, and set it in the App on GitHub too.
    """


class SecretReadable(WrongInput):
    """{path} holds a secret, and others on this machine can read it (mode {mode:03o}): `chmod 600 {path}`."""


class SecretUnusable(WrongInput):
    """{path} cannot be used: {reason}."""


@dataclass(frozen=True, kw_only=True)
class AppFile:
    """What `app create` keeps. `bot` is the number of the account that GitHub gave the App."""

    id: int
    slug: str = ""
    bot: int | None = None
    key: str = field(default="", repr=False)
    webhook_secrets: tuple[str, ...] = field(default=(), repr=False)


_APP_FILE: Final = TypeAdapter(AppFile)


def read_app_file(settings: AppSettings) -> AppFile | None:
    """What `app create` kept; None where it did not. Raises SecretReadable and SecretUnusable."""
    if not settings.credentials.exists():
        return None
    try:
        return _APP_FILE.validate_json(read_secret(settings.credentials))
    except ValidationError as error:
        raise SecretUnusable(path=settings.credentials, reason="it is not what `app create` writes") from error


def write_app_file(path: Path, app: AppFile) -> None:
    """Keep it, readable by its owner alone; whole, or not at all. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(_APP_FILE.dump_json(app, indent=2) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def app_id(settings: AppSettings) -> int:
    """The App's number. Raises NoApp, SecretReadable and SecretUnusable."""
    if settings.id is not None:
        return settings.id
    if kept := read_app_file(settings):
        return kept.id
    raise NoApp(path=settings.credentials)


def bot_id(settings: AppSettings) -> int | None:
    """The account of the App, where it is known here. Raises SecretReadable and SecretUnusable."""
    kept = read_app_file(settings)
    return kept.bot if kept and settings.id in (None, kept.id) else None


def private_key(settings: AppSettings) -> str:
    """The App's key, as PEM. Raises NoKey, SecretReadable and SecretUnusable."""
    if settings.key is not None:
        key = read_secret(settings.key).decode("ascii", "replace")
        if "PRIVATE KEY-----" not in key:
            raise SecretUnusable(path=settings.key, reason="it is no private key in PEM")
        return key
    if (kept := read_app_file(settings)) and kept.key:
        return kept.key
    raise NoKey


def webhook_secrets(settings: AppSettings) -> tuple[bytes, ...]:
    """Every secret that a delivery may be signed with: while one is being changed there are two.

    Raises NoSecret, SecretTooShort, SecretReadable and SecretUnusable.
    """
    found = [(secret, f"${settings.webhook_secret_variable}") for secret in settings.webhook_secret.split()]
    if settings.webhook_secrets is not None:
        text = read_secret(settings.webhook_secrets).decode("utf-8", "replace")
        found += [(secret, str(settings.webhook_secrets)) for secret in text.split()]
    elif not found and (kept := read_app_file(settings)):
        found += [(secret, str(settings.credentials)) for secret in kept.webhook_secrets]
    if not found:
        raise NoSecret
    for secret, source in found:
        if (size := len(secret.encode())) < SECRET_AT_LEAST:
            raise SecretTooShort(source=source, found=size, needed=SECRET_AT_LEAST)
    return tuple(dict.fromkeys(secret.encode() for secret, _ in found))


def read_secret(path: Path) -> bytes:
    """The bytes of a file that only its owner may read. Raises SecretReadable and SecretUnusable."""
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise SecretUnusable(path=path, reason="it is no file")
            if about.st_mode & _OTHERS:
                raise SecretReadable(path=path, mode=stat.S_IMODE(about.st_mode))
            return file.read(_FILE_AT_MOST)
    except OSError as error:
        raise SecretUnusable(path=path, reason=error.strerror or "unknown error") from error
