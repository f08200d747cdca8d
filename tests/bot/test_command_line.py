"""The commands as a person types them, one after the other, and what they print."""

from __future__ import annotations

import builtins
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bot.commands.common import err
from tests.bot.laid import fixed, held
from tests.bot.lines import AGENT, NOTE, Line, complaint, line

ROOT = Path(__file__).parents[2]
# A shell that runs the tests in the background lets all that it begins ignore interrupts.
HEARS_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"


@pytest.fixture
def typed(tmp_path: Path) -> Line:
    return line(tmp_path, NOTE)


def test_from_a_ticket_to_a_lesson(tmp_path: Path) -> None:
    typed, done = fixed(tmp_path)
    assert done.exit_code == 0, done.output
    (run,) = typed.runs()
    assert f"Published: branch {run['branch']}\n" in done.stdout
    patch = re.search(r"patch +(\S+)", done.stdout)
    assert patch is not None
    assert Path(patch[1]).read_text().endswith("-1\n+3\n")

    early = typed.type("runs", "verify", run["id"], *typed.by())
    typed.ground.merge(run["branch"])
    verified = typed.type("runs", "verify", run["id"], *typed.by())
    late = typed.type("runs", "verify", run["id"], *typed.by())

    assert (early.exit_code, f"merge the branch {run['branch']}" in complaint(early)) == (1, True)
    assert (verified.exit_code, verified.stdout) == (0, f"Run {run['id']} ended: verify: worked\n")
    assert (late.exit_code, late.stdout) == (0, verified.stdout)
    (lesson,) = typed.json("memory", "lessons", *typed.at)
    assert lesson["ending"]["outcome"] == "worked"


def test_a_run_is_listed_and_shown(tmp_path: Path) -> None:
    typed, _ = fixed(tmp_path)
    (run,) = typed.runs()

    listed = typed.type("runs", "list").stdout
    shown = typed.type("runs", "show", run["id"][:8]).stdout
    whole = typed.type("runs", "show", run["id"], "--verbose").stdout
    record = typed.json("runs", "show", run["id"])

    assert run["id"] in listed
    assert typed.type("runs", "list", "--state", "ended").stdout.startswith("No runs.")
    for word in ("Triage", "Diagnose", "Develop", "Gate", "Review", "Summarise", "Publish", "sandbox plain"):
        assert word in shown
    assert "[ticketsmith:context v1]" in shown
    assert len(whole) > len(shown)
    assert record["run"]["branch"] == run["branch"]
    assert {event["kind"] for event in record["events"]} >= {"asked", "model", "checked", "judged", "published"}


def test_progress_goes_to_stderr_and_the_result_to_stdout(tmp_path: Path) -> None:
    _, done = fixed(tmp_path)

    assert "Triage\n" in done.stderr
    assert "Triage" not in done.stdout


def test_a_held_run_exits_with_one_and_keeps_its_patch(tmp_path: Path) -> None:
    typed, done = held(tmp_path)

    assert done.exit_code == 1
    assert "Ended: hold: check" in done.stdout
    (run,) = typed.runs()
    kept = typed.ground.home / "runs" / run["id"]
    assert (kept / "patch.diff").read_text().endswith("-1\n+2\n")
    assert (kept / "summary.md").read_text().startswith("# The price is wrong\n")
    assert typed.ground.git("branch", "--list", "ticketsmith/*") == ""


def test_one_ticket_has_one_open_run_until_it_is_begun_anew(tmp_path: Path) -> None:
    typed, _ = fixed(tmp_path)
    (first,) = typed.runs()

    again = typed.fix()
    anew = typed.fix("--anew")

    assert (again.exit_code, f"runs verify {first['id']}" in complaint(again)) == (2, True)
    assert (f"runs requeue {first['id']} NOTE" in complaint(again), "retry" in complaint(again)) == (True, False)
    assert anew.exit_code == 0, anew.output
    assert [(run["state"], run["outcome"]) for run in typed.runs()] == [
        ("published", ""),
        ("ended", "drop: superseded"),
    ]


def test_a_run_is_sent_back_stopped_and_not_retried(tmp_path: Path) -> None:
    typed, _ = fixed(tmp_path)
    (run,) = typed.runs()

    empty = typed.type("runs", "requeue", run["id"], "  ", *typed.by())
    back = typed.type("runs", "requeue", run["id"], "A line break is missing.", "--author", "mira", *typed.by())
    stopped = typed.type("runs", "stop", run["id"])
    retried = typed.type("runs", "retry", run["id"], *typed.by())
    again = typed.type("runs", "stop", run["id"])

    assert (empty.exit_code, "The note is empty" in complaint(empty)) == (2, True)
    assert back.exit_code == 0, back.output
    assert f"Published: branch {run['branch']}-2\n" in back.stdout
    assert "Requeue note of mira" in typed.type("runs", "show", run["id"]).stdout
    assert stopped.stdout == f"Run {run['id']} ended: drop: stopped\n"
    assert (retried.exit_code, "drop: stopped" in complaint(retried)) == (1, True)
    assert (again.exit_code, "is over" in complaint(again)) == (1, True)


