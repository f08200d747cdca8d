"""The one label of an issue that is ours."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from bot.forge.errors import NotThere, Unreachable
from bot.forge.types import RepositoryRef
from bot.outbox.errors import NotArrived
from bot.outbox.sender import ISSUES, Sender
from bot.outbox.types import OwnLabel

_OURS: Final = {one.value for one in OwnLabel}


class Labels:
    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def set(self, ref: RepositoryRef, number: int, want: OwnLabel | None) -> None:
        """Exactly this one of ours on the issue, or none; those of others are never touched.

        GitHub makes a label that the repository does not have. Sending the same again changes nothing.
        """
        try:
            self._set(ref, number, want)
        except Unreachable:
            self._set(ref, number, want)

    def _set(self, ref: RepositoryRef, number: int, want: OwnLabel | None) -> None:
        path, what = f"/issues/{number}/labels", f"issue {number} of {ref.full_name}"
        if want:
            found = self._sender.write(ref, "POST", path, what=what, needs=ISSUES, body={"labels": [want.value]})
        else:
            found = self._sender.forge.api.read(ref, path, what=what, needs=ISSUES)
        names = _names(found)
        if want and want.value not in names:
            raise NotArrived(what=f"the label {want.value}", seen="an issue without it")
        for name in sorted(names & _OURS - {want.value if want else ""}):
            try:
                self._sender.write(ref, "DELETE", f"{path}/{quote(name, safe='')}", what=what, needs=ISSUES)
            except NotThere:
                continue  # somebody was faster


def _names(found: Any) -> set[str]:
    return {str(one["name"]).lower() for one in found if isinstance(one, dict) and "name" in one}
