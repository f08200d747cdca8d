"""Typed slots: what an ending may carry into memory, so that no sentence of a stranger gets there."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias, TypeVar, assert_never

from memory.errors import MemoryFault
from memory.types import (
    CheckId,
    CommitId,
    Drop,
    DropCause,
    Edit,
    Ending,
    EndingKind,
    ErrorSignature,
    Evidence,
    Hold,
    HoldCause,
    LessonId,
    NotOurs,
    NotOursCause,
    PassAfterHold,
    PathAt,
    Refix,
    RunEnding,
    RunId,
    TicketId,
    Verify,
    VerifyOutcome,
    Where,
)

Scrub: TypeAlias = Callable[[str], str]
Text = TypeVar("Text", bound=str)
Kept = TypeVar("Kept", CheckId, Edit, LessonId, PathAt)

LIST_AT_MOST: Final = 100
SIGNATURES_AT_MOST: Final = 6
SIGNATURE_KINDS: Final = frozenset({"trace", "test", "compiler", "sql", "http", "k8s", "message", "log"})

_HASH = re.compile(r"#[0-9a-f]{12}")
_TEST = re.compile(r"[A-Za-z0-9_./:\-\[\]]{1,200}")
_PATH = re.compile(r"[A-Za-z0-9_./+@()\[\]\-]{1,200}")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_DIGEST = re.compile(r"[0-9a-f]{12}")
_NAME = re.compile(r"[A-Za-z0-9_./#:@+\[\]\-]{1,120}")  # of a run, a ticket, an author, an environment
_LANGUAGE = re.compile(r"[a-z0-9+#]{1,20}")
_KEY = re.compile(r"([a-z][a-z0-9]{1,7}):([xfct]):[0-9a-f]{8,40}")
_NUMBER_AT_MOST: Final = 10**9


class EndingRefused(MemoryFault):
    """This ending cannot be recorded: {reason}."""


def hashed(text: str) -> str:
    """`#` and the first 12 hex digits of the text's SHA-256: what stands for a value outside its alphabet."""
    return "#" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def slotted(ending: RunEnding, scrub: Scrub = lambda text: text) -> RunEnding:
    """`ending` with every slot inside its alphabet and length; a value outside is replaced by its hash.

    Slotting twice changes nothing. Secrets are scrubbed first. Of a signature only kind, language and keys
    stay. Raises EndingRefused for an ending that contradicts itself.
    """
    _refuse_nonsense(ending)
    slot = _Slots(scrub)
    return RunEnding(
        scope=ending.scope,
        run=slot.name(ending.run),
        ticket=slot.name(ending.ticket),
        author=slot.name(ending.author),
        ending=slot.ending(ending.ending),
        final=bool(ending.final),
        commit=slot.commit(ending.commit),
        at=ending.at,
        evidence=Evidence(ending.evidence),
        environment=slot.name(ending.environment),
        signatures=merged_signatures(slot.signature(signature) for signature in ending.signatures),
        paths=slot.some(ending.paths, slot.path_at, lambda digest: PathAt(path=digest, blob="")),
        refers_to=ending.refers_to and slot.name(ending.refers_to),
    )


def slotted_ticket(ticket: TicketId, scrub: Scrub = lambda text: text) -> TicketId:
    """A ticket's id as it stands in memory."""
    return _Slots(scrub).name(ticket)


def slotted_run(run: RunId, scrub: Scrub = lambda text: text) -> RunId:
    """A run's id as it stands in memory."""
    return _Slots(scrub).name(run)


def slotted_signatures(signatures: Iterable[ErrorSignature]) -> tuple[ErrorSignature, ...]:
    """What memory keeps of signatures: kind, language and keys, each once, at most six."""
    slot = _Slots(lambda text: text)
    return merged_signatures(slot.signature(signature) for signature in signatures)


def merged_signatures(signatures: Iterable[ErrorSignature]) -> tuple[ErrorSignature, ...]:
    """Those that have keys, each once, at most six."""
    distinct = {tuple(sorted(signature.keys.values())): signature for signature in signatures if signature.keys}
    return tuple(distinct.values())[:SIGNATURES_AT_MOST]


def kind_of(ending: Ending) -> EndingKind:
    """The kind that stands in the table beside the slots."""
    match ending:
        case Hold():
            return EndingKind.HOLD
        case Refix():
            return EndingKind.REFIX
        case PassAfterHold():
            return EndingKind.PASS_AFTER_HOLD
        case Drop():
            return EndingKind.DROP
        case Verify():
            return EndingKind.VERIFY
        case NotOurs():
            return EndingKind.NOT_OURS
        case _:
            assert_never(ending)


