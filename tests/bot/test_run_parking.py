"""What is wrong outside parks a run: it teaches nothing, keeps everything, and goes on when it is mended."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.app import App
from bot.facts import Waits
from bot.run import Run, RunState
from memory.errors import MemoryFault
from stages.agents.model import UnknownPrice
from stages.errors import ParkCause, Parked
from stages.sandbox import Sandbox, choose
from stages.sandbox.plain import Plain
from tests.bot.kit import ANSWERS, SETTINGS, TICKET, Bed, Script, ScriptedApp, bed, endings, facts_of, lessons, silent
from tests.bot.laid import published

NOTE = {".github/ticketsmith/notes/price.md": "# Price\n\nThe price of a mug was agreed on in spring.\n"}


class Untrusted(ScriptedApp):
    """A machine without bubblewrap, and a repository that is not ours."""

    def _sandbox(self, *_: object) -> Sandbox:
        return choose("auto", trusted=False, path="/nonexistent")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """`wrong` makes the program meet the fault, `mend` takes it away."""

    cause: ParkCause
    says: str
    wrong: Callable[[Bed], App]
    mend: Callable[[Bed], None] = lambda _: None
    files: tuple[tuple[str, str], ...] = ()


def answers(error: Exception) -> Callable[[Bed], App]:
    """The model's first answer is this error."""
    return lambda ground: ground.app(Script.of(diagnose=error))


def no_sandbox(ground: Bed) -> App:
    return ground.app(kind=Untrusted, sandbox="auto")


def no_index(ground: Bed) -> App:
    ground.home.mkdir()
    (ground.home / "index").write_text("a file where a folder must be")
    return ground.app()


def index_back(ground: Bed) -> None:
    (ground.home / "index").unlink()


def tools_missing(ground: Bed) -> App:
    ground.commit({".github/ticketsmith.toml": SETTINGS.replace('"sh"', '"no-such-program"')})
    return ground.app()


def folder_missing(ground: Bed) -> App:
    ground.commit(
        {".github/ticketsmith.toml": SETTINGS.replace("[checks.price]\n", '[checks.price]\nfolder = "nowhere"\n')}
    )
    return ground.app()


def tools_there(ground: Bed) -> None:
    ground.commit({".github/ticketsmith.toml": SETTINGS})


def no_tests(ground: Bed) -> App:
    ground.commit({".github/ticketsmith.toml": '[checks.pytest]\npytest = ["."]\n'})
    return ground.app()


def modules_missing(ground: Bed) -> App:
    ground.commit({
        ".github/ticketsmith.toml": '[checks.pytest]\npytest = ["."]\n',
        "test_price.py": "import no_such_module_anywhere\n\n\ndef test_price():\n    assert False\n",
    })  # fmt: skip
    return ground.app()


class Moved(ScriptedApp):
    """The repository goes away between the opening of a run and its work."""

    def pursue(self, run: Run, progress: object) -> Run:
        shutil.move(run.place, run.place + "-elsewhere")
        return super().pursue(run, progress)  # type: ignore[arg-type]


def moved_back(ground: Bed) -> None:
    shutil.move(f"{ground.repository.folder}-elsewhere", ground.repository.folder)


