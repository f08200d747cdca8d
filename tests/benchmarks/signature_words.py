"""The figures of the signature benchmark as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_SETS = {
    "inside": "raised inside the program",
    "all": "all traces",
    "simple_rule_inside": "simple rule: type and 5 frames",
    "type_and_message_inside": "type and message alone",
}


def told(figures: Mapping[str, Any]) -> Iterator[str]:
    """One line for each figure, with its exact interval of 95 %."""
    yield f"algorithm {figures['algorithm']}"
    for language in ("python", "java"):
        if language in figures:
            yield from _corpus(language, figures[language])
    yield f"wrong bug offered, all traces: {_share(figures['wrong_bug_of_all_traces'])}"
    if "issues" in figures:
        yield f"tracebacks in issues read: {_share(figures['issues']['tracebacks_read'])}"
        yield f"issues with a signature: {_share(figures['issues']['tickets_with_signature'])}"
    yield f"pairs right: {_share(figures['pairs']['right'])} {' '.join(figures['pairs']['wrong'])}".rstrip()
    weak = figures["pairs"]["by_words_alone"]
    yield f"pairs that meet by words alone, which offers no lesson: {len(weak)} {' '.join(weak)}".rstrip()
    for change, share in figures["changes"].items():
        yield f"same keys after {change}: {_share(share)}"
    yield f"time for one text: {figures['time']}"


def _corpus(language: str, found: Mapping[str, Any]) -> Iterator[str]:
    for name, words in _SETS.items():
        scores = found[name]
        yield (
            f"{language}, {words}: F1 {scores['f1']:.3f}, precision {_share(scores['precision'])}, "
            f"recall {_share(scores['recall'])}, wrong bug {_share(scores['wrong_bug'])}"
        )
    for project, scores in found["by_project"].items():
        yield f"  {project}: F1 {scores['f1']:.3f}, wrong bug {_share(scores['wrong_bug'])}"
    if "other_version_and_folder" in found:
        yield f"{language}, another version and folder: {_share(found['other_version_and_folder'])}"


def _share(share: Mapping[str, Any]) -> str:
    return f"{share['share']:.3f} [{share['low']:.3f}, {share['high']:.3f}] of {share['of']}"
