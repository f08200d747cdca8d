"""Do two versions of a small program do the same on further inputs? Run by path, sandboxed; imports nothing of ours.

Standard input is a JSON object: `name` of the function, texts `reference`, `patched` and, for QuixBugs, `node` (the
module of nodes), `inputs` from the tests or else `check`, the text of a function that asserts what its argument gives,
and `seed`. Standard output is one: on how many inputs the reference gave an answer, and on how many of those the
patched one gave another. Inputs are those of the tests, changed at random within their order, sign and alphabet;
graphs and linked lists are made at random.
"""

from __future__ import annotations

import copy
import json
import math
import random
import signal
import sys
from itertools import islice, pairwise
from types import ModuleType
from typing import Any

INPUTS = 120
_SECONDS = 0.5  # for one answer: the reference takes milliseconds
_ITEMS_AT_MOST = 5_000
_ASKED_AT_MOST = INPUTS // 2  # the other half is made of them
_NODES_AT_MOST = 7


class _TooLate(BaseException):
    pass


def main() -> None:
    """Read, compare, write."""
    asked = json.load(sys.stdin)
    sys.setrecursionlimit(3_000)
    node = _module("node", asked.get("node", "Node = None"))
    sys.modules["node"] = node
    reference, patched = (getattr(_module(kind, asked[kind]), asked["name"]) for kind in ("reference", "patched"))
    chance = random.Random(asked["seed"])
    inputs = asked["inputs"] if "inputs" in asked else _asked_for(reference, asked["check"])
    answered = different = 0
    for number in range(INPUTS):
        given = _given(asked["name"], inputs, node.Node, chance, number)
        right = _answer(reference, asked["name"], copy.deepcopy(given))
        if right is not None:
            answered += 1
            different += not _same(asked["name"], right, _answer(patched, asked["name"], copy.deepcopy(given)), given)
    json.dump({"answered": answered, "different": different}, sys.stdout)


def _module(name: str, text: str) -> Any:
    module = ModuleType(name)
    exec(compile(text, name, "exec"), module.__dict__)
    return module


def _asked_for(reference: Any, check: str) -> list[list[Any]]:
    """What a function `check` calls its argument with."""
    asked: list[list[Any]] = []

    def heard(*given: Any) -> Any:
        asked.append(copy.deepcopy(list(given)))
        return reference(*given)

    namespace: dict[str, Any] = {**reference.__globals__, reference.__name__: heard}
    exec(compile(check, "check", "exec"), namespace)
    namespace["check"](heard)  # the reference passes it; where it does not, nothing can be compared
    return asked[:_ASKED_AT_MOST]


def _answer(function: Any, name: str, given: list[Any]) -> Any:
    """A value that can be compared; None when there was no answer in time."""
    signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        answer = function(*given)
        if hasattr(answer, "__next__"):
            answer = list(islice(answer, _ITEMS_AT_MOST))
        return ("value", _plain(answer))
    except (Exception, _TooLate):  # noqa: BLE001 - a program under test may fail in any way
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _late(_number: int, _frame: object) -> None:
    raise _TooLate


def _plain(answer: Any) -> Any:
    """Nodes as their values: two answers are made of copies of the input."""
    if hasattr(answer, "successors"):
        values: list[Any] = []
        while answer is not None and len(values) < _ITEMS_AT_MOST:
            values.append(answer.value)
            answer = answer.successor
        return values
    match answer:
        case set() | frozenset():
            return sorted(map(repr, answer))
        case dict():
            return sorted((repr(key), repr(value)) for key, value in answer.items())
        case list() | tuple():
            return [_plain(one) for one in answer]
    return answer


def _same(name: str, right: Any, answer: Any, given: list[Any]) -> bool:
    if answer is None:
        return False
    if name == "sqrt":
        return bool(abs(right[1] - answer[1]) <= 2 * given[1])
    if name == "topological_ordering":  # any order will do in which no node comes before what leads to it
        order = [one[0] if isinstance(one, list) else one for one in answer[1]]
        place = {value: number for number, value in enumerate(order)}
        edges = [(one.value, other.value) for one in given[0] for other in one.outgoing_nodes]
        return sorted(order) == sorted(one.value for one in given[0]) and all(place[a] < place[b] for a, b in edges)
    return _near(right[1], answer[1])


