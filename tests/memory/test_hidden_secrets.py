"""Secrets that somebody hid: cut, spaced, reversed, escaped, encoded. What is out of reach is said too."""

from __future__ import annotations

import base64
import codecs
import gzip
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.leak import LeakKind
from memory.scrub import SECRET, Scrubber
from tests.machine import at_most

# Joined here, so that no scanner of this repository takes them for real ones.
TOKEN = "ghs_" + "16C7e42F292c6912E7710c838347Ae178B4a"
PASSWORD = "h7Kd02+mPq9/xY3z&Lw"
WORDS = "correct-horse-battery-staple"
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join(
    base64.b64encode(bytes(range(at, at + 48))).decode() for at in range(0, 192, 48)
) + "\n-----END RSA PRIVATE KEY-----"  # fmt: skip
VALUES = {"token": TOKEN, "password": PASSWORD, "words": WORDS}


def every_escape(template: str) -> Callable[[str], str]:
    return lambda value: "".join(template.format(ord(character)) for character in value)


HIDING: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "spaced": " ".join,
    "one line each": "\n".join,
    "dotted": ".".join,
    "zero width": "\u200b".join,
    "nul": "\0".join,
    "wrapped": lambda value: "\n    ".join(value[at : at + 8] for at in range(0, len(value), 8)),
    "reversed": lambda value: value[::-1],
    "capitals": str.upper,
    "hex": lambda value: value.encode().hex(),
    "hex capitals": lambda value: value.encode().hex().upper(),
    "hex spaced": lambda value: value.encode().hex(" "),
    "hex colons": lambda value: value.encode().hex(":"),
    "hex escapes": every_escape("\\x{:02x}"),
    "octal escapes": every_escape("\\{:03o}"),
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 at one": lambda value: base64.b64encode(f":{value}".encode()).decode(),
    "base64 at two": lambda value: base64.b64encode(f"::{value} and more".encode()).decode(),
    "base64 for urls": lambda value: base64.urlsafe_b64encode(f"a:{value}".encode()).decode(),
    "base64 in lines": lambda value: base64.encodebytes(f"{'x' * 40}{value}".encode()).decode(),
    "base64 reversed": lambda value: base64.b64encode(value[::-1].encode()).decode(),
    "base64 then reversed": lambda value: base64.b64encode(value.encode()).decode()[::-1],
    "url": lambda value: quote(value, safe=""),
    "url whole": every_escape("%{:02X}"),
    "url twice": lambda value: quote(every_escape("%{:02X}")(value), safe=""),
    "json": lambda value: json.dumps(value).strip('"'),
    "json escapes": every_escape("\\u{:04x}"),
    "json in json": lambda value: json.dumps(every_escape("\\u{:04x}")(value)),
    "html": every_escape("&#{};"),
    "html hex": every_escape("&#x{:x};"),
    "full width": lambda value: "".join(chr(ord(character) + 0xFEE0) for character in value),
    "variations": "\ufe0f".join,
    "tags": "\U000e0061".join,
    "directions": "\u202e".join,
    "ansi": lambda value: "\x1b[1m" + value + "\x1b[0m",
}
OUT_OF_REACH: dict[str, Callable[[str], str]] = {
    "shifted": lambda value: codecs.encode(value, "rot13"),
    "doubled": lambda value: "".join(character * 2 for character in value),
    "compressed": lambda value: base64.b64encode(gzip.compress(value.encode(), mtime=0)).decode(),
    "encoded twice": lambda value: base64.b64encode(base64.b64encode(value.encode())).decode(),
    "base32": lambda value: base64.b32encode(value.encode()).decode(),
    "base85": lambda value: base64.b85encode(value.encode()).decode(),
    "two bytes each": lambda value: value.encode("utf-16-le").hex(),
    "numbers": lambda value: ", ".join(str(ord(character)) for character in value),
    "spelt out": lambda value: ", ".join(f"letter {character}" for character in value),
}


@pytest.mark.parametrize("hide", HIDING.values(), ids=HIDING)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_b52_a_configured_value_is_found_however_it_is_hidden(value: str, hide: Callable[[str], str]) -> None:
    text = f"before {hide(value)} after"
    scrubber = Scrubber([value])

    leaks, scrubbed = scrubber.leaks(text), scrubber.scrub(text)

    assert leaks
    assert SECRET in scrubbed
    assert scrubbed.startswith("before ")
    assert scrubbed.endswith(" after")
    assert scrubber.leaks(scrubbed) == ()


