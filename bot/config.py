"""The operator's settings: read once, from `ticketsmith.toml` and the environment, and never written."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from bot import app_settings
from bot.app_settings import AppSettings, read_app
from bot.errors import ConfigMissing, ConfigUnreadable, NoHome
from bot.outside import Outside, read_outside
from bot.toml_table import TomlTable, parse_toml
from bot.walls import Walls, read_walls
from memory.text import one_line
from stages.agents.limits import Limits
from stages.offline import CANDIDATE_RUNS_AT_MOST
from stages.sandbox import Level

PREFIX: Final = "TICKETSMITH_"
ATTEMPTS: Final = 3
TRANSCRIPT_DAYS: Final = 90
ATTEMPTS_AT_MOST: Final = 20
WORKERS: Final = 2
WORKERS_AT_MOST: Final = 32
INSTALLATION: Final = "local"
LOOP: Final = "loop"

_AUTO = "auto"
_NUMBERS: tuple[str, ...] = ("attempts", "workers", "transcript_days", "candidate_runs")
_NUMBERS += ("calls", "tokens", "money", "minutes")
_NUMBERS += tuple(f"app_{key}" for key in app_settings.NUMBERS)
_COUNT_AT_MOST = 10**12
_MONEY_AT_MOST = 1e6  # US dollars
_DAYS_AT_MOST = 36_500
_MINUTES_AT_MOST = 7 * 24 * 60
_KEY_VARIABLE = re.compile(r"(?:API_?KEY|ACCESS_KEY|SECRET_KEY|PRIVATE_KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.I)
_PASSWORD_IN_URL = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")
_ENGINES = ("sqlite:///", "postgresql://")
_SECRET_AT_LEAST = 8  # characters: a shorter one would cut ordinary words out of every text


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the operator decided. `model` is empty when none was chosen. Secret values never show in a representation.

    `model_key` is the value of the variable that `model_key_variable` names; where none is named, litellm looks for the
    variable of its provider. `candidate_runs` is how many small edits the embedded model tries for one patch. `sandbox`
    is None when the strongest level that works is wanted. `agent` is the command of an external program, empty for the
    built-in loop.
    """

    home: Path
    database: Path
    installation: str = INSTALLATION
    model: str = ""
    model_url: str = ""
    model_key: str = field(default="", repr=False)
    model_key_variable: str = ""
    agent: tuple[str, ...] = ()
    engine_url: str = field(default="", repr=False)  # of the queue's database; a file in `home` when empty
    workers: int = WORKERS  # runs at the same time, in one process
    attempts: int = ATTEMPTS
    transcript_days: int = TRANSCRIPT_DAYS
    limits: Limits = field(default_factory=Limits)
    walls: Walls = field(default_factory=Walls)
    candidate_runs: int = CANDIDATE_RUNS_AT_MOST
    sandbox: Level | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    app: AppSettings = field(default_factory=AppSettings)
    outside: Outside = field(default_factory=Outside)
    hidden: tuple[str, ...] = field(default=(), repr=False)

    @property
    def author_key(self) -> Path:
        """What lessons are signed with: in a file of its own, so that whoever has the database has no key."""
        return self.home / "memory.key"

    def secrets(self) -> tuple[str, ...]:
        """The values that must never be written anywhere: keys, tokens and passwords of this configuration."""
        given = (value for value in self.outside.variables.values() if len(value) >= _SECRET_AT_LEAST)
        passwords = _PASSWORD_IN_URL.findall(self.engine_url)
        own = filter(None, (self.model_key, *passwords, *self.app.webhook_secret.split(), *given))
        return tuple(sorted({*self.hidden, *own}, key=lambda value: (-len(value), value)))


