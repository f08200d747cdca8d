"""Text → words: the same code for notes and for queries, so that both always mean the same word."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

WORDS_FORMAT: Final = "w1"
"""Changes when a text gives other words than before: an index made of the old ones is made anew."""

_LONGEST_WORD = 64  # characters; the rest of a longer run of letters tells nothing
_LONGEST_TOKEN = 4 * _LONGEST_WORD
# Written without spaces: Chinese, Japanese, Korean, and Thai, Lao, Burmese, Khmer.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U000323af"
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_TOKEN = re.compile(r"\w+(?:(?:::|[.\-/\\'’])\w+)*(?:\+\+|#(?!\w))?")
_JOINTS = re.compile(r"::|[.\-_]")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBERED = re.compile(r"([^\W\d_]{3,})\d{1,2}")
_NOISE = re.compile(
    r"\d{1,2}|\d{9,}"  # counts, and numbers that name one thing
    r"|0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{8,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # addresses, hashes, UUIDs
    r"|\d{2,4}-\d{1,2}-\d{1,4}(t\d+)?|\d{1,3}(\.\d{1,3}){3}"  # dates, network addresses
)

_FUNCTION_WORDS = """
a an the and or but nor so if then than that this these those there here it its he she his her we our you your i me
my they them their who whom whose which what when where why how is are was were be been being am do does did doing
done have has had having can could will would shall should may might must cannot cant dont doesnt didnt isnt arent
wasnt wont wouldnt not no yes of to in on at by for from with without into onto out up down off over under about as
while during before after again once also just only very too more most some any all each both such same other
another own per via let us
"""


def words(text: str) -> list[str]:
    """Every word of `text` in its order, repeats kept.

    Identifiers, dotted names and error codes come whole and in their parts, paths as base name and parts, scripts
    without spaces as overlapping pairs of characters. Numbers that name nothing, hashes, dates and addresses are left
    out. A word never holds white space or a quotation mark.
    """
    return [word for token in _tokens(text) for names in _names(token) for word in names]


def parts(text: str) -> list[str]:
    """As `words`, but without the whole of an identifier that has parts."""
    found: list[str] = []
    for token in _tokens(text):
        for names in _names(token):
            found.extend(names[1:] if len(names) > 2 else names)
    return found


def distinct(found: Iterable[str], at_most: int | None = None) -> tuple[str, ...]:
    """The first `at_most` different words in their order."""
    return tuple(dict.fromkeys(found))[:at_most]


def written(found: Iterable[str], text: str) -> Mapping[str, str]:
    """`found` words as `text` has them first, for people: `files` for `fil`; one that it does not have as it is."""
    forms = dict.fromkeys(found, "")
    missing = len(forms)
    for token in _tokens(text):
        for word, form in _forms(token) if missing else ():
            if forms.get(word) == "":
                forms[word] = form
                missing -= 1
    return {word: form or word for word, form in forms.items()}


def _tokens(text: str) -> list[str]:
    if not text.isascii():
        text = _UNSPACED_RUN.sub(r" \g<0> ", unicodedata.normalize("NFKC", text))
    return [token[:_LONGEST_TOKEN] for token in _TOKEN.findall(text)]


@lru_cache(maxsize=1 << 16)
def _names(token: str) -> tuple[tuple[str, ...], ...]:
    """The words of each name in a token; of a name with parts the whole comes first."""
    if _UNSPACED_RUN.match(token):
        return tuple((token[at : at + 2],) for at in range(max(1, len(token) - 1)))
    token = token.replace("'", "").replace("’", "")
    if "/" in token or "\\" in token:
        return tuple(_of_name(part) for part in re.split(r"[/\\]", token))
    return (_of_name(token),)


@lru_cache(maxsize=1 << 14)
def _forms(token: str) -> tuple[tuple[str, str], ...]:
    """Each word of a token with its form there, the whole before its parts."""
    names = re.split(r"[/\\]", token.replace("'", "").replace("’", ""))
    parts = [hump for name in names for part in _JOINTS.split(name) for hump in _HUMPS.split(part)]
    plain = [_plain(part.strip("_")) for part in (*names, *parts)]
    plain += [numbered[1] for part in plain if (numbered := _NUMBERED.fullmatch(part))]
    return tuple((word, part) for part in plain for word in (part, stem(part)))


def _of_name(name: str) -> tuple[str, ...]:
    if _NOISE.fullmatch(name.lower()):
        return ()
    parts = [hump for part in _JOINTS.split(name) for hump in _HUMPS.split(part)]
    if len(parts) > 1:
        whole = _plain(name.strip("_"))
        parts = [part for part in map(_plain, parts) if part and not _NOISE.fullmatch(part)]
        return tuple(dict.fromkeys((whole, *map(stem, parts)))) if whole else ()
    word = _plain(name)
    numbered = _NUMBERED.fullmatch(word)
    if numbered:
        return stem(word), stem(numbered[1])
    return (stem(word),) if word else ()


def _plain(word: str) -> str:
    word = word[:_LONGEST_WORD].casefold()
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFKD", word)
    return "".join(c for c in apart if not unicodedata.combining(c) and not c.isspace())


def stem(word: str) -> str:
    """A plain English word without its plural, `-ed` or `-ing`; every other word as it is."""
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "ches", "shes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and re.search("[aeiouy]", word[: -len(ending)]):
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


FUNCTION_WORDS: Final = frozenset(stem(word) for word in _FUNCTION_WORDS.split())
"""English words that say nothing about the topic, as `words` gives them."""
