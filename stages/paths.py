"""Names that code, git and every reader take for the same path; all others are refused."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NoReturn

from memory.text import one_line
from stages.errors import Refused

NAME_AT_MOST_BYTES: Final = 255
PATH_AT_MOST_BYTES: Final = 1_024
FOLDERS_DEEP_AT_MOST: Final = 64

# Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties, as far as its characters are no format characters.
_IGNORED: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
_UNSEEN: Final = frozenset(("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"))
_SHOWN_AT_MOST: Final = 200  # characters of a path in a refusal
# NTFS and HFS+ read these as .git, and git refuses them (read-cache.c, verify_path).
_GIT_FOLDER: Final = re.compile(r"\.git|git~\d+")


def plain(path: str) -> str:
    """The one spelling of a path relative to a tree: `./a//b/` is `a/b`, and the tree itself is the empty text.

    Raises Refused for a path that leaves the tree or reaches git's own files, and for names that git, a shell or a
    reader would take for something else.
    """
    if path.startswith("/"):
        refuse(path, "must be relative to the tree")
    names = [name for name in path.split("/") if name not in ("", ".")]
    if len(names) > FOLDERS_DEEP_AT_MOST or _size(path) > PATH_AT_MOST_BYTES:
        refuse(path, "is too long")
    if names and names[0].startswith(":"):
        refuse(path, "begins with a colon, which git takes for a pattern")
    for name in names:
        problem = _problem(name)
        if problem:
            refuse(path, problem)
    return "/".join(names)


def usable(name: str) -> bool:
    """True for a name that a path may hold."""
    return name not in ("", ".", "..") and not _problem(name)


def refuse(path: str, problem: str, kind: type[Refused] = Refused) -> NoReturn:
    """Raise Refused with a reason that can be shown whatever the path holds."""
    raise kind(reason=f"{one_line(path)[:_SHOWN_AT_MOST] or 'the path'} {problem}")


def _problem(name: str) -> str:
    if name == "..":
        return "leaves the tree"
    if _names_git(name):
        return "belongs to git"
    if any(unicodedata.category(character) in _UNSEEN for character in name) or _IGNORED.search(name):
        return "holds a character that cannot be seen"
    if name.startswith("-"):
        return "holds a name that begins like an option"
    if "\\" in name:
        return "holds a backslash"
    if name != name.strip():
        return "holds a name with a blank at its end"
    return "holds a name that is too long" if _size(name) > NAME_AT_MOST_BYTES else ""


def _names_git(name: str) -> bool:
    seen = "".join(character for character in name if unicodedata.category(character) not in _UNSEEN)
    folded = unicodedata.normalize("NFKC", _IGNORED.sub("", seen)).casefold()
    # Windows splits at backslashes, reads what follows a colon as a stream, and drops dots and blanks at the end.
    parts = (part.partition(":")[0].rstrip(" .") for part in folded.split("\\"))
    return any(_GIT_FOLDER.fullmatch(part) for part in parts)


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))
