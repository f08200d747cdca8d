"""Toolchains of other languages on this machine: where their programs are, and what they need to be readable."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final, assert_never

from stages.report import Check, CheckKind

_SYSTEM: Final = Path("/usr")  # every command sees it
_OF_A_PREFIX: Final = ("bin", "lib", "lib64", "libexec", "include", "share", "conf", "boot", "etc")
_OPTIONS_OF_JAVA: Final = ("MAVEN_OPTS", "GRADLE_OPTS")  # mavenLocal() of Gradle is the same repository
_FOLDERS_OF_DEBIAN: Final = ("java-*-openjdk", "maven", "gradle", "ant")


class Language(StrEnum):
    """A toolchain, by the name that settings have for it."""

    NODE = "node"
    GO = "go"
    RUST = "rust"
    JAVA = "java"


_LANGUAGE_OF: Final = {
    **dict.fromkeys(("node", "npm", "npx", "pnpm", "yarn", "vitest", "jest", "mocha"), Language.NODE),
    **dict.fromkeys(("go", "gotestsum"), Language.GO),
    **dict.fromkeys(("cargo", "rustc"), Language.RUST),
    **dict.fromkeys(("java", "mvn", "mvnw", "gradle", "gradlew"), Language.JAVA),
}
_OF_A_KIND: Final = {CheckKind.JEST: Language.NODE, CheckKind.GO: Language.GO, CheckKind.CARGO: Language.RUST}


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    """What a command needs to use a toolchain: folders for PATH, further paths to read, and variables."""

    path: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Toolchains:
    """The toolchains that are found along `path`, by default this process's PATH; their caches lie below `home`, or
    below `caches` where that is another folder.

    Nothing is ever downloaded: what a build depends on must be in those caches, or in the checkout.
    """

    path: str | None = None
    home: Path = Path("/nonexistent")
    caches: Path | None = None

    def has(self, program: str) -> bool:
        """True when a program of this name is on this machine."""
        return shutil.which(program, path=self.path) is not None

    def of(self, check: Check) -> Toolchain | None:
        """What a check's command needs; None when its toolchain is not on this machine."""
        language = language_of(check)
        return Toolchain() if language is None else self._known[language]

    def of_program(self, program: str) -> Toolchain | None:
        """What a program needs; None when it belongs to no toolchain, or to one that is not on this machine."""
        language = _LANGUAGE_OF.get(program)
        return None if language is None else self._known[language]

    @property
    def _downloads(self) -> Path:
        return self.caches or self.home

    @cached_property
    def _known(self) -> dict[Language, Toolchain | None]:
        return {language: self._find(language) for language in Language}

    def _find(self, language: Language) -> Toolchain | None:
        match language:
            case Language.NODE:
                return self._plain("node", {"npm_config_offline": "true", "npm_config_update_notifier": "false"})
            case Language.GO:
                return self._go()
            case Language.RUST:
                return self._rust()
            case Language.JAVA:
                return self._java()
        assert_never(language)

    def _plain(self, program: str, environment: Mapping[str, str]) -> Toolchain | None:
        found = shutil.which(program, path=self.path)
        if found is None:
            return None
        prefix = Path(found).resolve().parent.parent
        return Toolchain(
            path=(prefix / "bin",) if _outside(prefix) else (Path(found).parent,),
            readable=tuple(_parts(prefix)),
            environment=environment,
        )

    def _go(self) -> Toolchain | None:
        downloads = self._downloads / "go" / "pkg" / "mod" / "cache" / "download"
        # Modules are unpacked anew inside, from what was downloaded: the cache itself cannot be written there.
        proxy = f"file://{downloads}" if downloads.is_dir() else "off"
        environment = {"GOPROXY": proxy, "GOSUMDB": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw"}
        found = shutil.which("go", path=self.path)
        if found is None:
            return None
        root = Path(found).resolve().parent.parent
        readable = [*([root] if _outside(root) else ()), *([downloads] if downloads.is_dir() else ())]
        return Toolchain(path=(root / "bin",), readable=tuple(readable), environment=environment)

    def _rust(self) -> Toolchain | None:
        found = shutil.which("cargo", path=self.path)
        if found is None:
            return None
        prefix = Path(found).resolve().parent.parent
        if Path(found).resolve().name == "rustup":
            chosen = _rustup_default(self.home / ".rustup")
            if chosen is None:
                return None
            prefix = chosen
        environment = {"CARGO_NET_OFFLINE": "true", "CARGO_TERM_COLOR": "never"}
        caches = [folder for name in ("registry", "git") if (folder := self._downloads / ".cargo" / name).is_dir()]
        if caches:
            environment["CARGO_HOME"] = str(self._downloads / ".cargo")
        return Toolchain(path=(prefix / "bin",), readable=(*_parts(prefix), *caches), environment=environment)

    def _java(self) -> Toolchain | None:
        java = self._plain("java", {})
        if java is None:
            return None
        tools = [found for name in ("mvn", "gradle") if (found := self._plain(name, {}))]
        repository = self._downloads / ".m2" / "repository"
        settings = [folder for name in _FOLDERS_OF_DEBIAN for folder in Path("/etc").glob(name)]
        caches = [repository] if repository.is_dir() else []
        return Toolchain(
            path=tuple(dict.fromkeys(folder for one in (java, *tools) for folder in one.path)),
            readable=(*(path for one in (java, *tools) for path in one.readable), *settings, *caches),
            environment=dict.fromkeys(_OPTIONS_OF_JAVA, f"-Dmaven.repo.local={repository}") if caches else {},
        )


def language_of(check: Check) -> Language | None:
    """The toolchain of a check's command, by its kind or by its program's name."""
    if check.kind is CheckKind.PYTEST or not check.arguments:
        return None
    program = PurePosixPath(check.arguments[0])
    if program.parent.name == ".bin":  # of node_modules
        return Language.NODE
    return _OF_A_KIND.get(check.kind) or _LANGUAGE_OF.get(program.name)


def _outside(prefix: Path) -> bool:
    return not prefix.is_relative_to(_SYSTEM)


def _parts(prefix: Path) -> Iterator[Path]:
    """The parts of an installation: not all of its prefix, which may be somebody's home."""
    if _outside(prefix):
        yield from (part for name in _OF_A_PREFIX if (part := prefix / name).exists())


def _rustup_default(home: Path) -> Path | None:
    try:
        chosen = tomllib.loads((home / "settings.toml").read_text("utf-8")).get("default_toolchain")
    except (OSError, ValueError):
        return None
    if not isinstance(chosen, str) or not re.fullmatch(r"[A-Za-z0-9._-]+", chosen):
        return None
    toolchain = home / "toolchains" / chosen
    return toolchain if toolchain.is_dir() else None