FAULTS = {
    "no sandbox": Fault(cause=ParkCause.SANDBOX, says="bubblewrap", wrong=no_sandbox),
    "a check whose program is not here": Fault(
        cause=ParkCause.ENVIRONMENT, says="no-such-program", wrong=tools_missing, mend=tools_there
    ),
    "a check whose folder is not in the tree": Fault(
        cause=ParkCause.ENVIRONMENT,
        says="nowhere is no folder of the tree; see `[checks.price] folder` in .github/ticketsmith.toml",
        wrong=folder_missing,
        mend=tools_there,
    ),
    "no test at all": Fault(cause=ParkCause.ENVIRONMENT, says="shows no check", wrong=no_tests, mend=tools_there),
    "a module that is not installed": Fault(
        cause=ParkCause.ENVIRONMENT, says="no_such_module_anywhere", wrong=modules_missing, mend=tools_there
    ),
    "an index that cannot be built": Fault(
        cause=ParkCause.MEMORY, says="index", wrong=no_index, mend=index_back, files=tuple(NOTE.items())
    ),
    "a full disk": Fault(
        cause=ParkCause.DISK,
        says="No space left on device (/tmp/x): make room",
        wrong=answers(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/x")),
    ),
    "a folder that may not be written": Fault(
        cause=ParkCause.ENVIRONMENT,
        says="Permission denied (/tmp/x)",
        wrong=answers(OSError(errno.EACCES, os.strerror(errno.EACCES), "/tmp/x")),
    ),
    "a missing key": Fault(
        cause=ParkCause.TOKEN, says="key", wrong=answers(Parked(cause=ParkCause.TOKEN, reason="it needs a key"))
    ),
    "a rate limit": Fault(
        cause=ParkCause.RATE_LIMIT,
        says="no more",
        wrong=answers(Parked(cause=ParkCause.RATE_LIMIT, reason="no more calls for now")),
    ),
    "memory that cannot be read": Fault(
        cause=ParkCause.MEMORY, says="Memory cannot be used", wrong=answers(MemoryFault())
    ),
    "a model that lost its price": Fault(
        cause=ParkCause.MODEL, says="Nobody knows what m costs", wrong=answers(UnknownPrice(model="m"))
    ),
    "a repository that is gone": Fault(
        cause=ParkCause.BASE_GONE,
        says="does not exist",
        wrong=lambda ground: ground.app(kind=Moved),
        mend=moved_back,
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_outside_parks_the_run_and_teaches_nothing(fault: Fault, tmp_path: Path) -> None:
    ground = bed(tmp_path, dict(fault.files))
    app = fault.wrong(ground)

    run = ground.fix(app)

    assert (run.state, run.park_cause, run.outcome) == (RunState.PARKED, fault.cause, "")
    assert fault.says in run.park_reason
    assert (endings(app, run), lessons(app, run)) == ([], ())
    assert not list((ground.home / "work").glob(f"{run.id}-*"))


@pytest.mark.parametrize(
    "name", ["no sandbox", "an index that cannot be built", "a rate limit", "a repository that is gone"]
)
def test_a_parked_run_goes_on_when_the_fault_is_mended(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    ground = bed(tmp_path, dict(fault.files))
    run = ground.fix(fault.wrong(ground))
    fault.mend(ground)
    script = Script.of()
    app = ground.app(script)

    run = app.pursue(app.retried(run), silent())

    assert (run.state, run.park_cause, run.park_reason) == (RunState.PUBLISHED, None, "")
    assert len(script.asked) <= len(ANSWERS)


def test_a_parked_run_does_not_ask_again_what_was_answered(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    run = ground.fix(answers(Parked(cause=ParkCause.MODEL, reason="down"))(ground))
    script = Script.of()
    app = ground.app(script)

    run = app.pursue(run, silent())

    assert run.state is RunState.PUBLISHED
    assert [point.value for point in script.asked] == ["diagnose", "develop", "review", "summarise"]
    assert [fact.cause for fact in facts_of(app, run) if isinstance(fact, Waits)] == ["model"]
    assert run.spent.calls == 6


def test_what_a_parked_run_spent_is_kept(tmp_path: Path) -> None:
    ground = bed(tmp_path)

    run = ground.fix(answers(Parked(cause=ParkCause.MODEL, reason="down"))(ground))

    assert (run.spent.calls, run.spent.tokens) == (2, 20)


def test_a_run_that_was_told_to_stop_ends_where_it_would_park(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    app = ground.app()
    run = app.open_run(TICKET, ground.repository, ground.repository.resolve())

    def stop_and_fail(_: object) -> dict[str, object]:
        app.stores.runs.request_stop(run.id)
        raise Parked(cause=ParkCause.MODEL, reason="down")

    run = ground.app(Script.of(diagnose=stop_and_fail)).pursue(run, silent())

    assert (run.state, run.outcome) == (RunState.ENDED, "drop: stopped")


def test_a_summary_that_cannot_be_had_keeps_no_result_back(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    app = ground.app(Script.of(summarise=Parked(cause=ParkCause.RATE_LIMIT, reason="later")))

    run = ground.fix(app)

    assert run.state is RunState.PUBLISHED
    assert "The gate passed" in app.publisher.path(run, "summary.md").read_text()


def test_a_review_that_cannot_be_read_keeps_no_passed_patch_back(tmp_path: Path) -> None:
    ground = bed(tmp_path)

    run = ground.fix(ground.app(Script.of(review={"findings": "none"})))

    assert run.state is RunState.PUBLISHED


def test_a_sandbox_that_nobody_trusts_is_never_used_by_itself(tmp_path: Path) -> None:
    ground = bed(tmp_path)

    run = ground.fix(no_sandbox(ground))

    assert "apt-get install bubblewrap" in run.park_reason
    assert run.level == ""


def test_the_level_of_the_sandbox_is_written_down(tmp_path: Path) -> None:
    assert published(tmp_path)[1].level == Plain.level.value
