"""Several projects in one repository: the checks of each run with the environment that lies nearest to its folder."""

from __future__ import annotations

import shutil
import sys
import venv
from collections.abc import Mapping
from functools import partial
from importlib.metadata import distribution
from pathlib import Path

import pytest

from bot.baseline import take
from bot.dependencies import Dependencies
from bot.facts import Decided
from bot.interpreter import interpreter
from bot.repository_config import RepositoryConfig
from bot.run import Run, RunState
from memory.types import CheckId
from stages.checks import Checks
from stages.installed import Installed, Kept, Note
from stages.installer import Installer
from stages.report import Check, CheckKind
from stages.sandbox import Level
from stages.sandbox.plain import Plain
from stages.workspace import Workspaces
from tests.bot.kit import Bed, Script, ScriptedApp, bed, facts_of, writes
from tests.stages.repositories import put
from tests.stages.sandbox.ways import Way, usable

NEEDED = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def project(name: str, price: int) -> dict[str, str]:
    """A project whose test needs a module that lies in no environment but its own."""
    return {
        f"packages/{name}/setup.py": "",
        f"packages/{name}/till.py": f"PRICE = {price}\n",
        f"packages/{name}/tests/test_till.py": (
            f"import only_{name}\nimport till\n\n\ndef test_price():\n    assert till.PRICE == only_{name}.PRICE\n"
        ),
    }


def environment(folder: Path, modules: Mapping[str, str]) -> Path:
    """The folder of packages of a new virtual environment that holds these modules."""
    venv.create(folder, symlinks=True)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    put(packages, modules)
    return packages


def install_pytest(packages: Path) -> None:
    """Copied with the times of its files, so that what was compiled of them counts: each run of pytest reads it."""
    for one in map(distribution, NEEDED):
        for top in {file.parts[0] for file in one.files or ()} - {".."}:
            source = Path(str(one.locate_file(top)))
            if source.is_dir():
                shutil.copytree(source, packages / top, dirs_exist_ok=True)
            else:
                shutil.copy2(source, packages / top)


def ground(folder: Path, settings: str = "") -> Bed:
    """Two projects, of which the first has a wrong price; each with its environment."""
    made = bed(folder, {".github/ticketsmith.toml": settings, **project("a", 1), **project("b", 3)})
    for name in ("a", "b"):
        environment(made.repository.folder / "packages" / name / ".venv", {f"only_{name}.py": "PRICE = 3\n"})
    return made


def script(reproduction: str) -> Script:
    found = {"cause": "The price is wrong.", "files": ["packages/a/till.py"], "reproduction": reproduction}
    return Script.of(diagnose=found, develop=writes("packages/a/till.py", "PRICE = 3\n"))


def left_out(app: ScriptedApp, run: Run) -> list[str]:
    return [
        fact.because for fact in facts_of(app, run) if isinstance(fact, Decided) and fact.what == "a check is left out"
    ]


A_TEST = "packages/a/tests/test_till.py::test_price"
CONFIGURED = "\n".join(
    f"""
[checks.{name}]
folder = "packages/{name}"
command = ["python", "-c", "import only_{name}, till; assert till.PRICE == only_{name}.PRICE"]
"""
    for name in ("a", "b")
)


def test_the_tests_of_two_projects_run_with_an_environment_each(tmp_path: Path) -> None:
    usable(Way(level=Level.BUBBLEWRAP))
    made = ground(tmp_path)
    for packages in made.repository.folder.glob("packages/*/.venv/lib/python*/site-packages"):
        install_pytest(packages)
    app = made.app(script(A_TEST), sandbox="bubblewrap")

    run = made.fix(app)

    assert (run.state, run.attempt) == (RunState.PUBLISHED, 1), run.park_reason
    assert left_out(app, run) == []