def _near(right: Any, answer: Any) -> bool:
    """Equal, but for how far numbers with a point are exact."""
    if isinstance(right, float) and isinstance(answer, float):
        return right == answer or math.isclose(right, answer, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(right, list) and isinstance(answer, list):
        return len(right) == len(answer) and all(map(_near, right, answer))
    return bool(right == answer)


# --- inputs ----------------------------------------------------------------------------------------------------------


def _given(name: str, inputs: list[Any], node: Any, chance: random.Random, number: int) -> list[Any]:
    if inputs:
        given: list[Any] = copy.deepcopy(inputs[number % len(inputs)])
        changed = [_changed(one, chance) for one in given] if number >= len(inputs) else given
        if name == "kheapsort" and number >= len(inputs):
            changed[0] = _nearly_sorted(changed[0], changed[1], chance)
        return changed
    nodes = [node(value) for value in range(chance.randint(1, _NODES_AT_MOST))]
    made: list[Any] = _GRAPHS[name](nodes, chance)
    return made


def _changed(value: Any, chance: random.Random) -> Any:
    match value:
        case bool():
            return value
        case int():
            return max(min(value, 0 if value < 1 else 1), value + chance.choice((-2, -1, 0, 0, 1, 2, 3)))
        case float():
            return value * chance.choice((0.5, 1, 1, 2))
        case tuple():
            return tuple(_changed(one, chance) for one in value)
        case dict():
            return {_changed(key, chance): _changed(one, chance) for key, one in value.items()}
        case str():
            return _text(value, chance)
        case list():
            return _list(value, chance)
    return value


def _text(value: str, chance: random.Random) -> str:
    if len(value) < 2:
        return value
    letters = [chance.choice(value) if chance.random() < 0.3 else letter for letter in value]
    return "".join(letters[: chance.randint(1, len(letters))]) if chance.random() < 0.3 else "".join(letters)


def _list(value: list[Any], chance: random.Random) -> list[Any]:
    changed = [_changed(one, chance) for one in value]
    numbers = all(type(one) is int for one in value)
    if numbers and len(changed) > 1 and chance.random() < 0.4:
        changed.pop(chance.randrange(len(changed)))
    if numbers and changed and chance.random() < 0.4:
        changed.insert(chance.randrange(len(changed) + 1), chance.choice(changed))
    if numbers and value == sorted(value):
        changed.sort()
    if numbers and len(set(value)) == len(value):
        changed = list(dict.fromkeys(changed))
    return changed


def _nearly_sorted(value: list[Any], k: int, chance: random.Random) -> list[Any]:
    ordered = sorted(value)
    for place in range(0, len(ordered) - k, max(1, k + 1)):
        part = ordered[place : place + k + 1]
        chance.shuffle(part)
        ordered[place : place + k + 1] = part
    return ordered


def _linked(nodes: list[Any], chance: random.Random, *, may_turn: bool) -> list[Any]:
    for one, other in pairwise(nodes):
        one.successor = other
    nodes[-1].successor = chance.choice(nodes) if may_turn and chance.random() < 0.5 else None
    return [nodes[0]]


def _reached(nodes: list[Any], chance: random.Random) -> list[Any]:
    for one in nodes:
        one.successors = [other for other in nodes if chance.random() < 0.3]
    return [nodes[0], nodes[-1]]


def _edges(nodes: list[Any], chance: random.Random, *, forward: bool = False) -> list[tuple[int, int]]:
    size = len(nodes)
    return [
        (a, b) for a in range(size) for b in range(size) if a != b and (a < b or not forward) and chance.random() < 0.5
    ]


def _weighed(edges: list[tuple[Any, Any]], chance: random.Random, least: int = 1) -> dict[tuple[Any, Any], int]:
    weights = chance.sample(range(least, least + 5 * len(edges) + 1), len(edges))
    return dict(zip(edges, weights, strict=True))


def _length(nodes: list[Any], chance: random.Random) -> list[Any]:
    edges = [(nodes[a], nodes[b]) for a, b in _edges(nodes, chance)]
    for one in nodes:
        one.successors = [b for a, b in edges if a is one]
    return [_weighed(edges, chance), nodes[0], nodes[-1]]


def _ordered(nodes: list[Any], chance: random.Random) -> list[Any]:
    for one in nodes:
        one.outgoing_nodes, one.incoming_nodes = [], []
    for a, b in _edges(nodes, chance, forward=True):
        nodes[a].outgoing_nodes.append(nodes[b])
        nodes[b].incoming_nodes.append(nodes[a])
    chance.shuffle(nodes)
    return [nodes]


_GRAPHS: dict[str, Any] = {
    "breadth_first_search": _reached,
    "depth_first_search": _reached,
    "detect_cycle": lambda nodes, chance: _linked(nodes, chance, may_turn=True),
    "reverse_linked_list": lambda nodes, chance: _linked(nodes, chance, may_turn=False),
    "minimum_spanning_tree": lambda nodes, chance: [
        _weighed([(a, b) for a, b in _edges(nodes, chance) if a < b], chance)
    ],
    "shortest_path_length": _length,
    "shortest_path_lengths": lambda nodes, chance: [len(nodes), _weighed(_edges(nodes, chance), chance)],
    "shortest_paths": lambda nodes, chance: [0, _weighed(_edges(nodes, chance, forward=True), chance, least=-5)],
    "topological_ordering": _ordered,
}


if __name__ == "__main__":
    main()
