"""Paths that only people change, and paths that a change of which people should see first."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

from stages.paths import PATH_AT_MOST_BYTES

# Patterns for the folded path, and for each end of it that begins after a `/`; `*` also goes over `/`.
PROTECTED: Final = (
    # Who may do what, and what runs with whose rights.
    "codeowners",
    "jenkinsfile*",
    "azure-pipelines*.y*ml",
    "appveyor.y*ml",
    "bitbucket-pipelines.y*ml",
    "cloudbuild.y*ml",
    "buildspec.y*ml",
    "ticketsmith.toml",
    # What tells agents what to do.
    "agents.md",
    "agents.override.md",
    "agent.md",
    "claude.md",
    "claude.local.md",
    "gemini.md",
    "copilot-instructions.md",
    "warp.md",
    "skill.md",
    "mcp.json",
    # What was resolved, with its hashes.
    "*.lock",
    "*.lockb",
    "*.lockfile",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.y*ml",
    "packages.lock.json",
    "package.resolved",
    "go.sum",
    "go.work.sum",
    "conda-lock.y*ml",
    "verification-metadata.xml",
)
# A name that begins with a dot configures a tool that acts on its own; these only say what is left out or how it looks.
_HARMLESS_DOTS: Final = frozenset(
    {
        ".gitignore",
        ".gitkeep",
        ".keep",
        ".dockerignore",
        ".editorconfig",
        ".npmignore",
        ".eslintignore",
        ".prettierignore",
    }
)
# Allowed, and shown first: code that runs when something is built, installed, tested or started.
ENTRY_POINTS: Final = (
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
    "setup.py",
    "setup.cfg",
    "pyproject.toml",
    "requirements*.txt",
    "requirements*.in",
    "pipfile",
    "noxfile.py",
    "tox.ini",
    "makefile",
    "gnumakefile",
    "*.mk",
    "justfile",
    "taskfile.y*ml",
    "dockerfile*",
    "docker-compose*.y*ml",
    "compose*.y*ml",
    "package.json",
    "go.mod",
    "cargo.toml",
    "build.rs",
    "cmakelists.txt",
    "pom.xml",
    "build.gradle*",
    "settings.gradle*",
    "gradlew*",
    "gemfile",
    "rakefile",
    "*.gemspec",
    "composer.json",
    "*.sh",
)
_UNSEEN: Final = frozenset(("Cc", "Cf", "Cs", "Cn", "Co"))
_IGNORED: Final = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0]")


def folded(path: str) -> str:
    """The path as the most forgiving file system and reader would take it: one case, one form, nothing unseen."""
    text = _IGNORED.sub("", unicodedata.normalize("NFKC", path)).replace("\\", "/")
    seen = "".join(character for character in text if unicodedata.category(character) not in _UNSEEN)
    parts = (part.partition(":")[0].strip().rstrip(".") or part for part in seen.casefold().split("/"))
    return "/".join(part for part in parts if part)


def is_protected(path: str, more: Iterable[str] = ()) -> bool:
    """True for a path that only people change, or that is too long to be compared; `more` are patterns that maintainers
    added."""
    if len(path) > PATH_AT_MOST_BYTES:
        return True
    name = folded(path)
    dotted = any(part.startswith(".") and part not in _HARMLESS_DOTS for part in name.split("/"))
    return dotted or _matches(name, PROTECTED) or _matches(name, (folded(pattern) for pattern in more))


def is_entry_point(path: str) -> bool:
    """True for a path whose code runs when something is built, installed, tested or started."""
    return len(path) > PATH_AT_MOST_BYTES or _matches(folded(path), ENTRY_POINTS)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    ends = [name, *(name[at + 1 :] for at, character in enumerate(name) if character == "/")]
    return any(
        fnmatchcase(end, one) for pattern in patterns for one in (pattern, f"{pattern.rstrip('/')}/*") for end in ends
    )
