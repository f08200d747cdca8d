"""Commands that say how their tests ended: exit status and results count together, and neither alone."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memory.types import CheckId
from stages.checks import Checks, Wish
from stages.detection import detect
from stages.errors import ParkCause, Parked
from stages.report import Check, CheckKind, CheckReport
from stages.result_files import ResultFiles
from stages.sandbox import Level
from stages.sandbox.plain import Plain
from stages.tests_of_commands import only
from stages.toolchains import Toolchains
from tests.stages.repositories import checks, put
from tests.stages.sandbox.ways import Way, usable

JUNIT = Check(
    name=CheckId("unit"),
    kind=CheckKind.JUNIT,
    arguments=(sys.executable, "-B", "run.py"),
    results="out/**/*.xml",
    timeout_seconds=60.0,
)
WRITES = """
    import pathlib, sys
    def write(name, *cases, wrapped="testsuite"):
        path = pathlib.Path("out") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<{wrapped}>" + "".join(cases) + f"</{wrapped}>")
    GOOD = '<testcase classname="c" name="good"/>'
    BAD = '<testcase classname="c" name="bad"><failure message="3 is not 4"/></testcase>'
"""


def tree(folder: Path, script: str) -> Path:
    put(folder / "tree", {"run.py": textwrap.dedent(WRITES) + textwrap.dedent(script)})
    return folder / "tree"


def run(tree: Path, check: Check = JUNIT, wish: Wish | None = None) -> CheckReport:
    return checks().run(check, tree, wish)


def ended(report: CheckReport) -> dict[str, str]:
    return {outcome.id: outcome.outcome.value for outcome in report.outcomes}


def test_results_of_all_files_count_and_nothing_of_them_stays(tmp_path: Path) -> None:
    made = tree(tmp_path, "write('a.xml', GOOD); write('deep/er/b.xml', BAD); sys.exit(1)")

    report = run(made)

    assert report.complete
    assert ended(report) == {"c::good": "passed", "c::bad": "failed"}
    assert report.failing == ("c::bad",)
    assert not list((made / "out").rglob("*.xml"))


def test_exit_0_with_a_failure_in_the_file_is_a_failure(tmp_path: Path) -> None:
    report = run(tree(tmp_path, "write('a.xml', GOOD, BAD)"))

    assert (report.exit_status, report.passed, report.failing) == (0, False, ("c::bad",))


def test_b63_exit_1_with_99_passed_in_print_and_file_is_a_failure(tmp_path: Path) -> None:
    report = run(tree(tmp_path, "write('a.xml', GOOD); print('===== 99 passed ====='); sys.exit(1)"))

    assert (report.passed, report.failing) == (False, ("unit",))


def test_exit_0_and_only_good_results_pass(tmp_path: Path) -> None:
    assert run(tree(tmp_path, "write('a.xml', GOOD)")).passed


INCOMPLETE = {
    "no file": "print('99 passed')",
    "no case": "write('a.xml')",
    "cut file": "write('a.xml', GOOD); open('out/b.xml', 'w').write('<testsuite>')",
    "bomb": "write('a.xml', GOOD); open('out/b.xml', 'w').write('<!DOCTYPE a [<!ENTITY b \"c\">]><testsuite/>')",
    "another root": "write('a.xml', GOOD, wrapped='html')",
    "crash": "import os, signal; write('a.xml', GOOD); os.kill(os.getpid(), signal.SIGSEGV)",
    "link": ("import os; write('r', GOOD); os.rename('out/r', 'r.xml'); os.symlink('../r.xml', 'out/r.xml')"),
    "second name": "import os; write('real.xml', GOOD); os.rename('out/real.xml', 'r'); os.link('r', 'out/r.xml')",
}


@pytest.mark.parametrize("script", INCOMPLETE.values(), ids=INCOMPLETE.keys())
def test_b62_what_cannot_be_read_whole_makes_the_run_incomplete(tmp_path: Path, script: str) -> None:
    report = run(tree(tmp_path, script))

    assert not report.complete
    assert not report.passed


LOUD = "print('said ' * 1_000)"
WAYS_OUT = {
    "document type": (
        f"{LOUD}; write('a.xml'); open('out/b.xml', 'w').write('<!DOCTYPE a [<!ENTITY b \"c\">]><testsuite/>')",
        (
            "out/b.xml: it has a <!DOCTYPE>, which results never need and which may hide a bomb: "
            "have the check write XML without one"
        ),
    ),
    "a large file": (
        f"{LOUD}; write('a.xml', 'x' * (32 * 2**20))",
        "out/a.xml is larger than 32 MiB: have the check write smaller ones, without what the tests print",
    ),
    "large files": (
        f"{LOUD}; [write(f'{{n}}.xml', 'x' * (22 * 2**20)) for n in range(3)]",
        "the check wrote more than 64 MiB of results: have the check write smaller ones, without what the tests print",
    ),
}


@pytest.mark.parametrize(("script", "told"), WAYS_OUT.values(), ids=WAYS_OUT.keys())
def test_b62_results_that_are_refused_are_told_with_the_way_out(tmp_path: Path, script: str, told: str) -> None:
    report = run(tree(tmp_path, script))

    assert not report.complete
    assert report.output.endswith(f"\nthe results of unit cannot be used: {told}")  # people see the end of it


def test_results_in_the_json_of_jest_count_as_well(tmp_path: Path) -> None:
    told = {"success": True, "testResults": [{"name": "a.js", "status": "passed", "assertionResults": []}]}
    told["testResults"][0]["assertionResults"] = [{"title": "adds", "status": "passed"}]  # type: ignore[index]
    made = tree(tmp_path, f"open('r.json', 'w').write({json.dumps(told)!r})")
    check = replace(JUNIT, kind=CheckKind.JEST, results="r.json")

    assert ended(run(made, check)) == {"a.js::adds": "passed"}
    assert not run(tree(tmp_path / "cut", "open('r.json', 'w').write('{')"), check).complete


@pytest.mark.parametrize(
    ("tests", "arguments"),
    [
        ([], ""),
        (["m/a::TestA", "m/b::TestB/one"], "-run ^(TestA|TestB)$ "),
        (["m/a"], ""),
        (["m/a::Test A|.*"], ""),
    ],
)
def test_go_is_asked_for_chosen_tests_by_their_names(tests: list[str], arguments: str) -> None:
    check = Check(name=CheckId("go"), kind=CheckKind.GO, arguments=("go", "test", "-json", "./..."))

    assert " ".join(only(check, [CheckId(test) for test in tests])) == f"go test {arguments}-json ./..."


def test_a_file_that_was_there_before_is_no_result_and_comes_back(tmp_path: Path) -> None:
    made = tree(tmp_path, "print('nothing')")
    put(made, {"out/old.xml": "<testsuite><testcase name='old'/></testsuite>"})

    report = run(made)

    assert not report.complete
    assert (made / "out/old.xml").read_bytes().startswith(b"<testsuite>")


def test_b86_a_test_that_writes_its_own_result_beside_the_failing_one_does_not_pass(tmp_path: Path) -> None:
    forged = """<testcase classname="c" name="bad"/>"""
    report = run(tree(tmp_path, f"write('a.xml', BAD); write('z.xml', GOOD, {forged!r}); sys.exit(0)"))

    assert ended(report)["c::bad"] == "failed"
    assert not report.passed


def test_asking_for_one_test_tells_of_that_alone(tmp_path: Path) -> None:
    made = tree(tmp_path, "write('a.xml', GOOD, BAD); sys.exit(1)")

    good = run(made, wish=Wish(tests=[CheckId("c::good")]))
    bad = run(made, wish=Wish(tests=[CheckId("c::bad")]))
    gone = run(made, wish=Wish(tests=[CheckId("c::gone")]))

    assert (good.passed, list(ended(good))) == (True, ["c::good"])
    assert (bad.exit_status, bad.failing, bad.outcomes[0].message) == (1, ("c::bad",), "3 is not 4")
    assert not gone.complete


def test_ids_and_results_of_a_check_in_a_folder_belong_to_it(tmp_path: Path) -> None:
    made = tree(tmp_path, "")
    put(made / "web", {"run.py": textwrap.dedent(WRITES) + "write('a.xml', GOOD)"})

    report = run(made, replace(JUNIT, folder="web"))

    assert ended(report) == {"web/c::good": "passed"}


def test_variables_of_a_check_and_those_for_every_command_are_set(tmp_path: Path) -> None:
    script = "import os; name = os.environ['CI'] + os.environ['MINE']; write('a.xml', f'<testcase name=\"{name}\"/>')"

    report = run(tree(tmp_path, script), replace(JUNIT, environment=(("MINE", "yes"),)))

    assert ended(report) == {"trueyes": "passed"}


def test_a_toolchain_that_is_not_here_parks_with_the_way_out(tmp_path: Path) -> None:
    check = Check(name=CheckId("cargo"), kind=CheckKind.CARGO, arguments=("cargo", "test"))
    nowhere = Checks(Plain(), Path(sys.executable), Toolchains(path=str(tmp_path)))

    with pytest.raises(Parked, match="needs the toolchain of rust, which is not on this machine: install it") as parked:
        nowhere.run(check, tree(tmp_path, ""))

    assert parked.value.cause is ParkCause.ENVIRONMENT


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.xml", "a.xml", True),
        ("*.xml", "d/a.xml", False),
        ("**/*.xml", "a.xml", True),
        ("**/*.xml", "d/e/a.xml", True),
        ("out/**/r-?.xml", "out/r-1.xml", True),
        ("out/**/r-?.xml", "other/r-1.xml", False),
        ("a/**/b/**/*.xml", "a/x/b/y/z/c.xml", True),
        ("**/target/*/T.xml", "m/target/r/T.xml", True),
        ("**/target/*/T.xml", "m/target/T.xml", False),
        ("out/**", "out/a.xml", False),
    ],
)
def test_patterns_name_files_by_folders_and_names(tmp_path: Path, pattern: str, path: str, fits: bool) -> None:
    put(tmp_path, {path: "x"})
    files = ResultFiles(tmp_path, ".", pattern)

    if fits:
        assert list(files.read()) == [path]
    else:
        with pytest.raises(Exception, match="no file of results"):
            files.read()


# --- real runners ----------------------------------------------------------------------------------------------------


def skip_without(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not on this machine")


def real(folder: Path, files: dict[str, str]) -> CheckReport:
    put(folder, files)
    (check,) = detect(files, lambda path: files[path].encode())
    walled = usable(Way(level=Level.BUBBLEWRAP)).sandbox()
    return Checks(walled, Path(sys.executable), Toolchains(home=Path.home())).run(check, folder)


def test_node_runs_its_own_tests(tmp_path: Path) -> None:
    skip_without("node")
    script = """
        import test from 'node:test'; import assert from 'node:assert';
        test('adds', () => { assert.equal(1 + 1, 2) });
        test('sums', () => { console.log('<99 passed>'); assert.equal(1, 2) });
        test('later', { skip: true }, () => {});
    """
    files = {
        "package.json": json.dumps({"scripts": {"test": "node --test"}}),
        "test/a.test.mjs": textwrap.dedent(script),
    }

    report = real(tmp_path / "tree", files)

    assert ended(report) == {"adds": "passed", "sums": "failed", "later": "skipped"}
    assert (report.exit_status, report.complete) == (1, True)


@pytest.mark.parametrize("change", [str, lambda text: text.replace("a + b", "a - b")], ids=["green", "red"])
def test_cargo_runs_unit_and_doc_tests(tmp_path: Path, change: Callable[[str], str]) -> None:
    skip_without("cargo")
    source = """
        /// ```
        /// assert_eq!(shop::add(0, 0), 0);
        /// ```
        pub fn add(a: i32, b: i32) -> i32 { a + b }
        #[test]
        fn adds() { assert_eq!(add(1, 2), 3); }
        #[test]
        #[ignore]
        fn later() {}
    """
    files = {
        "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": change(textwrap.dedent(source)),
    }

    report = real(tmp_path / "tree", files)

    green = change("a + b") == "a + b"
    assert ended(report) == {
        "shop::adds": "passed" if green else "failed",
        "shop::later": "skipped",
        "doc shop::src/lib.rs - add": "passed",
    }
    assert (report.complete, report.passed) == (True, green)


def test_go_runs_packages_and_one_that_cannot_be_built_fails(tmp_path: Path) -> None:
    skip_without("go")
    files = {
        "go.mod": "module m\n\ngo 1.18\n",
        "a/a_test.go": (
            'package a\nimport "testing"\nfunc TestA(t *testing.T) { t.Run("one", func(t *testing.T) {}) }\n'
        ),
        "b/b_test.go": "package b\nfunc broken( {\n",
    }

    report = real(tmp_path / "tree", files)

    assert ended(report) == {"m/a::TestA/one": "passed", "m/a::TestA": "passed", "m/b": "failed"}
