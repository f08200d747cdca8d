"""Each kind of repair finds the edit that it is for, and leaves everything else of the file as it stands."""

from __future__ import annotations

import pytest

from stages.offline.candidate import Candidate
from stages.offline.scope import Program
from stages.offline.templates import TEMPLATES

BY_NAME = {template.name: template for template in TEMPLATES}

# One line of a function's body, and what the template must be able to make of it.
LINES = [
    ("comparison boundary", "if n < limit:  # strict", "if n <= limit:  # strict"),
    ("comparison operator", "if n == limit:", "if n != limit:"),
    ("comparison operator", "if n in items:", "if n not in items:"),
    ("identity or membership", "if n < items:", "if n in items:"),
    ("identity or membership", "if n <= None:", "if n is None:"),
    ("comparison sides", "if n < limit:", "if limit < n:"),
    ("comparison widened", "if len(items) == 0:", "if len(items) <= 1:"),
    ("boolean operator", "if n and limit:", "if n or limit:"),
    ("negation", "if not n:", "if n:"),
    ("negation", "if n and limit:", "if not (n and limit):"),
    ("negation", "if n and limit:", "if n and not limit:"),
    ("truth", "seen = True", "seen = False"),
    ("dropped condition", "if n > 0 and limit:", "if n > 0:"),
    ("none test", "if n:", "if n is not None:"),
    ("none test", "if n is not None:", "if n:"),
    ("none test", "if not n:", "if n is None:"),
    ("arithmetic operator", "total = n + limit  # sum", "total = n - limit  # sum"),
    ("arithmetic operator", "total = n / limit", "total = n // limit"),
    ("any operator", "total = n + limit", "total = n * limit"),
    ("other family", "total = n | limit", "total = n + limit"),
    ("text operator", 'total = "%s" + n', 'total = "%s" % n'),
    ("augmented operator", "total += n", "total -= n"),
    ("augmented operator", "total += n", "total = n"),
    ("augmented operator", "total = n", "total += n"),
    ("augmented operator", "n ^= n - 1", "n &= n - 1"),
    ("unary sign", "total = -n", "total = n"),
    ("unary sign", "total = ~n", "total = -n"),
    ("unary sign", "total = n * 3", "total = n * -3"),
    ("rounded up", "total = n // limit", "total = -(-n // limit)"),
    ("off by one number", "total = 3", "total = 4"),
    ("off by one number", "total = n - 1", "total = n"),
    ("off by one number", "total = n + 1", "total = n + 2"),
    ("off by one number", "total = items[-1]", "total = items[-2]"),
    ("off by one", "for k in range(n):", "for k in range(n + 1):"),
    ("off by one", "total = items[n]", "total = items[n - 1]"),
    ("off by one", "total = items[:n]", "total = items[:n + 1]"),
    ("off by one", "if n < limit:", "if n < limit + 1:"),
    ("off by one anywhere", "total = n", "total = n - 1"),
    ("constant", "total = n * 3", "total = n * 30"),
    ("constant", "total = n * 0.5", "total = n * 1.5"),
    ("constant to name", "total = n + 1", "total = n + limit"),
    ("text constant", 'total = "XXaXX"', 'total = "a"'),
    ("text constant", "total = 'Paid'", "total = 'paid'"),
    ("swapped arguments", "total = divide(n, limit)", "total = divide(limit, n)"),
    ("swapped arguments", "total = divide(a=n, b=limit)", "total = divide(a=limit, b=n)"),
    ("swapped operands", "total = n - (limit + 1)", "total = (limit + 1) - n"),
    ("swapped operands", "total = n - limit - items", "total = items - (n - limit)"),
    ("swapped items", "pair = (n, limit)", "pair = (limit, n)"),
    ("swapped items", "pair = grid[n, limit]", "pair = grid[limit, n]"),
    ("swapped items", "pair = {n: limit}", "pair = {limit: n}"),
    ("swapped branches", "total = n if limit else items", "total = items if limit else n"),
    ("name replaced", "total = n * n", "total = n * limit"),
    ("none replaced", "total = None", "total = limit"),
    ("none to literal", 'divide("-", None)', 'divide("-", "-")'),
    ("none to donor", "divide(None, items[0])", "divide(items[0], items[0])"),
    ("like sibling", "divide(n) or divide(n, 3)", "divide(n, 3) or divide(n, 3)"),
    ("like sibling", "divide(n, None) or divide(n, 3)", "divide(n, 3) or divide(n, 3)"),
    ("assigned elsewhere", "size = None", "size = len(items)"),
    ("none replaced", "divide(None, n)", "divide(limit, n)"),
    ("attribute replaced", "total = items.first or items.last", "total = items.last or items.last"),
    ("attribute replaced", "items.append(n)", "items.extend(n)"),
    ("function replaced", "total = min(n, limit)", "total = max(n, limit)"),
    ("exception replaced", "raise ValueError(n)", "raise KeyError(n)"),
    ("slice bound", "total = items[1:n]", "total = items[1:]"),
    ("slice bound", "total = items[1:n:2]", "total = items[:n:2]"),
    ("slice bound", "total = items[n:]", "total = items[-n:]"),
    ("index replaced", "total = items[0]", "total = items[-1]"),
    ("slice added", "for k in items:", "for k in items[n:]:"),
    ("slice added", "for k in items:", "for k in items[1:]:"),
    ("index dropped", "total = items[0]", "total = items"),
    ("dropped operand", "total = n + limit * 2", "total = n"),
    ("added number", "total = divide(limit)", "total = divide(limit - size)"),
    ("added operand", "total = divide(n)", "total = divide(n - limit)"),
    ("added operand", "total = [n] + items", "total = limit + [n] + items"),
    ("squared", "total = abs(n - limit)", "total = abs(n - limit ** 2)"),
    ("clamp", "total = n + limit", "total = max(total, n + limit)"),
    ("clamp", "return n - limit", "return max(0, n - limit)"),
    ("clamp dropped", "total = max(n, limit)", "total = n"),
    ("extended condition", "if n > 0:", "if not items or n > 0:"),
    ("extended condition", "if n.next.next is None:", "if n.next is None or n.next.next is None:"),
    ("condition replaced", "if n > 0:", "if True:"),
    ("loop condition", "while True:", "while items:"),
    ("call unwrapped", "yield divide(n)", "yield n"),
    ("call unwrapped", "total = items.copy()", "total = items"),
    ("call wrapped", "total = n - limit", "total = abs(n - limit)"),
    ("call wrapped", "total = divide(n)", "total = divide(str(n))"),
    ("argument dropped", "total = divide(n, limit, items)", "total = divide(n, items)"),
    ("argument added", "total = divide(n)", "total = divide(n, limit)"),
    ("argument added", "total = divide()", "total = divide(limit)"),
    (
        "argument added",
        "total = divide(n, size=1) or divide(limit=1)",
        "total = divide(n, size=1, limit=limit) or divide(limit=1)",
    ),
    ("keyword replaced", "divide(a=n) or divide(b=n)", "divide(b=n) or divide(b=n)"),
    ("initial value", "total = 0", "total = None"),
    ("initial value", "total = 0", "total = n"),
    ("returned value", "return n", "return limit"),
    ("returned value", "return True", "return not items"),
    ("nested", "return []", "return [[]]"),
    ("nested", "return []", "return [n]"),
    ("nested", "return [n]", "return n"),
    ("item dropped", "return [n, limit]", "return [n]"),
    ("item dropped", "return (n, limit)", "return (n,)"),
    ("yield from", "yield items", "yield from items"),
    ("yield from", "yield from items", "yield items"),
    ("loop exit", "break", "continue"),
    ("target replaced", "limit = n", "n = n"),
    ("assigned in place", "items.update(n)", "items = n"),
    ("result kept", "items.sorted()", "items = items.sorted()"),
    ("result kept", "divide(n)", "return divide(n)"),
    ("donor expression", "total = divide(n) + limit[n]", "total = limit[n] + limit[n]"),
    ("dict key", 'total = n["a"] + n["b"]', 'total = n["b"] + n["b"]'),
    ("dict key", 'total = n.get("a") or n["b"]', 'total = n.get("b") or n["b"]'),
    ("items of name", "total = n + limit.price", "total = n.price + limit.price"),
    ("value of attribute", "total = n.price", "total = n"),
]