def test_a_parked_run_is_retried_with_the_program_it_began_with(typed: Line, tmp_path: Path) -> None:
    flag = tmp_path / "here"
    script = f"test -e {flag} || exit 127\n{AGENT}"
    parked = typed.fix(script=script)
    (run,) = typed.runs()
    flag.touch()

    done = typed.type("runs", "retry", run["id"], "--sandbox", "plain")

    assert (parked.exit_code, run["state"], run["park_cause"]) == (75, "parked", "environment")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("command", ["show", "stop", "retry", "verify"])
def test_a_run_that_is_not_there_is_told_with_those_that_are(command: str, tmp_path: Path) -> None:
    typed, _ = fixed(tmp_path)
    (run,) = typed.runs()

    done = typed.type("runs", command, "ZZZZZZ")

    assert done.exit_code == 2
    assert run["id"] in complaint(done)


def test_a_note_whose_head_cannot_be_understood_is_named_with_its_line(tmp_path: Path) -> None:
    head = "---\ntitle: Mugs\nstatus: retird\n---\nA mug costs 3.\n"
    typed = line(tmp_path, {".github/ticketsmith/notes/mugs.md": head})

    listed = typed.type("memory", "notes", *typed.at)
    as_json = typed.type("memory", "notes", *typed.at, "--json")
    why = typed.type("memory", "why", typed.ticket, *typed.at)

    told = "mugs.md:3 · not read: the status 'retird' is not known; `active` and `retired` are"
    assert told in listed.stdout
    assert (json.loads(as_json.stdout), told in as_json.stderr) == ([], True)
    assert told in why.stdout
    assert typed.json("memory", "why", typed.ticket, *typed.at)["notes_not_read"] == [told]


def test_a_title_of_thousands_of_characters_is_cut_wherever_people_read_it_in_a_line(tmp_path: Path) -> None:
    typed = line(tmp_path)
    typed.ticket.write_text(f"# The price is wrong {'x' * 50_000}\n\nprice.txt says 1, we agreed on 3.\n")

    worked = typed.fix()
    listed = typed.type("runs", "list")
    (run,) = typed.runs()
    shown = typed.type("runs", "show", run["id"])

    for told in (worked.stderr, worked.stdout, listed.stdout, shown.stdout):
        assert "x" * 200 not in told
    assert "The price is wrong xxx" in worked.stderr
    assert f"The price is wrong {'x' * 50_000}" == run["ticket"]["title"]


def test_keys_in_the_head_of_a_note_that_nobody_reads_are_named(tmp_path: Path) -> None:
    head = "---\ntitle: Mugs\ntag: till\nowner: ops\n---\nA mug costs 3.\n"
    typed = line(tmp_path, {".github/ticketsmith/notes/mugs.md": head})

    listed = typed.type("memory", "notes", *typed.at)
    as_json = typed.type("memory", "notes", *typed.at, "--json")

    told = "mugs.md · keys that nobody reads: tag (`tags`?), owner"
    assert listed.stdout.splitlines() == ["mugs.md · Mugs · 14 characters", told]
    assert (len(json.loads(as_json.stdout)), as_json.stderr.splitlines()) == (1, [told])


def test_memory_is_looked_at_before_a_run(typed: Line) -> None:
    typed.ticket.write_text("# The price of mugs is wrong since spring\n\nIt says 1.\n")
    notes = typed.json("memory", "notes", *typed.at)
    recalled = typed.type("memory", "recall", typed.ticket, *typed.at, "--entry-point", "develop").stdout
    why = typed.json("memory", "why", typed.ticket, *typed.at)
    told = typed.type("memory", "why", typed.ticket, *typed.at).stdout

    assert [(note["note"], note["heading"]) for note in notes] == [("price.md", "Price")]
    assert "price.md" in typed.type("memory", "notes", *typed.at).stdout
    assert recalled.splitlines()[1:3] == ["[ticketsmith:tuning] 1 of 1", "| - Prices are whole cents."]
    assert why["context"]["entry_point"] == "diagnose"
    assert why["context"]["notes"]["shown"][0]["id"].startswith("price.md")
    assert "Notes looked for: price, mug" in told
    assert (
        "No lessons yet: a run writes them when it ends, and a patch when `runs verify`"
        in typed.type("memory", "lessons", *typed.at).stdout
    )


def test_notes_that_no_prompt_will_hold_are_named(tmp_path: Path) -> None:
    folder = ".github/ticketsmith/notes"
    texts = {"old": "---\nstatus: retired\n---\n# Old\nGone.", "empty": "", "new": "# New\nHere."}
    typed = line(tmp_path, {f"{folder}/{name}.md": text for name, text in texts.items()})

    told = typed.type("memory", "notes", *typed.at).stdout.splitlines()

    unread = "not read: it is retired, empty or binary"
    assert [one.strip() for one in told] == [
        "new.md · New · 11 characters",
        f"empty.md · {unread}",
        f"old.md · {unread}",
    ]


