"""A message → its template: what stays the same when the same thing fails again with other data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from memory.signature.canon import Canonical, canonical
from memory.signature.words import word_set

MESSAGE_AT_MOST = 600
_WORDS_OF_VAGUE = 4
_WORDS = 3


@dataclass(frozen=True, kw_only=True)
class Template:
    """A message without its data. A generic one says too little to be told apart by words."""

    text: str
    discriminators: tuple[str, ...] = ()
    generic: bool = False
    canonical: str = ""  # name of the canonical form that it took


_NOISE = re.compile(
    r"\s*(?:\.? Did you (?:mean|forget)\b|[\[(]SQL: |\bDETAIL: |\bHINT: |\bCONTEXT: |\bSTATEMENT: "
    r"|\(Background on this error"
    r"|(?: (?:\[\]|\{\})){2}$"
    r"|, called in \S{1,300} on line |\[recovered\]|note: run with `?RUST_BACKTRACE|; visit https?://|\(Session info: "
    r"|\. Perhaps you forgot|\bLINE \d{1,6}: |-- end of )"
)
_PROTECTED = re.compile(
    r"(?i:\b(?:status(?: code)?|http(?: error| status)?|exit(?:ed)?(?: with)?(?: code| status)?"
    r"|errno|winerror|signal|sqlstate|error code|code|argument|position|returned|line length|response|returncode)"
    r"[ :=#(\[]{0,3})(-?\d{1,5})\b(?![.:]\d)"
)
_KEEP, _KEPT = "\ue000", "\ue001"  # private characters: they mark digits that must survive
_DIGITS = "0123456789"
_TO_LETTERS = str.maketrans(_DIGITS, "\ue010\ue011\ue012\ue013\ue014\ue015\ue016\ue017\ue018\ue019")
_TO_DIGITS = str.maketrans("\ue010\ue011\ue012\ue013\ue014\ue015\ue016\ue017\ue018\ue019", _DIGITS)

_QUOTED = re.compile(r"(?<![\w'])'([^'\n]{0,400})'(?!\w)|\"([^\"\n]{0,400})\"|`([^`'\n]{0,400})['`]")
_IDENTIFIER = re.compile(r"[A-Za-z_$@.\[\]<][\w$.:/\[\]()<>*&@#?! -]{0,59}")
_LONG_DIGITS = re.compile(r"\d{4}")
_FILE_NAME = re.compile(
    r"(?i)[\w./\\ -]{1,60}\.(?:csv|tsv|json|jsonl|txt|log|xml|ya?ml|toml|ini|pdf|png|jpe?g|gif|svg|html?|css|zip|gz|tar"
    r"|db|sqlite|xlsx?|docx?|parquet|tmp|bak|dat|bin)"
)
_VALUE_AHEAD = (
    "given key",
    "input string",
    "duplicate entry",
    "user",
    "username",
    "value",
    "path",
    "token",
    "expected",
    "got",
    "actual",
    "was",
    "found",
    "literal",
    "entry",
    "email",
    "password",
    "url",
    "host",
    "address",
    "to float",
    "date",
    "time",
    "string",
    "key (",
    "received",
    "near",
    "id",
    "==",
    "!=",
    "assert",
)
_BASE_AHEAD = re.compile(r"with base \d{1,2}$")
_BETWEEN = (" ", ":", "=", "(")
_BETWEEN_AT_MOST = 3
# One alternation, first match wins: an address before its numbers, a date before its parts.
_DATUM = re.compile(
    r"(?P<url>\b[a-z][a-z0-9+.-]{1,10}://[^\s'\"<>)\]]{1,300})"
    r"|(?P<email>(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,64}(?:\.[\w-]{1,40}){1,4})"
    r"|(?P<uuid>\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b)"
    r"|(?P<date>\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?: ?Z|[+-]\d\d:?\d\d)?)?\b"
    r"|\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?\b)"
    r"|(?P<ip>\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b|\[?\b(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}\b\]?)"
    r"|(?P<obj><[\w.$ :]{1,120} (?:object )?at 0x[0-9a-fA-F]{1,16}>|(?<![\w.$])[\w.$]{1,120}+@[0-9a-f]{5,16}\b)"
    r"|(?P<hex>\b0x[0-9a-fA-F?]{1,16}\b)"
    r"|(?P<hash>\b(?=[0-9a-f]{0,63}\d)(?=[0-9]{0,63}[a-f])[0-9a-f]{7,64}\b"
    r"|\b(?=[A-Za-z]{0,63}\d)(?=[\da-z]{0,63}[A-Z])(?=[\dA-Z]{0,63}[a-z])[A-Za-z\d_-]{16,120}\b)"
    r"|(?P<path>(?<![\w<])(?:[A-Za-z]:\\|~?/|\.{1,2}/)[\w.@+~-]{1,120}(?:[/\\][\w.@+~-]{1,120}){0,30}[/\\]?"
    r"|(?<![\w./])[\w.@+-]{1,80}+(?:/[\w.@+-]{1,80}+){2,30})"
    r"|(?P<dur>\b\d[\d.,]{0,15} ?(?:[mun]s|µs|s|secs?|seconds?|minutes?|min|hours?|hrs?|h|days?|milliseconds?)\b)"
    r"|(?P<size>\b\d[\d.,]{0,15} ?(?:[KMGT]i?B|bytes?|kb|mb|gb|[KMGT])\b)"
    r"|(?P<bool>(?<==)(?:true|false|null|none)\b)"
    r"|(?P<num>(?<![A-Za-z_\d])[-+]?(?:\d{1,3}(?:,\d{3}){1,6}|\d{1,40})(?:\.\d{1,40})?(?:[eE][-+]?\d{1,3})?%?"
    r"(?![A-Za-z_\d]))"
)
_NESTED = 3
_LITERAL = re.compile(r"(?<![\w'\"`)])[\[{][^\[\]{}]{0,400}[\]}]")
_VALUE = re.compile(r"['\"]|, ?-?\d|<val>|: -?\d|^.-?\d[\d.]{0,20}.$|^..$")
_HYPHENATED = re.compile(r"[A-Za-z]-$")
_NUMBERS = re.compile(r"<num>(?:[\s,;:x/()\[\]{}|-]{0,3}<num>)+")
_PLACEHOLDER = re.compile(r"<\w{1,5}>")
_WORD = re.compile(r"[^\W\d_]{2,}")
_INFORMATIVE = re.compile(r"[^\W\d_]{3,}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2,}")


def template(message: str, type_: str = "") -> Template:
    """`message` of an exception of the type `type_` without its data."""
    text = _without_noise(message)
    found = canonical(text, type_)
    if found:
        return _of_canonical(found)
    return Template(text=_masked(text))


def is_specific(found: Template, type_: str) -> bool:
    """Whether type and words alone tell this failure from others."""
    if found.generic:
        return False
    if found.discriminators or found.canonical:
        return True
    bare = _PLACEHOLDER.sub(" ", found.text)
    words = {word.lower() for word in _INFORMATIVE.findall(bare)} - word_set("stop")
    return len(words) >= (_WORDS_OF_VAGUE if not type_ or type_.lower() in word_set("vague_types") else _WORDS)


def is_sentence(found: Template) -> bool:
    """Whether a message says something beside its data."""
    return len(_WORD.findall(_PLACEHOLDER.sub(" ", found.text))) >= _WORDS


def _of_canonical(found: Canonical) -> Template:
    return Template(
        text=found.name,
        discriminators=tuple(_told(part, found) for part in found.discriminators),
        generic=found.generic,
        canonical=found.name,
    )


def _told(part: str, found: Canonical) -> str:
    if found.words:
        return _masked(part)
    return part if found.case else part.lower()


def _without_noise(message: str) -> str:
    text = " ".join(message[: MESSAGE_AT_MOST * 2].split())[:MESSAGE_AT_MOST]
    found = _NOISE.search(text)
    return (text[: found.start()] if found else text).strip()


def _masked(text: str) -> str:
    for _ in range(_NESTED):
        text = _LITERAL.sub(_literal, text)
    text = _PROTECTED.sub(_protect, text)
    text = _QUOTED.sub(lambda found: _quoted(found, text), text)
    text = _DATUM.sub(_datum, text)
    text = _NUMBERS.sub("<num>", text)
    return (text if text.isascii() else text.translate(_TO_DIGITS)).lower().strip(" .:;!-")


def _literal(found: re.Match[str]) -> str:
    # lists, sets and dictionaries of values are data; an index or a list of names is not
    return "<val>" if _VALUE.search(found[0]) else found[0]


def _protect(found: re.Match[str]) -> str:
    return found[0][: found.start(1) - found.start()] + found[1].translate(_TO_LETTERS)


def _quoted(found: re.Match[str], text: str) -> str:
    inside = next((group for group in found.groups() if group is not None), "")
    ahead = text[max(0, found.start() - 24) : found.start()]
    if _FILE_NAME.fullmatch(inside):
        return "<str>"
    if not _IDENTIFIER.fullmatch(inside) or _LONG_DIGITS.search(inside) or _is_value_after(ahead):
        return "<str>"
    if " " in inside.strip() and len(inside.split()) > 4:
        return "<str>"
    return f"'{inside}'"


@lru_cache(maxsize=256)
def _is_value_after(ahead: str) -> bool:
    """Whether what stands ahead of quotes says that a value is in them; in a list it is the same again and again."""
    ahead = ahead.lower()
    for _ in range(_BETWEEN_AT_MOST + 1):
        if ahead.endswith(_VALUE_AHEAD) or _BASE_AHEAD.search(ahead):
            return True
        if not ahead.endswith(_BETWEEN):
            return False
        ahead = ahead[:-1]
    return False


def _datum(found: re.Match[str]) -> str:
    kind = found.lastgroup or "num"
    if (
        kind == "num"
        and len(found[0]) <= 2
        and _HYPHENATED.search(found.string[max(0, found.start() - 2) : found.start()])
    ):
        return found[0]  # utf-8, not minus eight
    return f"<{kind}>"