def read_settings(environment: Mapping[str, str], config: Path | None = None) -> Settings:
    """The settings of this process; the environment wins over the file. No `.env` is ever read.

    The file is `config`, else the one that TICKETSMITH_CONFIG names, else `ticketsmith/ticketsmith.toml` in the XDG
    configuration folder, which may be missing. Raises ConfigMissing, ConfigUnreadable, ConfigBroken, UnknownSetting,
    WrongSetting and NoHome.
    """
    path, must_exist = _config_path(environment, config)
    table = TomlTable(parse_toml(_text(path, must_exist=must_exist), str(path)), source=str(path))
    variables = TomlTable(_variables(environment), source="the environment")
    limits, app_table = table.table("limits"), table.table("app")
    walls = read_walls(limits)
    decided = _decided(table, limits, path.parent)
    prices = {name: _price(price) for name, price in table.table("prices").tables().items()}
    decided |= _decided(variables, variables, Path.cwd(), lambda key: PREFIX + key.upper())
    app = read_app(
        ((app_table, path.parent, str), (variables, Path.cwd(), lambda key: f"{PREFIX}APP_{key.upper()}")),
        path.parent,
        environment,
    )
    ours = (app.webhook_secret_variable,)
    outside = read_outside(table.table("program"), table.table("install"), environment, ours=ours)
    variables.text(PREFIX + "CONFIG")
    variables.text(app.webhook_secret_variable)  # it may have a name like ours
    for source in (limits, app_table, table, variables):
        source.close()
    settings = _settings(decided | {"app": app, "outside": outside, "walls": walls}, prices, environment)
    _refuse_file(settings.home)
    return replace(settings, outside=replace(outside, closed=_closed(settings, path, environment)))


def _refuse_file(home: Path) -> None:
    """Told before anything is begun; what else there can be wrong with a folder shows when it is used."""
    there = next(place for place in (home, *home.parents) if os.path.lexists(place))
    if not os.path.isdir(there):  # which raises nothing, whatever may not be looked at
        raise NoHome(home=one_line(str(home)), file=one_line(str(there)))