@pytest.mark.parametrize("hide", OUT_OF_REACH.values(), ids=OUT_OF_REACH)
def test_sec_17_what_is_out_of_reach_is_known(hide: Callable[[str], str]) -> None:
    # A reader of this list knows what only the sandbox keeps in: nothing that the program claims to find.
    kinds = {leak.kind for leak in Scrubber([PASSWORD]).leaks(f"before {hide(PASSWORD)} after")}

    assert kinds <= {LeakKind.RANDOM}


@pytest.mark.parametrize("cut", [TOKEN[7:], TOKEN[:16], TOKEN[4:16], TOKEN[-12:], TOKEN[10:25], PASSWORD[:14]])
def test_b52_a_part_of_twelve_characters_is_enough(cut: str) -> None:
    (leak,) = Scrubber([TOKEN, PASSWORD]).leaks(f"see {cut}!")

    assert leak.kind is LeakKind.HIDDEN_VALUE


@pytest.mark.parametrize(
    "text",
    [
        "ghs_",
        "a ghs_ token",
        TOKEN[4:15],
        "correct horse",
        "the battery and the staple are correct",
    ],
)
def test_what_every_token_begins_with_and_single_words_of_one_are_no_leak(text: str) -> None:
    assert Scrubber([TOKEN, WORDS, KEY]).leaks(text) == ()


def test_a_line_of_a_configured_key_is_found_without_its_armour() -> None:
    lines = KEY.split("\n")

    assert Scrubber([KEY]).leaks(f"x {lines[2]} y")
    assert Scrubber([KEY.replace("\n", "\\n")]).leaks(f"x {lines[3][:20]} y")


def test_a_short_value_is_found_as_it_is_and_encoded_but_not_in_parts() -> None:
    scrubber = Scrubber(["tr0ub4dor"])

    assert scrubber.scrub("tr0ub4dor") == SECRET
    assert scrubber.leaks(b"tr0ub4dor".hex())
    assert scrubber.leaks("tr0ub4 and dor") == ()


HIDDEN_TOKENS: dict[str, Callable[[str], str]] = {
    name: HIDING[name]
    for name in ("spaced", "one line each", "zero width", "reversed", "hex", "base64", "base64 at one", "base64 at two")
}
HIDDEN_TOKENS |= {
    name: HIDING[name] for name in ("base64 for urls", "url whole", "json escapes", "html", "hex escapes")
}
HIDDEN_TOKENS |= {name: HIDING[name] for name in ("hex capitals", "full width", "variations", "tags", "directions")}
HIDDEN_TOKENS |= {
    f"base64 behind {before}": lambda value, before=before: before + HIDING["base64"](value)  # type: ignore[misc]
    for before in ("a", "ab", "ab_")
}
ISSUED = (
    TOKEN,
    "github_pat_" + "11ABCDEFG0abcdefghijkl_MNOPQRSTUVWXYZ0123456789",
    "sk-ant-" + "api03-abcDEF123456789abcDEF123456789",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "gsk_" + "a1B2c3D4e5" * 5,
    "pypi-" + "AgEIcHlwaS5vcmcC" + "a1B2c3D4e5" * 5,
    "glpat-" + "x1Yz2Ab3Cd4Ef5Gh6Ij7",
    "whsec_" + "a1B2c3D4e5" * 3,
    "AKIA" + "IOSFODNN7EXAMPLE",
)


@pytest.mark.parametrize("hide", HIDDEN_TOKENS.values(), ids=HIDDEN_TOKENS)
@pytest.mark.parametrize("token", ISSUED)
def test_b52_a_token_that_nobody_configured_is_found_when_it_is_hidden(token: str, hide: Callable[[str], str]) -> None:
    (leak,) = Scrubber().leaks(f"before {hide(token)} after")

    assert leak.kind is LeakKind.HIDDEN_TOKEN


def test_a_long_name_that_ends_as_a_token_begins_is_none() -> None:
    assert Scrubber().leaks("def customerOnboardingFlow_wf(): ...") == ()


@pytest.mark.parametrize(
    "token",
    [
        f"gh{kind}_" + tail
        for kind in "pousr"
        for tail in (
            "16C7e42F292c6912E7710c838347Ae178B4a",
            "1" * 6 + "_eyJ0eXAiOiJKV1QifQ.eyJpc3MiOiIxIn0." + "aB3" * 30,
        )
    ],
)
def test_r64_every_present_shape_of_a_github_token_is_found_whole(token: str) -> None:
    assert (
        Scrubber().scrub(f"git clone https://x:{token}@github.com/a/b")
        == f"git clone https://x:{SECRET}@github.com/a/b"
    )
    assert Scrubber().scrub(f"got {token}.") in (f"got {SECRET}.", f"got {SECRET}")


