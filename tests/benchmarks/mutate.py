"""What the mutation library can do to a file; run by path, in the environment of the library, imports nothing of ours.

Standard input is a JSON object: `files` maps paths to texts; `make` is a list of [path, operator, occurrence]. Standard
output is one: `places`, without `make`, lists every [path, line, column, operator, occurrence]; `made` lists the texts
with one mutation each, null where the library made none.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    """One request, one answer."""
    asked = json.load(sys.stdin)
    plugins = import_module("cosmic_ray.plugins")
    if "make" in asked:
        mutate = import_module("cosmic_ray.mutating").mutate_code
        made = [
            mutate(asked["files"][path], plugins.get_operator(operator)(), occurrence)
            for path, operator, occurrence in asked["make"]
        ]
        json.dump({"made": made}, sys.stdout)
        return
    json.dump({"places": _places(asked["files"], plugins)}, sys.stdout)


def _places(files: dict[str, str], plugins: Any) -> list[list[Any]]:
    tools = import_module("cosmic_ray.ast")
    operators = {name: plugins.get_operator(name) for name in sorted(plugins.operator_names())}
    ready = {name: kind() for name, kind in operators.items() if not kind.arguments()}
    places: list[list[Any]] = []
    for path, text in sorted(files.items()):
        nodes = list(tools.ast_nodes(tools.get_ast(text)))
        for name, operator in ready.items():
            found = [start for node in nodes for start, _ in operator.mutation_positions(node)]
            places += [[path, line, column, name, number] for number, (line, column) in enumerate(found)]
    return places


if __name__ == "__main__":
    main()
