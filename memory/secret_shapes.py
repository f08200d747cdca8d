"""What secrets look like. Every pattern is linear: bounded, or unable to start again inside what it has read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Final

# A token begins where a word does, or behind an escape that was written out, or behind a colour of a terminal.
_EDGE = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=[0-9\[]m)|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})"
    r"|(?<=%[0-9A-Fa-f]{2}))"
)

# How tokens begin, as the issuers document it, and the shortest tail in use. Each begins with one certain character:
# so `re` leaps over all others.
_TOKENS: Final = (
    (r"gh[pousr]_", r"[A-Za-z0-9_.\-]{20,}"),  # GitHub; app tokens may carry dots
    (r"github_pat_", r"[A-Za-z0-9_]{22,}"),
    (r"gl[a-z]{1,6}-", r"[A-Za-z0-9_\-]{20,}"),
    (r"npm_", r"[A-Za-z0-9]{30,}"),
    (r"pypi-", r"[A-Za-z0-9_\-]{50,}"),
    (r"rubygems_", r"[0-9a-f]{40,}"),
    (r"dckr_pat_", r"[A-Za-z0-9_\-]{20,}"),
    *((rf"{kind}_(?:live|test)_", r"[A-Za-z0-9]{16,}") for kind in ("sk", "rk", "pk")),
    (r"whsec_", r"[A-Za-z0-9+/=]{20,}"),
    (r"xox[a-z]-", r"[A-Za-z0-9\-]{10,}"),
    (r"xapp-", r"[A-Za-z0-9\-]{20,}"),
    (r"hf_", r"[A-Za-z0-9]{30,}"),
    (r"pplx-", r"[A-Za-z0-9]{40,}"),
    (r"nvapi-", r"[A-Za-z0-9_\-]{40,}"),
    (r"tgp_v1_", r"[A-Za-z0-9_\-]{30,}"),
    (r"csk-", r"[A-Za-z0-9]{40,}"),
    (r"fw_", r"[A-Za-z0-9]{20,24}(?![A-Za-z0-9_])"),
    (r"ABSK", r"[A-Za-z0-9+/=]{100,}"),
    (r"AQ\.A", r"[A-Za-z0-9_\-]{40,}"),
    (r"gsk_", r"[A-Za-z0-9]{40,}"),
    (r"xai-", r"[A-Za-z0-9]{40,}"),
    (r"r8_", r"[A-Za-z0-9]{30,}"),
    (r"AIza", r"[A-Za-z0-9_\-]{35}"),
    (r"ya29\.", r"[A-Za-z0-9_\-]{20,}"),
    (r"GOCSPX-", r"[A-Za-z0-9_\-]{20,}"),
    (r"dapi", r"[0-9a-f]{32}"),
    (r"do[opr]_v1_", r"[0-9a-f]{40,}"),
    (r"shp(?:at|ca|pa|ss)_", r"[0-9a-fA-F]{32}"),
    (r"lin_api_", r"[A-Za-z0-9]{30,}"),
    (r"hv[sbr]\.", r"[A-Za-z0-9_\-]{20,}"),
    (r"dp\.(?:pt|st|ct)\.", r"[A-Za-z0-9]{30,}"),
    (r"ATATT3", r"[A-Za-z0-9_\-=]{30,}"),
    (r"sntry[su]_", r"[A-Za-z0-9+/=_\-]{30,}"),
    (r"AKC", r"[a-zA-Z0-9]{60,}"),
    (r"AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),
    *((begin, r"[0-9A-Z]{16}") for begin in ("A3T[A-Z0-9]", "ABIA", "ACCA", "AKIA", "ASIA")),
)
_FIRST: Final = "".join(sorted({begin[0] for begin, _ in _TOKENS}))
# What is cheap to ask stands before the edge, which is not.
TOKENS: Final = re.compile(f"(?=[{_FIRST}]){_EDGE}(?:{'|'.join(begin + rest for begin, rest in _TOKENS)})")
_BEGINNINGS: Final = re.compile("|".join((*(begin for begin, _ in _TOKENS), "eyJ", "sk-")))
JWT: Final = re.compile(r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*)?")
MODEL_KEY: Final = re.compile(rf"(?=sk-){_EDGE}sk-[A-Za-z0-9_\-]{{20,}}")
AUTH_TOKEN: Final = re.compile(r"(?<=_authToken=)[^\s\"']{8,}")
URL_PASSWORD: Final = re.compile(r"(?<=://)([^\s/:@\"'<>]{0,64}):([^\s/@\"'<>]{1,200})(?=@)")
AUTHORIZATION: Final = re.compile(r"(?i)(?<![a-z])(bearer|basic)[ \t]{1,4}([a-z0-9+/=_.~\-]{16,})")
# Behind `h1:` stands the hash of a Go module, behind `;base64,` an image.
LONG_RUN: Final = re.compile(r"(?<![A-Za-z0-9+/=_\-])(?<!\bh1:)(?<!;base64,)[A-Za-z0-9+/=_\-]{32,}")

_WORD = (
    r"pass(?:word|wd|phrase)|pwd|secret|token|credentials?"
    r"|(?:api|access|private|secret|auth|account|encryption|signing|master)[_\- ]?key"
)
ASSIGNED: Final = re.compile(
    rf"(?i)(?=[acempst])(?:{_WORD})[a-z0-9_\-]{{0,20}}+(?:\\?[\"'])?\]?"
    r"(?:[ \t]{0,4}(?::=|=>|={1,3}|:(?!:))[ \t]{0,4}|(?<=--password)[ \t]|(?<=--token)[ \t]|(?<=--api-key)[ \t])"
    r"(?:(?P<quote>\\?[\"'])(?P<quoted>[^\s\"'\\]{8,200})"
    r"|(?P<bare>[^\s\"'`,;:=<>(){}\[\]|\\&][^\s\"'`,;<>(){}\[\]|\\&]{7,200})(?P<next>[(\[])?)"
)
# Hashes of packages in lock files, with the length that each has.
_INTEGRITY: Final = re.compile(
    r"sha1-[A-Za-z0-9+/]{27}=|sha256-[A-Za-z0-9+/]{43}=|sha384-[A-Za-z0-9+/]{64}|sha512-[A-Za-z0-9+/]{86}=="
)
_NUMBERS_AT_LEAST: Final = 3
_KINDS: Final = str.maketrans(
    {
        **dict.fromkeys("0123456789", "0"),
        **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", "a"),
        **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "A"),
        **dict.fromkeys("+/=_-", "-"),
    }
)
_OF_ONE_KIND: Final = re.compile(r"a+|A+|0+|-+")
_NUMBER: Final = re.compile(r"0+")
_PART_AT_LEAST: Final = 20  # characters
_PART_AT_MOST: Final = 256  # and the slash before it; file systems take no longer names
_PART_BEGUN: Final = re.compile(r"/[\w.\-]*\.$")
_NAME = re.compile(r"[A-Za-z_$]+\d?(?:[./\-][A-Za-z_]+\d?)*")
_SNAKE_PART = re.compile(r"(?:[A-Za-z$]{1,40}(?:\d{1,3}[A-Za-z]{1,20}){0,2}\d{0,3}|\d{1,2}[A-Za-z]{1,3})?")
_CAMEL = re.compile(r"[A-Z][A-Za-z]*[a-z]\d{0,5}(?:[A-Z][a-z]{2,})+")
_PLACE = re.compile(r"(?i)(?:~|\.{0,2})/[^\s]{0,190}\.[a-z]{1,5}|urn:[^\s]+|https?://[^\s@]+|x-[a-z\-]+")
_PLACEHOLDER = re.compile(r"(?i)(?:\$|%|#|your|example|change|dummy|x{4,}|\*{3,}|\.{3,})")
_PASSWORD_WORD = re.compile(r"(?i)(?:my|your|the|some)?_?(?:password|passwd|pass|pwd|token)|\*+|x{3,}")


def tokens_in(text: str) -> Iterator[tuple[int, int]]:
    """From where to where tokens stand that can be told by their own shape, whatever is around them."""
    if not _BEGINNINGS.search(text):  # which is cheaper than each of these
        return
    for pattern in (TOKENS, JWT):
        yield from (found.span() for found in pattern.finditer(text))
    yield from (found.span() for found in MODEL_KEY.finditer(text) if has_mixture(found[0]))


def is_quoted_secret(value: str) -> bool:
    """True when a quoted text that a secret's name was given is more than a word, a name, a place or a placeholder."""
    if not any(map(str.isalpha, value)) or value.isalpha() or _PLACEHOLDER.match(value):
        return False
    return not _is_snake(value) and not _PLACE.fullmatch(value)


