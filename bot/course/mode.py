"""How far a patch goes: the mode that the operator chose, and what raises it; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from bot.app_settings import PublishMode

# What CI runs without anybody having read it: a push by an App starts workflows. GitHub's own folder is protected
# already (`stages.policy`). Sources: pytest's, setuptools', nox's, tox's, npm's and make's own documentation.
_ENTRY_POINTS: Final = re.compile(
    r"(?:^|/)(?:conftest\.py|setup\.py|setup\.cfg|noxfile\.py|tox\.ini|pyproject\.toml|sitecustomize\.py|tasks\.py"
    r"|package\.json|\.npmrc|\.yarnrc(?:\.yml)?|\.?gruntfile\.[cm]?js|gulpfile\.[cm]?[jt]s|[^/]+\.config\.[cm]?[jt]s"
    r"|(?:gnu)?makefile|[^/]+\.mk|cmakelists\.txt|rakefile|gemfile|build\.rs|build\.gradle(?:\.kts)?|pom\.xml"
    r"|gradlew(?:\.bat)?|mvnw(?:\.cmd)?|dockerfile|justfile|taskfile\.ya?ml|[^/]+\.pth|configure|bootstrap"
    r"|[^/]+\.(?:sh|bash|bat|ps1))$",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Mode:
    """What becomes of a patch; `why` says what raised it over what the operator chose."""

    mode: PublishMode
    why: str = ""

    @property
    def pushes(self) -> bool:
        return self.mode is not PublishMode.PATCH

    @property
    def pulls(self) -> bool:
        return self.mode in (PublishMode.DRAFT, PublishMode.READY)


def mode_for(chosen: PublishMode, paths: Iterable[str], *, private: bool) -> Mode:
    """The mode for a patch of these paths.

    Where anybody can open an issue, nothing is pushed that CI would run before a person has read it; elsewhere such a
    patch is a draft at most.
    """
    entry = sorted(path for path in paths if _ENTRY_POINTS.search(path))
    if not entry or chosen is PublishMode.PATCH:
        return Mode(mode=chosen)
    if not private:
        return Mode(mode=PublishMode.PATCH, why=f"CI runs {entry[0]}, which the patch changes, before anybody reads it")
    if chosen is PublishMode.READY:
        return Mode(mode=PublishMode.DRAFT, why=f"CI runs {entry[0]}, which the patch changes")
    return Mode(mode=chosen)
