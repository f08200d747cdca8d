"""What may be published: policy, size and secrets, asked of a patch together with the frozen reproduction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from memory.scrub import Scrubber
from stages.patch import FileChange, Patch, added
from stages.policy import Policy, Violation, judge
from stages.report import Reproduction
from stages.verdict import Span

_NO_FILE: Final = "000000"
_PLAIN: Final = "100644"


@dataclass(frozen=True, kw_only=True)
class Admission:
    """`scrubber` knows the values and shapes of secrets."""

    policy: Policy = field(default_factory=Policy)
    scrubber: Scrubber = field(default_factory=Scrubber)

    def violations(self, patch: Patch) -> tuple[Violation, ...]:
        """Every rule that the patch breaks."""
        return judge(patch, self.policy)

    def leaks(self, patch: Patch) -> Iterator[Span]:
        """The added lines that hold a secret."""
        for path, section in patch.sections:
            lines = list(added(section))
            found = [Span(path=path, first=number, last=number) for number, text in lines if self.is_secret(text)]
            yield from found
            if not found and lines and self.is_secret("\n".join(text for _, text in lines)):
                yield Span(path=path, first=lines[0][0], last=lines[-1][0])

    def is_secret(self, text: str) -> bool:
        """True when something in the text has to be taken out before anybody keeps it."""
        return len(self.scrubber.leaks(text)) > 0  # a scrubber that says nothing at all has not looked

    def refusals(self, reproduction: Reproduction) -> Iterator[str]:
        """Why a new test file may not be published, whatever patch comes with it."""
        alone = published(Patch(diff=""), reproduction)
        if alone and self.policy.files_at_most < 1 + len(alone.files):
            yield f"a patch may have {self.policy.files_at_most} file here, and a new test file would be one more"
        yield from (str(violation) for violation in judge(alone, replace(self.policy, files_at_most=len(alone.files))))
        yield from (f"line {leak.first} holds what has the shape of a secret" for leak in self.leaks(alone))


def published(patch: Patch, reproduction: Reproduction) -> Patch:
    """What a branch would show: the patch, and the test file that was written for it."""
    if not reproduction.path or reproduction.path in patch.paths:
        return patch
    lines = reproduction.text.split("\n")
    file = FileChange(
        path=reproduction.path, status="A", old_mode=_NO_FILE, new_mode=_PLAIN, added=len(lines) - (lines[-1] == "")
    )
    diff = "" if patch.cut else f"{patch.diff}{_new_file(reproduction.path, lines)}"
    return Patch(diff=diff, files=(*patch.files, file), cut=patch.cut)


def _new_file(path: str, lines: Iterable[str]) -> str:
    whole = list(lines)
    ends = whole[-1] == ""
    shown = whole[:-1] if ends else whole
    head = [
        f"diff --git a/{path} b/{path}",
        f"new file mode {_PLAIN}",
        "--- /dev/null",
        f"+++ b/{path}",
        f"@@ -0,0 +1,{len(shown)} @@",
    ]
    tail = [] if ends else ["\\ No newline at end of file"]
    return "\n".join([*head, *(f"+{line}" for line in shown), *tail]) + "\n"