BEFORE = '''\
"""A module."""  # with a comment


def work(n, limit, items):
    """Do it."""
    total = None
    size = len(items)

    # the line under test
'''
AFTER = "\n    return total  # done\n"


def body(line: str) -> str:
    nested = "\n        pass" if line.rstrip().split("  #")[0].endswith(":") else ""
    if line in ("break", "continue"):
        return f"{BEFORE}    for n in items:\n        {line}{AFTER}"
    return f"{BEFORE}    {line}{nested}{AFTER}"


def texts(name: str, text: str, hints: tuple[str, ...] = ()) -> list[str]:
    program = Program("src/work.py", text, hints)
    return [
        Candidate(source=program, splice=splice, template=name, rank=0.0).text
        for splice in BY_NAME[name].splices(program)
    ]


@pytest.mark.parametrize(("name", "line", "repaired"), LINES)
def test_a_line_is_repaired_and_the_rest_of_the_file_stays(name: str, line: str, repaired: str) -> None:
    made = texts(name, body(line))

    assert body(repaired) in made


LAST = "def f(node):\n    last = None\n    while node:\n"
METHODS = "\n    def g(self):\n        return 1\n\n    def h(self):\n        return 2\n"

# Whole functions, where more than one line takes part.
BLOCKS = [
    (
        "statement dropped",
        "def f(n):\n    n += 1\n    # keep\n    return n\n",
        "def f(n):\n    # keep\n    return n\n",
    ),
    ("statement dropped", "def f(n):\n    n += 1\n", "def f(n):\n    pass\n"),
    (
        "statement inserted",
        "def f(n):\n    n.turn()\n    if n:\n        return n\n    return 0\n",
        "def f(n):\n    n.turn()\n    if n:\n        n.turn()\n        return n\n    return 0\n",
    ),
    (
        "collection filled",
        "def f(n):\n    seen = set()\n    for k in n:\n        print(k)\n    return seen\n",
        "def f(n):\n    seen = set()\n    for k in n:\n        seen.add(k)\n        print(k)\n    return seen\n",
    ),
    (
        "loop condition",
        "def f(n):\n    while True:\n        if n > 3:\n            return n\n",
        "def f(n):\n    while not (n > 3):\n        if n > 3:\n            return n\n",
    ),
    (
        "name assigned",
        f"{LAST}        node = node.next\n    return last\n",
        f"{LAST}        last = node\n        node = node.next\n    return last\n",
    ),
    (
        "statement moved",
        "def f(n):\n    for k in n:\n        k.go()\n        return k\n",
        "def f(n):\n    for k in n:\n        k.go()\n    return k\n",
    ),
    (
        "statement moved",
        "def f(n):\n    n = n + 1\n    # between\n    show(n)\n",
        "def f(n):\n    show(n)\n    # between\n    n = n + 1\n",
    ),
    (
        "statement moved",
        "def f(n):\n    for k in n:\n        k.go()\n    k.stop()\n",
        "def f(n):\n    for k in n:\n        k.go()\n        k.stop()\n",
    ),
    (
        "guard inserted",
        'def f(items):\n    """Doc."""\n    return items[0]\n',
        'def f(items):\n    """Doc."""\n    if not items:\n        return None\n    return items[0]\n',
    ),
    (
        "guard inserted",
        "def f(n):\n    return n * f(n - 1)\n",
        "def f(n):\n    if n <= 1:\n        return 1\n    return n * f(n - 1)\n",
    ),
    (
        "loop guard inserted",
        "def f(items):\n    for item in items:\n        item.go()\n",
        "def f(items):\n    for item in items:\n        if item is None:\n            continue\n        item.go()\n",
    ),
    (
        "loop guard inserted",
        "def f(a):\n    while True:\n        a = a.next\n",
        "def f(a):\n    while True:\n        if not a:\n            break\n        a = a.next\n",
    ),
    ("guard dropped", "def f(n):\n    if n:\n        return 0\n    return n\n", "def f(n):\n    return n\n"),
    (
        "condition dropped",
        "def f(n):\n    if n:\n        n.go()\n    n.stop()\n",
        "def f(n):\n    n.go()\n    n.stop()\n",
    ),
    ("module name", "A = 1\nB = 2\n\n\ndef f():\n    return A\n", "A = 1\nB = 2\n\n\ndef f():\n    return B\n"),
    (
        "module name",
        "FILL = 0\n\n\ndef f(n):\n    return pad(n, fill=None)\n",
        "FILL = 0\n\n\ndef f(n):\n    return pad(n, fill=FILL)\n",
    ),
    ("default value", "def f(n=0):\n    return n\n", "def f(n=1):\n    return n\n"),
    (
        "attribute replaced",
        f"class A:\n    def f(self):\n        return self.g()\n{METHODS}",
        f"class A:\n    def f(self):\n        return self.h()\n{METHODS}",
    ),
    (
        "function replaced",
        "def f(n):\n    return n\n\n\ndef g(n):\n    return -n\n\n\ndef h(n):\n    return f(n)\n",
        "def f(n):\n    return n\n\n\ndef g(n):\n    return -n\n\n\ndef h(n):\n    return g(n)\n",
    ),
    (
        "keyword replaced",
        "class A:\n    def __init__(self, width, height):\n        self.width = width\n\n\nA(width=1)\n",
        "class A:\n    def __init__(self, width, height):\n        self.width = width\n\n\nA(height=1)\n",
    ),
    (
        "target replaced",
        "def f(a, b, u, v):\n    for u, v in a:\n        b[v] = 0\n        a[u, v] = b[u]\n",
        "def f(a, b, u, v):\n    for u, v in a:\n        b[v] = 0\n        b[v] = b[u]\n",
    ),
]