def is_bare_secret(value: str) -> bool:
    """True when what a secret's name was given without quotes looks like a value, not like code or a placeholder."""
    if not has_mixture(value) or _PLACEHOLDER.match(value):
        return False
    last = value.rpartition(".")[2] if "_" in value else value
    return not any(shape.fullmatch(value) for shape in (_NAME, _CAMEL)) and not _is_snake(last)


def _is_snake(value: str) -> bool:
    """True for words joined by underscores, with few digits: a name in code."""
    parts = value.split("_")
    return len(parts) > 1 and all(map(_SNAKE_PART.fullmatch, parts))


def is_url_password(value: str) -> bool:
    """True when what stands before the `@` of a URL is more than a word for a password."""
    return not _PASSWORD_WORD.fullmatch(value)


def goes_on_in_path(text: str, start: int) -> bool:
    """True when what starts there goes on with a part of a path after a dot, as in `/tmp/tmp.Xy1…/runs/…`."""
    return _PART_BEGUN.search(text[max(0, start - _PART_AT_MOST) : start]) is not None


def is_random(run: str, *, in_path: bool = False) -> bool:
    """True for long runs that change between capitals, small letters and digits as only random ones do.

    Hex digits of one case, such as hashes of commits, are not among them. Of a path, each part stands for itself.
    """
    if _INTEGRITY.fullmatch(run):
        return False
    if in_path or run.startswith("/"):
        return any(len(part) >= _PART_AT_LEAST and is_random(part) for part in run.split("/"))
    kinds = run.translate(_KINDS)
    changes = len(_OF_ONE_KIND.findall(kinds)) - 1
    numbers = len(_NUMBER.findall(kinds)) - kinds.startswith("0")
    return "a" in kinds and "A" in kinds and numbers >= _NUMBERS_AT_LEAST and changes * 5 >= len(run) * 2