class _Slots:
    def __init__(self, scrub: Scrub) -> None:
        self._scrub = scrub

    def fit(self, value: Text, alphabet: re.Pattern[str]) -> Text:
        """`value`, or its hash when it is not whole inside the alphabet; an empty value stays empty."""
        clean = self._scrub(value)
        fits = not clean or alphabet.fullmatch(clean) or _HASH.fullmatch(clean)
        return type(value)(clean if fits else hashed(clean))

    def name(self, value: Text) -> Text:
        return self.fit(value, _NAME)

    def commit(self, value: CommitId) -> CommitId:
        return self.fit(value, _COMMIT)

    def check(self, value: CheckId) -> CheckId:
        return self.fit(value, _TEST)

    def edit(self, edit: Edit) -> Edit:
        return Edit(path=self.fit(edit.path, _PATH), line=_number(edit.line), digest=self.fit(edit.digest, _DIGEST))

    def path_at(self, at: PathAt) -> PathAt:
        return PathAt(path=self.fit(at.path, _PATH), blob=self.fit(at.blob, _COMMIT))

    def checks(self, checks: tuple[CheckId, ...]) -> tuple[CheckId, ...]:
        return self.some(checks, self.check, CheckId)

    def edits(self, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        return self.some(edits, self.edit, lambda digest: Edit(path=digest, line=0, digest=digest))

    def some(
        self, values: tuple[Kept, ...], keep: Callable[[Kept], Kept], rest: Callable[[str], Kept]
    ) -> tuple[Kept, ...]:
        """The values kept; the hash of all beyond the hundredth stands for them."""
        kept = [keep(value) for value in values]
        if len(kept) > LIST_AT_MOST:
            kept[LIST_AT_MOST - 1 :] = [rest(hashed(repr(kept[LIST_AT_MOST - 1 :])))]
        return tuple(kept)

    def signature(self, signature: ErrorSignature) -> ErrorSignature:
        """Only what cannot carry a sentence: type, template, frames and canonical forms are a stranger's text."""
        return ErrorSignature(
            kind=signature.kind if signature.kind in SIGNATURE_KINDS else "message",
            language=signature.language if _LANGUAGE.fullmatch(signature.language) else "",
            type="",
            template="",
            keys=_keys(signature.keys),
        )

    def ending(self, ending: Ending) -> Ending:
        match ending:
            case Hold():
                return Hold(
                    where=Where(ending.where),
                    cause=HoldCause(ending.cause),
                    attempt=_number(ending.attempt),
                    failing=self.checks(ending.failing),
                    exit_status=None if ending.exit_status is None else _number(ending.exit_status),
                    edits=self.edits(ending.edits),
                )
            case Refix():
                return Refix(
                    attempt=_number(ending.attempt),
                    edits=self.edits(ending.edits),
                    now_passing=self.checks(ending.now_passing),
                    still_failing=self.checks(ending.still_failing),
                )
            case PassAfterHold():
                return PassAfterHold(
                    attempt=_number(ending.attempt),
                    answers=self.some(ending.answers, lambda lesson: self.fit(lesson, _DIGEST), LessonId),
                    edits=self.edits(ending.edits),
                )
            case Drop():
                return Drop(cause=DropCause(ending.cause))
            case Verify():
                return Verify(
                    outcome=VerifyOutcome(ending.outcome),
                    edits=self.edits(ending.edits),
                    checks=self.checks(ending.checks),
                    commit=None if ending.commit is None else self.commit(ending.commit),
                )
            case NotOurs():
                return NotOurs(cause=NotOursCause(ending.cause), proof=self.checks(ending.proof))
            case _:
                assert_never(ending)


def _keys(keys: Mapping[str, str]) -> dict[str, str]:
    return {level: key for level, key in keys.items() if (parts := _KEY.fullmatch(key)) and parts[2] == level}


def _number(value: int) -> int:
    return max(-_NUMBER_AT_MOST, min(int(value), _NUMBER_AT_MOST))


def _refuse_nonsense(ending: RunEnding) -> None:
    if ending.at.tzinfo is None:
        raise EndingRefused(reason="its time has no time zone")
    match ending.ending:
        case Drop() | NotOurs() if not ending.final:
            raise EndingRefused(reason="a drop or not-ours closes its run")
        case Refix() | PassAfterHold() if ending.final:
            raise EndingRefused(reason="a refix or pass-after-hold does not close its run")
        case Hold() if ending.final and ending.refers_to is None:
            raise EndingRefused(reason="a final hold names the ending that it refers to")
        case Hold() if not ending.final and ending.refers_to is not None:
            raise EndingRefused(reason="only a final hold refers to another ending")
        case _:
            return