def test_what_memory_would_say_is_what_a_run_reads(tmp_path: Path) -> None:
    typed, _ = held(tmp_path)

    foreseen = typed.type("memory", "recall", typed.ticket, *typed.at, "--entry-point", "triage").stdout
    typed.fix()

    newest = typed.runs()[0]
    events = typed.json("runs", "show", newest["id"])["events"]
    (read,) = [one["fact"]["section"] for one in events if one["kind"] == "asked" and one["step"] == "triage"]
    assert foreseen == read
    assert "cause check" in read


def test_lists_are_empty_at_first(typed: Line) -> None:
    assert typed.runs() == []
    assert typed.json("memory", "lessons", *typed.at) == []
    assert typed.type("runs", "list").stdout == "No runs. `ticketsmith fix TICKET` begins one.\n"


def test_the_terminals_are_those_of_the_process(capsys: pytest.CaptureFixture[str]) -> None:
    err().line("here")

    assert capsys.readouterr().err == "here\n"


# --- Interrupted ---------------------------------------------------------------------------------------------------


def process(typed: Line, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment of a process that a person would begin so."""
    given = {name: text for name, text in typed.environment.items() if text}
    code = f"{HEARS_INTERRUPTS}; from bot.cli import main; main()"
    return [sys.executable, "-c", code, *arguments], {**os.environ, **given, "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["interrupt", "termination"]
)
def test_an_interrupt_leaves_a_run_that_goes_on(
    typed: Line, tmp_path: Path, number: signal.Signals, status: int
) -> None:
    ended, told = interrupted(typed, tmp_path / "fix", number, "fix", str(typed.ticket), *typed.at)

    (run,) = typed.runs()
    assert ended == status
    assert "Traceback" not in told
    assert f"runs retry {run['id']}" in told
    assert run["state"] == "working"

    again, told = interrupted(typed, tmp_path / "retry", number, "runs", "retry", run["id"])

    assert (again, f"runs retry {run['id']}" in told) == (status, True)
    assert typed.type("runs", "retry", run["id"], *typed.by()).exit_code == 0


def interrupted(typed: Line, flag: Path, number: signal.Signals, *arguments: str) -> tuple[int, str]:
    """How a process ends that gets the signal while its agent is asked, and what it says."""
    flag.parent.chmod(0o777)
    begin, environment = process(typed, *arguments, *typed.by(f"touch {flag}; sleep 50; exit 1"))
    working = subprocess.Popen(begin, env=environment, cwd=flag.parent, stderr=subprocess.PIPE, text=True)
    try:
        end = time.monotonic() + 60
        while not flag.exists() and time.monotonic() < end:
            time.sleep(0.05)
        working.send_signal(number)
        _, told = working.communicate(timeout=60)
    finally:
        working.kill()
    return working.returncode, told


def test_a_run_whose_progress_no_disk_takes_comes_to_its_end(typed: Line, tmp_path: Path) -> None:
    begin, environment = process(typed, "fix", str(typed.ticket), *typed.at, *typed.by())
    environment.pop("PYTHONUNBUFFERED", None)  # lines that are held back would be lost as the process ends

    with open("/dev/full", "w") as full:
        done = subprocess.run(begin, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=full, text=True)
        refused = subprocess.run(begin, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=full, text=True)

    (run,) = typed.runs()
    assert (done.returncode, run["state"]) == (0, "published")
    assert f"Published: branch {run['branch']}\n" in done.stdout
    assert refused.returncode == 2  # as where its sentence can be read


def test_an_interrupt_elsewhere_is_told_in_one_word(typed: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bot.runs.RunStore.list", interrupted)  # a person presses Ctrl-C while it works

    done = typed.type("runs", "list")

    assert (done.exit_code, done.stderr) == (130, "Interrupted.\n")


def test_an_interrupt_while_the_program_loads_is_told_in_one_word(typed: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def interrupted(name: str, *more: Any, **named: Any) -> Any:
        if name == "bot.leaving":
            raise KeyboardInterrupt
        return load(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", interrupted)

    done = typed.type("runs", "list")

    assert (done.exit_code, done.stderr) == (130, "Interrupted.\n")


@pytest.mark.parametrize("arguments", [[], ["--help"], ["fix", "--help"], ["runs", "--help"], ["memory", "--help"]])
def test_help_is_there(arguments: list[str], typed: Line) -> None:
    done = typed.type(*arguments)

    assert "Usage: ticketsmith" in done.output


def test_an_unknown_sandbox_is_told_with_those_that_there_are(typed: Line) -> None:
    done = typed.type("fix", typed.ticket, *typed.at, "--sandbox", "none")

    assert done.exit_code == 2
    assert "'none' is not one of 'auto', 'bubblewrap', 'landlock', 'plain'." in complaint(done)


def test_an_unknown_command_is_refused(typed: Line) -> None:
    done = typed.type("fxi")

    assert (done.exit_code, "No such command 'fxi'" in complaint(done)) == (2, True)
