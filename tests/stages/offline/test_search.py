"""The search, from the prompt to the finished edit, on small programs."""

from __future__ import annotations

from difflib import SequenceMatcher
from textwrap import dedent

import pytest

from stages.patch import edit_digest
from tests.stages.offline.playground import Played, Playground, play

SECTION = """\
[ticketsmith:context v1] x
[ticketsmith:tuning] 0 of 0
[ticketsmith:lessons] {count}
{lessons}[ticketsmith:memory] 0 of 0 by per_word, 0 notes
[ticketsmith:end]
"""


def prompt(title: str, *blocks: str, lessons: str = "", test: str = "tests/test_work.py::test_work") -> str:
    count = "1 of 1" if lessons else "0 of 0"
    section = SECTION.format(count=count, lessons=lessons)
    rest = "\n\n".join((f"Reproduction: check pytest, test {test}", *blocks))
    return f"{section}# {title}: do it.\n\nTicket:\n| It is wrong.\n\nChecks: pytest\n\n{rest}"


def ground(work: str, tests: str, **more: str) -> Playground:
    files = {"src/work.py": dedent(work), "tests/test_work.py": "from work import *\n\n\n" + dedent(tests)}
    return Playground(files | more)


UNIQUE = """\
def unique(items):
    seen = set()
    out = []
    for item in items:
        if item not in seen:
            out.append(item)
    return out
"""
TABLE = """\
KNOWN = {}


def known(name, number):
    KNOWN[name] = number + 2


known('a', 1)


def value(name):
    return KNOWN[name]
"""
# A defect, what its line must become, and tests that say so.
DEFECTS = {
    "comparison": (
        "def grown_up(age):\n    return age > 18\n",
        "def grown_up(age):\n    return age >= 18\n",
        "def test_work():\n    assert grown_up(18)\n\ndef test_young():\n    assert not grown_up(17)\n",
    ),
    "boolean": (
        "def both(a, b):\n    return a or b\n",
        "def both(a, b):\n    return a and b\n",
        "def test_work():\n    assert not both(True, False)\n\ndef test_all():\n    assert both(1, 1)\n",
    ),
    "arithmetic": (
        "def net(price, tax):\n    return price + tax\n",
        "def net(price, tax):\n    return price - tax\n",
        "def test_work():\n    assert net(10, 2) == 8\n\ndef test_none():\n    assert net(10, 0) == 10\n",
    ),
    "off by one": (
        "def numbers(n):\n    return [k for k in range(1, n)]\n",
        "def numbers(n):\n    return [k for k in range(1, n + 1)]\n",
        "def test_work():\n    assert numbers(3) == [1, 2, 3]\n",
    ),
    "swapped arguments": (
        "def share(part, whole):\n    return part / whole\n\n\ndef half(a, b):\n    return share(b, a)\n",
        "def share(part, whole):\n    return part / whole\n\n\ndef half(a, b):\n    return share(a, b)\n",
        "def test_work():\n    assert half(1, 2) == 0.5\n\ndef test_share():\n    assert share(1, 4) == 0.25\n",
    ),
    "wrong name": (
        "def area(width, height):\n    size = width * width\n    return size\n",
        "def area(width, height):\n    size = width * height\n    return size\n",
        "def test_work():\n    assert area(2, 3) == 6\n\ndef test_square():\n    assert area(2, 2) == 4\n",
    ),
    "constant at import": (
        "RATE = 30\n\n\ndef tax(price):\n    return price * RATE / 100\n",
        "RATE = 20\n\n\ndef tax(price):\n    return price * RATE / 100\n",
        "def test_work():\n    assert tax(100) == 20\n",
    ),
    "function called at import": (TABLE, TABLE.replace("+ 2", "+ 1"), "def test_work():\n    assert value('a') == 2\n"),
    "endless loop": (
        "def drain(queue):\n    out = []\n    while True:\n        out.append(queue.pop())\n    return out\n",
        "def drain(queue):\n    out = []\n    while queue:\n        out.append(queue.pop())\n    return out\n",
        "def test_work():\n    assert drain([1, 2]) == [2, 1]\n",
    ),
    "missing guard": (
        "def mean(numbers):\n    return sum(numbers) / len(numbers)\n",
        "def mean(numbers):\n    if not numbers:\n        return 0\n    return sum(numbers) / len(numbers)\n",
        "def test_work():\n    assert mean([]) == 0\n\ndef test_two():\n    assert mean([2, 6]) == 4\n",
    ),
    "missing statement": (
        UNIQUE,
        UNIQUE.replace("            out", "            seen.add(item)\n            out"),
        "def test_work():\n    assert unique([1, 1, 2, 2, 1]) == [1, 2]\n",
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_repaired(defect: str) -> None:
    wrong, right, tests = DEFECTS[defect]

    played = worked_through(wrong, tests)

    assert gate(played.ground) == []
    assert "test_work" in played.answer["summary"]
    assert right.count("\n") == played.ground.files["src/work.py"].count("\n")


def test_the_comments_and_the_layout_of_a_file_stay() -> None:
    wrong = "def grown_up(age):  # in years\n\n    return (age\n            > 18)  # the law\n"
    tree = ground(wrong, "def test_work():\n    assert grown_up(18)\n")

    play(prompt("Develop"), tree)

    assert tree.files["src/work.py"] == wrong.replace("> 18", ">= 18")


def test_it_gives_up_honestly_and_leaves_the_tree_as_it_was() -> None:
    wrong = "def greet(name):\n    return 'hello'\n"
    tree = ground(wrong, "def test_work():\n    assert greet('you') == chr(65) * 7\n")

    played = play(prompt("Develop"), tree, candidate_runs=25)

    assert tree.files["src/work.py"] == wrong
    assert played.answer == {
        "summary": "Not found: none of 25 small edits that were tried turned tests/test_work.py::test_work green."
    }


def test_the_lines_of_passing_tests_are_tried_last() -> None:
    work = """
        def low(n):
            return n < 10


        def high(n):
            return n < 100
        """
    tests = """
        def test_low():
            assert low(9) and not low(10)

        def test_work():
            assert high(100)
        """
    tree = ground(work, tests)

    play(prompt("Develop"), tree)

    edited = [arguments["new"] for name, arguments in tree.asked if name == "edit"]
    assert not any("10" in text and "100" not in text for text in edited)


# --- A first choice that another test refuses, and what its lesson is worth ---------------------------------------

SHIPPING = """
    FREE_FROM = 50


    def shipping(total, express):
        if total > FREE_FROM and not express:
            return 0
        if express:
            return 12
        return 5


    def label(total, express):
        return 'free' if shipping(total, express) == 0 else 'paid'
    """
SHIPPING_TESTS = """
    def test_below():
        assert shipping(49, False) == 5

    def test_express_at_fifty():
        assert shipping(50, True) == 12

    def test_label():
        assert label(80, False) == 'free'

    def test_work():
        assert shipping(50, False) == 0
    """
MEAN = """
    def mean(numbers):
        return sum(numbers) / len(numbers)


    def spread(numbers):
        return max(numbers) - mean(numbers)
    """
# Taking the division away answers the ticket, and is wrong.
MEAN_TESTS = """
    def test_two():
        assert mean([2, 6]) == 4

    def test_spread():
        assert spread([2, 6, 7]) == 2

    def test_work():
        assert mean([]) == 0
    """


def gate(tree: Playground) -> list[str]:
    return [test for test in tree.tests() if tree.run_test(test).error is not None]


def edits(played: Played, work: str) -> list[str]:
    """The edits of what stands in the tree, as holds and lessons write them."""
    before, after = dedent(work).split("\n"), played.ground.files["src/work.py"].split("\n")
    return [
        f"src/work.py:{i1 + 1} #{edit_digest([*(f'-{x}' for x in before[i1:i2]), *(f'+{x}' for x in after[j1:j2])])}"
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def held(played: Played, work: str, attempt: int = 1) -> str:
    """The block of a prompt that says what the gate held."""
    lines = [f"| failed {test}" for test in gate(played.ground)] + [f"| edit {edit}" for edit in edits(played, work)]
    return "\n".join([f"Held: at the gate, attempt {attempt}, cause check", *lines])


def worked_through(work: str, tests: str, attempts: int = 3, **more: str) -> Played:
    """Develop, and refix for as long as the gate holds."""
    played = play(prompt("Develop", **more), ground(work, tests))
    for attempt in range(1, attempts):
        if not gate(played.ground):
            break
        played = play(prompt("Refix", held(played, work, attempt), **more), ground(work, tests))
    return played


def test_a_held_first_choice_is_followed_by_one_that_passes_everything() -> None:
    first = play(prompt("Develop"), ground(MEAN, MEAN_TESTS))

    second = play(prompt("Refix", held(first, MEAN)), ground(MEAN, MEAN_TESTS))

    assert gate(first.ground) == ["tests/test_work.py::test_two", "tests/test_work.py::test_spread"]
    assert gate(second.ground) == []
    assert not set(edits(first, MEAN)) & set(edits(second, MEAN))


def lesson_of_hold(played: Played, work: str) -> str:
    failed = ", ".join(gate(played.ground))
    return (
        "| - hold · 2026-11-03 · run 01 · validated · same ticket · at the gate, attempt 1, cause check ·\n"
        f"|   {failed} failed (exit 1) · edits {', '.join(edits(played, work))} · commit 4be1f0a\n"
    )


def lesson_of_pass(played: Played, work: str) -> str:
    return (
        "| - pass-after-hold · 2026-11-03 · run 01 · validated · same ticket · attempt 2 passed the gate ·\n"
        f"|   edits {', '.join(edits(played, work))} · commit 4be1f0a\n"
    )


def test_a_lesson_of_what_worked_saves_the_search() -> None:
    good = worked_through(MEAN, MEAN_TESTS)

    without = play(prompt("Develop"), ground(MEAN, MEAN_TESTS))
    with_lesson = play(prompt("Develop", lessons=lesson_of_pass(good, MEAN)), ground(MEAN, MEAN_TESTS))

    assert with_lesson.ground.candidate_runs == 1
    assert gate(with_lesson.ground) == []
    assert without.ground.candidate_runs + good.ground.candidate_runs > 10
    assert with_lesson.calls <= (without.calls + good.calls) / 4


def test_without_the_lesson_in_the_prompt_the_advantage_is_gone() -> None:
    good = worked_through(MEAN, MEAN_TESTS)
    told = prompt("Develop", lessons=lesson_of_pass(good, MEAN))
    stripped = "\n".join(line for line in told.split("\n") if not line.startswith(("| - pass", "|   edits")))

    before = play(prompt("Develop"), ground(MEAN, MEAN_TESTS))
    after = play(stripped, ground(MEAN, MEAN_TESTS))

    assert after.ground.asked == before.ground.asked
    assert gate(after.ground) != []


def test_a_lesson_of_a_hold_keeps_its_edit_from_being_tried_first() -> None:
    first = play(prompt("Develop"), ground(MEAN, MEAN_TESTS))

    second = play(prompt("Develop", lessons=lesson_of_hold(first, MEAN)), ground(MEAN, MEAN_TESTS))

    assert not set(edits(first, MEAN)) & set(edits(second, MEAN))
    assert gate(second.ground) == []


@pytest.mark.parametrize("kind", ["verify", "refix"])
def test_verified_and_refixed_edits_are_tried_first_too(kind: str) -> None:
    good = worked_through(MEAN, MEAN_TESTS)
    told = "worked" if kind == "verify" else "attempt 2, differs from the held one"
    lesson = lesson_of_pass(good, MEAN).replace("pass-after-hold", kind).replace("attempt 2 passed the gate", told)

    played = play(prompt("Develop", lessons=lesson), ground(MEAN, MEAN_TESTS))

    assert played.ground.candidate_runs == 1


def test_an_edit_after_which_the_failure_came_back_is_put_off() -> None:
    first = play(prompt("Develop"), ground(SHIPPING, SHIPPING_TESTS))
    lesson = lesson_of_pass(first, SHIPPING).replace("pass-after-hold", "verify")
    lesson = lesson.replace("attempt 2 passed the gate", "recurred")

    second = play(prompt("Develop", lessons=lesson), ground(SHIPPING, SHIPPING_TESTS))

    assert not set(edits(first, SHIPPING)) & set(edits(second, SHIPPING))


def test_a_lesson_that_names_a_test_that_is_gone_does_no_harm() -> None:
    lesson = (
        "| - hold · 2026-11-03 · run 01 · validated · same ticket · at the gate, attempt 1, cause check ·\n"
        "|   tests/test_gone.py::test_gone failed (exit 1) · edits src/work.py:3 #000000000000 · commit 4be1f0a\n"
    )
    tree = ground(SHIPPING, SHIPPING_TESTS)

    play(prompt("Develop", lessons=lesson), tree)

    assert tree.run_test("tests/test_work.py::test_work").error is None


def test_an_edit_of_a_test_is_never_proposed() -> None:
    tree = ground("def one():\n    return 2\n", "def test_work():\n    assert one() == 1\n")
    tree.files["tests/helpers.py"] = "def helper():\n    return 2\n"

    play(prompt("Develop", "Files:\n| tests/helpers.py\n| src/work.py"), tree)

    assert {arguments["path"] for name, arguments in tree.asked if name == "edit"} == {"src/work.py"}


def test_a_refused_edit_costs_no_run_and_the_search_goes_on() -> None:
    tree = ground("def grown_up(age):\n    return age > 18\n", "def test_work():\n    assert grown_up(18)\n")
    use = tree.use

    def refuse_first(name: str, arguments: dict[str, object]) -> str:
        first = name == "edit" and not any(asked == "edit" for asked, _ in tree.asked)
        if first:
            tree.asked.append((name, arguments))
            return "refused: the line is protected"
        return use(name, arguments)

    tree.use = refuse_first  # type: ignore[method-assign]
    played = play(prompt("Develop"), tree)

    assert gate(tree) == []
    refused = sum(1 for name, _ in tree.asked if name == "edit") - played.ground.candidate_runs
    assert refused >= 1


def test_a_check_without_tests_is_repaired_by_the_files_of_the_diagnosis() -> None:
    tree = ground("def grown_up(age):\n    return age > 18\n", "def test_work():\n    assert grown_up(18)\n")
    use = tree.use

    def as_command(name: str, arguments: dict[str, object]) -> str:
        result = use(name, arguments)
        return f"{result.partition(',')[0]}\n| some output" if name == "run" else result

    tree.use = as_command  # type: ignore[method-assign]
    text = prompt("Develop", "Files:\n| src/work.py").replace(", test tests/test_work.py::test_work", ", test pytest")
    play(text, tree)

    assert gate(tree) == []


# --- Several red tests ---------------------------------------------------------------------------------------------

LEVELS = """
    def level(points):
        if points < 10:
            return 'low'
        if points < 100:
            return 'high'
        return 'top'
    """
LEVEL_TESTS = """
    def test_low():
        assert level(9) == 'low'

    def test_work():
        assert level(100) == 'high'

    def test_second():
        assert level(10) == 'low'
    """


def test_an_edit_that_turns_the_other_red_tests_green_too_is_better() -> None:
    work = "def double(n):\n    return n + 1\n"
    tests = "def test_work():\n    assert double(3) == 6\n\ndef test_more():\n    assert double(5) == 10\n"
    tree = ground(work, tests)

    played = play(prompt("Develop", "Red before any change:\n| tests/test_work.py::test_more"), tree)

    assert gate(tree) == []
    assert "stay red" not in played.answer["summary"]


def test_the_best_edit_is_handed_in_when_none_turns_all_red_tests_green() -> None:
    tree = ground(LEVELS, LEVEL_TESTS)

    played = play(prompt("Develop", "Red before any change:\n| tests/test_work.py::test_second"), tree)

    assert gate(tree) == ["tests/test_work.py::test_second"]
    assert "1 other tests that were red stay red" in played.answer["summary"]


def test_a_red_test_that_has_nothing_to_do_with_it_costs_nothing() -> None:
    tree = ground("def grown_up(age):\n    return age > 18\n", "def test_work():\n    assert grown_up(18)\n")
    tree.files["tests/test_other.py"] = "def test_other():\n    assert 1 == 2\n"

    play(prompt("Develop", "Red before any change:\n| tests/test_other.py::test_other"), tree)

    assert gate(tree) == ["tests/test_other.py::test_other"]
    assert tree.candidate_runs == 1


def test_a_tree_that_cannot_be_put_back_ends_the_search() -> None:
    tree = ground("def greet(name):\n    return 'hello'\n", "def test_work():\n    assert greet(1) == chr(65) * 7\n")
    use = tree.use

    def refuse_later(name: str, arguments: dict[str, object]) -> str:
        if name == "edit" and tree.candidate_runs >= 3:
            tree.asked.append((name, arguments))
            return "refused: no more edits"
        return use(name, arguments)

    tree.use = refuse_later  # type: ignore[method-assign]
    played = play(prompt("Develop"), tree)

    assert played.answer["summary"].startswith("Not found: none of 3 small edits")


def test_a_check_that_cannot_be_run_is_given_up() -> None:
    tree = ground("def one():\n    return 2\n", "def test_work():\n    assert one() == 1\n")
    use = tree.use
    tree.use = lambda name, arguments: "refused: no check" if name == "run" else use(name, arguments)  # type: ignore[method-assign]

    played = play(prompt("Develop"), tree)

    assert played.answer["summary"].startswith("Not found: none of 0")


def test_a_long_file_is_read_whole() -> None:
    long = "\n".join(f"A{number} = {number}" for number in range(900)) + "\n\n\ndef work(n):\n    return n > 1\n"
    tree = ground(long, "def test_work():\n    assert work(1)\n")

    play(prompt("Develop"), tree)

    assert gate(tree) == []
    assert [arguments.get("start", 1) for name, arguments in tree.asked if name == "read"] == [1, 401, 801]


def test_files_that_are_no_python_are_left_out() -> None:
    tree = ground("def work(n):\n    return n > 1\n", "def test_work():\n    assert work(1)\n")
    tree.files |= {"src/broken.py": "def (", "src/empty.py": ""}
    use = tree.use
    tree.use = lambda name, arguments: (  # type: ignore[method-assign]
        "run pytest: exit 1, 1 tests: 0 passed, 1 failed, 0 skipped"
        if arguments.get("coverage")
        else use(name, arguments)
    )

    play(prompt("Develop", "Files:\n| src/broken.py\n| src/empty.py\n| src/missing.py\n| src/work.py"), tree)

    assert gate(tree) == []