def has_mixture(key: str) -> bool:
    """True when digits stand among letters, as in a key and not in a name."""
    return any(map(str.isdigit, key)) and any(map(str.isalpha, key))


# Some of those below look for a name that is given a long value, or a quoted one, and take ten times as long where
# there is none.
_GIVEN: Final = re.compile(
    r"(?i)(?:key|pwd?|password|pass|token)[\"']?\]?[ \x00]{0,8}[:= \x00][:=>]{0,2}[ \x00]{0,8}[\"']?[a-z0-9_\-]{24}"
)
_QUOTED: Final = re.compile(r"[\"'][0-9a-zA-Z/+]{40}[\"']")


def issuers_in(text: str) -> tuple[re.Pattern[str], ...]:
    """The patterns of single issuers that may find something in `text`."""
    return _issuers_where(given=_GIVEN.search(text) is not None, quoted=_QUOTED.search(text) is not None)


@cache
def _issuers_where(*, given: bool, quoted: bool) -> tuple[re.Pattern[str], ...]:
    return tuple(
        pattern
        for pattern in issuers()
        if (given or "(?:=|:|:=|=>| +|::)" not in pattern.pattern) and (quoted or not pattern.pattern.startswith("aws"))
    )


@cache
def issuers() -> tuple[re.Pattern[str], ...]:
    """The patterns of detect-secrets for single issuers.

    Imported at the first use, because it brings requests with it. Left out: those that guess by entropy or by a
    variable's name, and those that take quadratic time, for which there are patterns above.
    """
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
    from detect_secrets.plugins.cloudant import CloudantDetector
    from detect_secrets.plugins.discord import DiscordBotTokenDetector
    from detect_secrets.plugins.github_token import GitHubTokenDetector
    from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
    from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
    from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
    from detect_secrets.plugins.mailchimp import MailchimpDetector
    from detect_secrets.plugins.pypi_token import PypiTokenDetector
    from detect_secrets.plugins.sendgrid import SendGridDetector
    from detect_secrets.plugins.slack import SlackDetector
    from detect_secrets.plugins.softlayer import SoftlayerDetector
    from detect_secrets.plugins.square_oauth import SquareOAuthDetector
    from detect_secrets.plugins.stripe import StripeDetector
    from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
    from detect_secrets.plugins.twilio import TwilioKeyDetector

    detectors = (
        AWSKeyDetector,
        AzureStorageKeyDetector,
        CloudantDetector,
        DiscordBotTokenDetector,
        GitHubTokenDetector,
        GitLabTokenDetector,
        IbmCloudIamDetector,
        IbmCosHmacDetector,
        MailchimpDetector,
        PypiTokenDetector,
        SendGridDetector,
        SlackDetector,
        SoftlayerDetector,
        SquareOAuthDetector,
        StripeDetector,
        TelegramBotTokenDetector,
        TwilioKeyDetector,
    )
    return tuple(chain.from_iterable(detector.denylist for detector in detectors))