def test_commands_in_two_folders_run_with_an_environment_each_and_write_to_none(tmp_path: Path) -> None:
    usable(Way(level=Level.BUBBLEWRAP))
    spoils = "import only_b; open(only_b.__file__, 'w').write('PRICE = 4')"
    settings = f'{CONFIGURED}[checks.spoils]\nfolder = "packages/b"\ncommand = ["python", "-c", "{spoils}"]\n'
    made = ground(tmp_path, settings)

    run = made.fix(made.app(script("a"), sandbox="bubblewrap"))

    assert (run.state, run.attempt) == (RunState.PUBLISHED, 1), run.park_reason
    (module,) = made.repository.folder.glob("packages/b/.venv/lib/python*/site-packages/only_b.py")
    assert module.read_text() == "PRICE = 3\n"
    assert not list(module.parent.glob("__pycache__"))


def test_an_environment_that_cannot_be_used_leaves_out_the_checks_of_its_folder(tmp_path: Path) -> None:
    made = bed(tmp_path, {**project("a", 3), "packages/a/only_a.py": "PRICE = 3\n", **project("b", 3)})
    environment(made.repository.folder / "packages" / "b" / ".venv", {"only_b.py": "PRICE = 3\n"})
    foreign(made)
    runner = Checks(Plain(), partial(interpreter, RepositoryConfig(), made.repository))

    base = take(Workspaces(tmp_path / "work", runner).make(made.repository, made.repository.resolve(), "one"), bool)

    assert [check.name for check in base.checks] == ["pytest-packages-a"]
    why, rest = base.left_out
    assert rest.startswith("the check pytest cannot run here: the module only_b is not installed.")
    assert why.startswith("pytest-packages-b: The interpreter packages/b/.venv/bin/python comes with the repository")
    assert why.endswith("take packages/b/.venv/bin/python out of git and make the environment here.")


def test_a_check_that_was_asked_for_waits_for_its_environment(tmp_path: Path) -> None:
    made = ground(tmp_path, CONFIGURED)
    foreign(made)

    run = made.fix(made.app(script("a")))

    assert run.state is RunState.PARKED
    assert run.park_reason.startswith("the check b cannot run here: The interpreter packages/b/.venv/bin/python comes")


def test_an_environment_that_cannot_be_used_is_nothing_to_a_run_without_checks_there(tmp_path: Path) -> None:
    made = ground(tmp_path, CONFIGURED.partition("[checks.b]")[0])
    foreign(made)
    app = made.app(script("a"))

    run = made.fix(app)

    assert run.state is RunState.PUBLISHED, run.park_reason
    assert left_out(app, run) == []


def foreign(made: Bed) -> None:
    """The environment of the second project is the repository's own."""
    made.git("add", "--force", "packages/b/.venv/bin/python")
    made.git("commit", "--quiet", "-m", "environment")


# --- Installed for the run -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("named", "taken"), [(False, "env"), (True, "own")])
def test_what_was_installed_for_the_run_goes_before_the_environment_of_a_folder(
    named: bool, taken: str, tmp_path: Path
) -> None:
    own, base = tmp_path / "own", Path(sys.executable)
    environment(own, {})
    environment(tmp_path / "kept" / "env", {"pytest/__init__.py": ""})
    note = Note(step="pip install", reached=(), seconds=1.0, digest="1")
    installer = Installer(folder=tmp_path, sandbox=Plain(), hosts=(), python=base, owner="local")
    dependencies = Dependencies(
        installer=installer, sandbox=Plain(), python=lambda _: own / "bin" / "python", named=named, home=tmp_path
    )
    (tmp_path / "tree" / "packages").mkdir(parents=True)
    shows = ("python", "-c", "import sys; print(sys.prefix)")
    check = Check(name=CheckId("shows"), kind=CheckKind.COMMAND, folder="packages", arguments=shows)

    installed = Installed(kept=(Kept(folder=tmp_path / "kept", note=note),))
    report = dependencies.checks(installed).run(check, tmp_path / "tree")

    assert Path(report.output.strip()).name == taken