@pytest.mark.parametrize(
    "escaped",
    [
        lambda value: json.dumps({"error": f"bad token {value}"}),
        lambda value: json.dumps(json.dumps({"token": value})),
        lambda value: f"\x1b[31m{value}\x1b[0m",
        lambda value: f"\\u001b[31m{value}\\u001b[0m",
        lambda value: repr({"headers": {"authorization": f"Bearer {value}"}}),
    ],
)
@pytest.mark.parametrize(
    "value", [TOKEN, "sk-ant-" + "api03-abcDEF123456789abcDEF123456789", "AKIA" + "IOSFODNN7EXAMPLE"]
)
def test_r64_values_in_json_and_between_escapes_are_taken_out(escaped: Callable[[str], str], value: str) -> None:
    scrubbed = Scrubber().scrub(escaped(value))

    assert value[4:] not in scrubbed
    assert SECRET in scrubbed


@given(st.binary(min_size=20, max_size=60), st.integers(0, 30), st.integers(12, 20), st.text(max_size=40))
def test_sec_17_any_twelve_characters_of_a_random_value_are_found(
    data: bytes, start: int, length: int, around: str
) -> None:
    value = secrets.token_hex(2) + base64.b16encode(data).decode().lower()
    part = value[start : start + length]
    cut = part if len(part) >= 12 else value[-12:]
    if cut.isdigit() or cut.isalpha():
        return

    assert Scrubber([value]).leaks(f"{around} {cut} {around}")


ORDINARY = (
    "commit 4be1f0a94be1f0a94be1f0a94be1f0a94be1f0a9",
    "es1:f:9f2c41d07be29f2c41d0",
    "edits src/cart.py:41 #7b1d90c2aa41",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "id 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    'integrity "sha512-' + base64.b64encode(hashlib.sha512(b"shop").digest()).decode() + '"',
    "h1:" + base64.b64encode(hashlib.sha256(b"shop").digest()).decode(),
    "data:image/png;base64," + base64.b64encode(hashlib.shake_128(b"shop").digest(300)).decode(),
    "0x" + bytes(range(64)).hex(),
    "def parse_token(text: str) -> Token: return Token(text.split('_')[1])",
)


@pytest.mark.parametrize("text", ORDINARY)
def test_hashes_digests_keys_of_signatures_and_code_survive(text: str) -> None:
    assert Scrubber([TOKEN, PASSWORD, WORDS, KEY]).scrub(text) == text


HOSTILE = [
    "%",
    "%41",
    "\\u0041",
    "&#65;",
    "a ",
    "a\n",
    "_pHg",
    "\u200b",
    "Z2hw",
    "4142",
    "ghs_16C7e42F292",
    "\\",
    "\\x",
]
HOSTILE += [
    TOKEN[4:15] + " ",
    "correcthorse",
    "token=" + "a1_" * 60,
    'secret="' + "a" * 150 + '!" ',
    "gh",
    "&#x41;",
    "%25",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_b52_hostile_text_takes_time_linear_in_its_length(piece: str) -> None:
    scrubber = Scrubber([TOKEN, PASSWORD, WORDS, KEY])
    text = (piece * 65_536)[:65_536]
    scrubber.leaks("once, so that the detectors are imported")

    spent = []
    for size in (16_384, 65_536):
        began = time.process_time()
        scrubber.leaks(text[:size])
        spent.append(time.process_time() - began)

    assert spent[1] < at_most(0.5)
    assert spent[1] < 12 * spent[0] + 0.05


def test_what_a_model_reads_loses_configured_values_and_keeps_what_only_looks_like_a_secret() -> None:
    text = f"a {PASSWORD} b {PASSWORD[::-1]} c {TOKEN}"

    assert Scrubber([PASSWORD]).without_values(text) == f"a {SECRET} b {SECRET} c {TOKEN}"


@pytest.mark.parametrize("before", range(17))
@pytest.mark.parametrize("behind", ["", "yy"])
def test_a_part_of_twelve_characters_is_found_wherever_it_stands(before: int, behind: str) -> None:
    value = "Kq7Zt2Wm9Xp4Lv8Rb3Nc6"
    scrubber = Scrubber([value])

    found = [scrubber.leaks("y" * before + value[at : at + 12] + behind) for at in range(len(value) - 11)]

    assert [[(leak.start, leak.end) for leak in leaks] for leaks in found] == [[(before, before + 12)]] * len(found)