@pytest.mark.parametrize(("name", "text", "repaired"), BLOCKS)
def test_a_function_is_repaired(name: str, text: str, repaired: str) -> None:
    made = texts(name, text)

    assert repaired in made


def test_each_template_has_an_example() -> None:
    shown = {name for name, *_ in (*LINES, *BLOCKS)}

    assert shown == set(BY_NAME)


def test_a_number_and_a_text_of_the_ticket_are_tried() -> None:
    number = texts("constant", body("total = n * 19"), ("20.5", "'a'"))
    text = texts("text constant", body('total = "helo"'), ("'hello'",))

    assert body("total = n * 20.5") in number
    assert body("total = 'hello'") in text


def test_a_docstring_is_left_alone() -> None:
    made = texts("text constant", body('total = "a"'))

    assert all('"""Do it."""' in text and '"""A module."""  # with a comment' in text for text in made)


def test_parentheses_come_where_the_place_demands_them() -> None:
    made = texts("off by one anywhere", body("total = n * divide(limit)"))

    assert body("total = (n - 1) * divide(limit)") in made


def test_layout_and_comments_survive_in_a_statement_of_several_lines() -> None:
    text = "def f(a, b):\n    return g(\n        a,  # first\n        b,\n    )\n"

    made = texts("swapped arguments", text)

    assert made == ["def f(a, b):\n    return g(\n        b,  # first\n        a,\n    )\n"]
