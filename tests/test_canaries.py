"""No secret comes out of any place where text leaves, however it is hidden; `tests/test_sinks.py` names them."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from bot.config import Settings
from bot.forge.types import RepositoryRef
from bot.last_words import traceback_of
from bot.log import open_log
from bot.outbox.errors import Leaks
from bot.outbox.words import Words
from bot.progress import Progress
from bot.record import read_record, record_json
from bot.run import Run
from bot.show import run_text
from bot.terminal import Terminal
from memory.scrub import Scrubber
from memory.types import TicketId
from stages.agents.loop import Loop
from stages.prompt import EntryPoint
from stages.ticket import Comment
from tests.bot.kit import TICKET, Bed, Script, ScriptedApp, bed, told, writes
from tests.fakes import RecordingJournal, ScriptedModel, TreeInMemory, budget, failed, prompt, report, says

CANARY: Final = "h7Kd02mPq9/xY3z+Lw5"
FORMS: Final = {
    "raw": CANARY,
    "cut": CANARY[:14],
    "reversed": CANARY[::-1],
    "spaced": " ".join(CANARY),
    "hex": CANARY.encode().hex(),
    "base64": base64.b64encode(CANARY.encode()).decode(),
    "base64 at one": base64.b64encode(f":{CANARY}".encode()).decode()[3:],
    "base64 at two": base64.b64encode(f"::{CANARY}".encode()).decode()[3:],
    "url": "".join(f"%{ord(character):02X}" for character in CANARY),
    "json": "".join(f"\\u{ord(character):04x}" for character in CANARY),
}
"""What must be found nowhere, each as it is written."""


def said_in(text: str) -> list[str]:
    return [name for name, form in FORMS.items() if form in text]


@pytest.fixture(scope="module")
def commands() -> Iterator[list[str]]:
    """The argument lists of all processes that are started here."""
    seen: list[str] = []
    watching = [True]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and event in ("subprocess.Popen", "os.posix_spawn", "os.exec"):
            seen.append(repr(arguments[:2]))

    sys.addaudithook(hook)
    yield seen
    watching.clear()


class Told:
    """A run whose every foreign word holds the canary, in one form after the other."""

    def __init__(self, folder: Path, *hidden: str) -> None:
        self.screen = io.StringIO()
        self.ground, self.script = self._ground(folder, hidden), self._script()
        self.app: ScriptedApp = self.ground.app(self.script)
        text = "\n".join(FORMS.values())
        ticket = replace(
            TICKET,
            id=TicketId("local:canary"),
            title=f"Price {CANARY}",
            body=text,
            comments=(Comment(author="mira", text=text),),
        )
        opened = self.app.open_run(ticket, self.ground.repository, self.ground.repository.resolve())
        self.app.requeue(opened, text, CANARY)
        self.run: Run = self.app.pursue(opened, Progress(Terminal(self.screen)))
        for verbose in (False, True):
            self.screen.write(run_text(read_record(self.app.book, self.run.id), verbose=verbose))
        self.screen.write(record_json(read_record(self.app.book, self.run.id)))

    @staticmethod
    def _ground(folder: Path, hidden: tuple[str, ...]) -> Bed:
        text = "\n".join(FORMS.values())
        files = {
            "trace.txt": text,
            ".github/ticketsmith/tuning.md": f"- Say {CANARY}.\n- Say {FORMS['base64']}.\n",
            ".github/ticketsmith/notes/price.md": f"# Price\n\nThe price is wrong.\n\n{text}\n",
        }
        return bed(folder, files, hidden=hidden, attempts=2)

    @staticmethod
    def _script() -> Script:
        text = "\n".join(FORMS.values())
        return Script.of(
            triage={"ownership": "ours", "reason": text},
            diagnose={"cause": text, "files": ["price.txt"], "reproduction": "price"},
            develop=writes("key.txt", text, summary=text),  # held: it leaks
            refix=writes("price.txt", "3\n", summary=text),
            review={"findings": []},
            summarise={"text": text},
        )

    def files(self) -> dict[str, str]:
        """What the program left on this machine, as text."""
        paths = [path for path in self.ground.home.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.ground.home)): path.read_bytes().decode("latin-1") for path in paths}


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory, commands: list[str]) -> Told:
    return Told(tmp_path_factory.mktemp("canary"), CANARY)


def test_sec_17_where_the_canary_is_no_secret_it_is_everywhere(tmp_path: Path) -> None:
    control = Told(tmp_path)

    shown = {
        "files": "".join(control.files().values()),
        "screen": control.screen.getvalue(),
        "prompts": "".join(prompt.text for prompt in control.script.prompts),
    }

    assert {name: len(said_in(text)) > 5 for name, text in shown.items()} == dict.fromkeys(shown, True)


def test_sec_17_the_patch_that_holds_the_canary_was_held_and_the_run_went_on(canary: Told) -> None:
    assert told(canary.app, canary.run)[0] == "hold: leak"
    assert len(canary.script.prompts) >= 5


def test_r64_no_file_and_no_table_holds_the_canary(canary: Told) -> None:
    left = {path: found for path, text in canary.files().items() if (found := said_in(text))}

    assert any(path.endswith(".sqlite") for path in canary.files())
    assert left == {}


def test_r64_no_prompt_holds_the_canary(canary: Told) -> None:
    told_ = {prompt.entry_point: found for prompt in canary.script.prompts if (found := said_in(prompt.text))}

    assert told_ == {}
    assert {EntryPoint.TRIAGE, EntryPoint.DIAGNOSE, EntryPoint.REFIX} <= set(canary.script.asked)


def test_r64_no_lesson_holds_the_canary(canary: Told) -> None:
    lessons = canary.app.stores.memory.lessons(canary.run.scope)

    assert lessons
    assert said_in(repr(lessons)) == []


def test_r64_no_screen_shows_the_canary(canary: Told) -> None:
    shown = canary.screen.getvalue()

    assert "[secret]" in shown
    assert said_in(shown) == []


def test_r64_no_argument_list_holds_the_canary(canary: Told, commands: list[str]) -> None:
    assert len(commands) > 10
    assert said_in("\n".join(commands)) == []


def test_r64_no_commit_of_ours_holds_the_canary(canary: Told) -> None:
    assert canary.run.branch
    for what in ("log", "diff-tree"):
        arguments = (
            (f"{canary.run.base}..{canary.run.branch}",)
            if what == "log"
            else ("-p", canary.run.base, canary.run.branch)
        )
        assert said_in(canary.ground.git(what, *arguments)) == []


@pytest.mark.parametrize("form", FORMS)
def test_b78_no_word_to_github_holds_the_canary(form: str) -> None:
    words = Words(Scrubber((CANARY,)))
    ref = RepositoryRef(installation=1, id=2, full_name="acme/till")

    with pytest.raises(Leaks) as body:
        words.body(f"It is {FORMS[form]} now.", ref, 1, "it")
    with pytest.raises(Leaks) as line:
        words.line(f"It is {FORMS[form]} now.", "it")

    assert said_in(f"{body.value} {line.value}") == []


def break_with(text: str) -> None:
    try:
        int(text)
    except ValueError as inner:
        raise RuntimeError(f"could not: {text}") from inner


@pytest.mark.parametrize("form", FORMS)
def test_sec_17_no_line_of_the_log_holds_the_canary(form: str) -> None:
    stream = io.StringIO()
    log = open_log(Scrubber((CANARY,)).scrub, stream)

    try:
        break_with(FORMS[form])
    except RuntimeError:
        log.exception("it broke", said=FORMS[form], more={"nested": FORMS[form]})

    assert "[secret]" in stream.getvalue()
    assert said_in(json.dumps(json.loads(stream.getvalue()), ensure_ascii=False)) == []


@pytest.mark.parametrize("form", ["raw", "cut", "reversed", "spaced", "hex", "base64", "url"])
def test_sec_17_no_traceback_holds_the_canary(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", CANARY)

    try:
        break_with(FORMS[form])
    except RuntimeError as error:
        shown = traceback_of(error)

    assert "RuntimeError: could not: " in shown
    assert said_in(shown) == []


def test_sec_17_a_program_that_crashes_shows_no_secret() -> None:
    code = (
        "import sys, bot.cli as c\nc.ticketsmith = lambda **_: 1 / 0 if not sys.argv[1:] else {}[sys.argv[1]]\nc.main()"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, CANARY],
        env={**os.environ, "SHOP_TOKEN": CANARY},
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 1
    assert "KeyError" in done.stderr
    assert said_in(done.stderr) == []


def test_sec_17_no_tool_tells_a_model_the_canary() -> None:
    text = "\n".join(FORMS.values())
    tree = TreeInMemory({"a.txt": text}, lambda *_: report("pytest", failed(text=text, message=text), output=text))
    model = ScriptedModel(
        says(("read", {"path": "a.txt"}), ("search", {"text": "h7"}), ("run", {"check": "pytest"})),
        says(("finish", {"quote": "q", "cause": "c", "files": [], "reproduction": "pytest"})),
    )
    loop = Loop(RecordingJournal(), model.model(), clean=Scrubber((CANARY,)).without_values)

    loop.ask(prompt(), tree, budget(), lambda answer: answer)

    heard = "\n".join(message["content"] for message in model.requests[-1] if message["role"] == "tool")
    assert "[secret]" in heard
    assert said_in(heard) == []


def test_the_settings_themselves_show_no_secret() -> None:
    settings = Settings(home=Path("/h"), database=Path("/d"), model_key=CANARY, hidden=(CANARY,))

    assert CANARY not in repr(settings)
    assert CANARY in settings.secrets()