def _closed(settings: Settings, config: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Where the operator's own things are."""
    files = (settings.app.credentials, settings.app.key, settings.app.webhook_secrets)
    home = Path(environment.get("HOME") or Path.home())
    return (home, settings.home, settings.database, config, *filter(None, files))


def _decided(
    table: TomlTable, limits: TomlTable, base: Path, name: Callable[[str], str] = lambda key: key
) -> dict[str, Any]:
    """What one source decides, by field; paths are relative to `base`."""
    values: dict[str, Any] = {
        **{key: _path(table.text(name(key)), base) for key in ("home", "database")},
        **{key: table.text(name(key)) for key in ("installation", "model", "model_url", "model_key_variable")},
        **{key: limits.whole(name(key), 1, _COUNT_AT_MOST) for key in ("calls", "tokens")},
        "money": limits.number(name("money"), 0, _MONEY_AT_MOST),
        "minutes": limits.number(name("minutes"), 0, _MINUTES_AT_MOST),
        "candidate_runs": limits.whole(name("candidate_runs"), 1, _COUNT_AT_MOST),
        "attempts": table.whole(name("attempts"), 1, ATTEMPTS_AT_MOST),
        "engine_url": _engine_url(table, name("engine_url")),
        "workers": table.whole(name("workers"), 1, WORKERS_AT_MOST),
        "transcript_days": table.whole(name("transcript_days"), 1, _DAYS_AT_MOST),
        "sandbox": table.choice(name("sandbox"), (_AUTO, *Level)),
        "agent": _agent(table, name("agent")),
    }
    return {key: value for key, value in values.items() if value is not None}


def _engine_url(table: TomlTable, key: str) -> str | None:
    url = table.text(key)
    if url and not url.startswith(_ENGINES):
        raise table.refusal(key, "an address that begins with " + " or ".join(_ENGINES), "another text")
    return url


def _settings(decided: dict[str, Any], prices: Mapping[str, Price], environment: Mapping[str, str]) -> Settings:
    limits = {key: decided.pop(key) for key in ("calls", "tokens", "money", "minutes") if key in decided}
    key_variable = decided.pop("model_key_variable", "")
    sandbox = decided.pop("sandbox", _AUTO)
    home = decided.pop("home", None) or _xdg(environment, "XDG_STATE_HOME", ".local/state") / "ticketsmith"
    return Settings(
        home=home,
        database=decided.pop("database", home / "ticketsmith.sqlite"),
        model_key=environment.get(key_variable, ""),
        model_key_variable=key_variable,
        limits=Limits(**limits),
        sandbox=None if sandbox == _AUTO else Level(sandbox),
        prices=prices,
        hidden=hidden_values(environment),
        **decided,
    )


def _price(table: TomlTable) -> Price:
    found = {key: table.number(key, 0, _MONEY_AT_MOST) for key in ("input", "output")}
    for key, value in found.items():
        if value is None:
            raise table.refusal(key, "a price in US dollars for a million tokens")
    table.close()
    return Price(input=found["input"] or 0.0, output=found["output"] or 0.0)


def _agent(table: TomlTable, key: str) -> tuple[str, ...] | None:
    """The command of a program; an empty one for the built-in loop."""
    wanted = f'"{LOOP}" or the command of a program, a list of texts'
    match table.any(key):
        case None:
            return None
        case str() as text:
            try:
                words = shlex.split(text)
            except ValueError as error:
                raise table.refusal(key, wanted) from error
        case _:
            words = list(table.texts(key) or ())
    if not words or not words[0]:
        raise table.refusal(key, wanted)
    return () if words == [LOOP] else tuple(words)


def _variables(environment: Mapping[str, str]) -> dict[str, object]:
    """Our variables, an empty one left out, with numbers where a number is meant."""
    ours = {key: value for key, value in environment.items() if key.startswith(PREFIX) and value}
    return {key: _number(value) if key[len(PREFIX) :].lower() in _NUMBERS else value for key, value in ours.items()}


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _config_path(environment: Mapping[str, str], config: Path | None) -> tuple[Path, bool]:
    """Where the file is, and whether somebody named it."""
    if named := config or environment.get(PREFIX + "CONFIG"):
        return Path(named).expanduser().absolute(), True
    return _xdg(environment, "XDG_CONFIG_HOME", ".config") / "ticketsmith" / "ticketsmith.toml", False


def _xdg(environment: Mapping[str, str], variable: str, below_home: str) -> Path:
    # The XDG specification: a relative path in these variables is invalid and ignored.
    named = Path(environment.get(variable) or "")
    return named if named.is_absolute() else Path(environment.get("HOME") or Path.home()) / below_home


def _path(text: str | None, base: Path) -> Path | None:
    return (base / Path(text).expanduser()).absolute() if text else None


def _text(path: Path, *, must_exist: bool) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError as error:
        if must_exist:
            raise ConfigMissing(path=one_line(str(path))) from error
        return ""
    except UnicodeDecodeError as error:
        raise ConfigUnreadable(source=path, reason=f"byte {error.start} is not UTF-8") from error
    except OSError as error:
        raise ConfigUnreadable(source=path, reason=error.strerror or "unknown error") from error


def hidden_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Values of key variables, and passwords in URLs. A path to a key is not the key."""
    found = {value for key, value in environment.items() if _KEY_VARIABLE.search(key) and not _is_path(value)}
    found |= {password for value in environment.values() for password in _PASSWORD_IN_URL.findall(value)}
    return tuple(sorted(value for value in found if len(value) >= _SECRET_AT_LEAST))


def _is_path(value: str) -> bool:
    # A key in base64 may begin with a slash, and then what follows is no folder of this machine.
    return value.startswith(("~/", "./", "../")) or (
        value.startswith("/") and Path("/", value.lstrip("/").partition("/")[0]).exists()
    )
