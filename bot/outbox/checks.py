"""The check run on our commit, with what the gate saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from bot.forge import parsing
from bot.forge.errors import Unreachable
from bot.forge.types import RepositoryRef
from bot.outbox.errors import NotArrived
from bot.outbox.ledger import Effect, Kind, digest
from bot.outbox.sender import CHECKS, Sender
from bot.outbox.types import ANNOTATIONS_AT_MOST, Annotation, CheckReport, CheckRunId

NAME: Final = "ticketsmith"
_MESSAGE_AT_MOST: Final = 2_000  # characters of an annotation


@dataclass(frozen=True, kw_only=True)
class _Seen:
    id: int
    external_id: str
    status: str
    conclusion: str | None


class Checks:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def put(self, run: str, ref: RepositoryRef, sha: str, report: CheckReport, of: str = "") -> CheckRunId:
        """The run's check on a commit, made or brought up to date; `of` tells several on one commit apart."""
        effect = self._sender.effect(run, f"check {of}".strip(), ref, sha, Kind.CHECK)
        body = self._body(ref, report, effect.key)
        with self._sender.alone(effect):
            return self._put(effect, sha, report, body)

    def _put(self, effect: Effect, sha: str, report: CheckReport, body: dict[str, Any]) -> CheckRunId:
        ref = effect.ref
        entry = self._sender.ledger.intend(effect)
        text = repr(sorted(body.items(), key=lambda pair: pair[0]))
        if entry.artefact and entry.digest == digest(text):
            return CheckRunId(int(entry.artefact))
        if entry.artefact:
            there = self._edit(ref, int(entry.artefact), body)
        else:
            found = self._sender.once(
                lambda: self._mine(effect, sha),
                lambda: self._create(ref, sha, body),
                fresh=entry.fresh,
            )
            same = (found.status, found.conclusion) == (report.status, report.conclusion)
            there = found if same else self._edit(ref, found.id, body)
        if (there.status, there.conclusion) != (report.status.value, report.conclusion and report.conclusion.value):
            raise NotArrived(what="the check run", seen=f"{there.status}, {there.conclusion}")
        self._sender.ledger.done(effect, there.id, text)
        return CheckRunId(there.id)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _body(self, ref: RepositoryRef, report: CheckReport, key: str) -> dict[str, Any]:
        words = self._sender.words
        marks = report.annotations[:ANNOTATIONS_AT_MOST]
        more = len(report.annotations) - len(marks)
        summary = report.summary + (f"\n\n{more} more remarks are not shown." if more else "")
        output: dict[str, Any] = {
            "title": words.line(report.title, "title of a check run"),
            "summary": words.body(summary, ref, report.issue, "check run"),
        }
        if marks:
            output["annotations"] = [self._mark(one) for one in marks]
        body: dict[str, Any] = {"status": report.status.value, "external_id": key, "output": output}
        return body | ({"conclusion": report.conclusion.value} if report.conclusion else {})

    def _mark(self, one: Annotation) -> dict[str, Any]:
        message = self._sender.words.line(one.message, "annotation")[:_MESSAGE_AT_MOST]
        return {
            "path": one.path,
            "start_line": one.line,
            "end_line": one.line,
            "annotation_level": one.level.value,
            "message": message,
        }

    def _create(self, ref: RepositoryRef, sha: str, body: dict[str, Any]) -> _Seen:
        what = f"check runs of {ref.full_name}"
        new = {"name": NAME, "head_sha": sha, **body}
        data = self._sender.write(ref, "POST", "/check-runs", what=what, needs=CHECKS, body=new)
        return parsing.shaped(_seen, data)

    def _edit(self, ref: RepositoryRef, number: int, body: dict[str, Any]) -> _Seen:
        path, what = f"/check-runs/{number}", f"check run {number} of {ref.full_name}"
        try:
            data = self._sender.write(ref, "PATCH", path, what=what, needs=CHECKS, body=body)
        except Unreachable:
            data = self._sender.write(ref, "PATCH", path, what=what, needs=CHECKS, body=body)
        return parsing.shaped(_seen, data)

    def _mine(self, effect: Effect, sha: str) -> _Seen | None:
        """By our marker, which only the App that made a check run can have put there."""
        path, what = f"/commits/{sha}/check-runs", f"check runs of {effect.ref.full_name}"
        query = {"check_name": NAME, "per_page": "100"}
        data = self._sender.forge.api.read(effect.ref, path, what=what, needs=CHECKS, query=query)
        seen = [parsing.shaped(_seen, one) for one in data["check_runs"]]
        return next((one for one in seen if one.external_id == effect.key), None)


def _seen(data: Any) -> _Seen:
    return _Seen(
        id=int(data["id"]),
        external_id=str(data.get("external_id") or ""),
        status=str(data["status"]),
        conclusion=data.get("conclusion"),
    )
