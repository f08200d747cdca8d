"""Makes `openapi.json` from GitHub's own description: `python -m tests.github_server.prune FILE`.

FILE is `generated/api.github.com.json` of the npm package `@octokit/openapi`. What is kept are the operations below,
as plain JSON Schema: OpenAPI's `nullable` becomes a type of its own, texts and examples go.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
OPERATIONS: Final = """
get /app
get /app/hook/deliveries
get /app/hook/deliveries/{delivery_id}
post /app/hook/deliveries/{delivery_id}/attempts
get /app/installations
get /app/installations/{installation_id}
post /app/installations/{installation_id}/access_tokens
post /app-manifests/{code}/conversions
get /installation/repositories
get /users/{username}
get /repos/{owner}/{repo}
get /repos/{owner}/{repo}/branches/{branch}
post /repos/{owner}/{repo}/check-runs
get /repos/{owner}/{repo}/check-runs/{check_run_id}
patch /repos/{owner}/{repo}/check-runs/{check_run_id}
get /repos/{owner}/{repo}/collaborators/{username}/permission
get /repos/{owner}/{repo}/commits/{ref}/check-runs
get /repos/{owner}/{repo}/compare/{basehead}
get /repos/{owner}/{repo}/deployments
get /repos/{owner}/{repo}/deployments/{deployment_id}/statuses
get /repos/{owner}/{repo}/git/commits/{commit_sha}
get /repos/{owner}/{repo}/git/ref/{ref}
post /repos/{owner}/{repo}/git/refs
delete /repos/{owner}/{repo}/git/refs/{ref}
get /repos/{owner}/{repo}/issues
get /repos/{owner}/{repo}/issues/comments/{comment_id}
patch /repos/{owner}/{repo}/issues/comments/{comment_id}
post /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions
get /repos/{owner}/{repo}/issues/{issue_number}
get /repos/{owner}/{repo}/issues/{issue_number}/comments
post /repos/{owner}/{repo}/issues/{issue_number}/comments
get /repos/{owner}/{repo}/issues/{issue_number}/events
get /repos/{owner}/{repo}/issues/{issue_number}/labels
post /repos/{owner}/{repo}/issues/{issue_number}/labels
delete /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}
post /repos/{owner}/{repo}/labels
get /repos/{owner}/{repo}/labels/{name}
get /repos/{owner}/{repo}/pulls
post /repos/{owner}/{repo}/pulls
get /repos/{owner}/{repo}/pulls/{pull_number}
patch /repos/{owner}/{repo}/pulls/{pull_number}
get /repos/{owner}/{repo}/pulls/{pull_number}/comments
get /repos/{owner}/{repo}/pulls/{pull_number}/reviews
get /repos/{owner}/{repo}/rules/branches/{branch}
"""
_TEXTS: Final = {"description", "title", "example", "summary", "default", "externalDocs", "deprecated", "format"}


def prune(whole: dict[str, Any]) -> dict[str, Any]:
    """The operations with every schema that they name."""
    paths: dict[str, Any] = {}
    for line in OPERATIONS.split("\n"):
        if line:
            verb, path = line.split()
            paths.setdefault(path, {})[verb] = _operation(whole, whole["paths"][path][verb])
    schemas: dict[str, Any] = {}
    todo: list[Any] = [paths]
    while todo:
        match todo.pop():
            case {"$ref": str(name)} if (key := name.rsplit("/", 1)[1]) not in schemas:
                schemas[key] = plain(whole["components"]["schemas"][key])
                todo.append(schemas[key])
            case dict(found):
                todo.extend(found.values())
            case list(found):
                todo.extend(found)
    return {"made from": f"@octokit/openapi {whole['info']['version']}", "paths": paths, "schemas": schemas}


def _operation(whole: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {"responses": {}, "query": []}
    for parameter in (_resolved(whole, one) for one in given.get("parameters", [])):
        if parameter["in"] == "query":
            kept["query"].append(parameter["name"])
    if body := given.get("requestBody"):
        kept["body"] = plain(_schema(body))
        kept["body required"] = body.get("required", False)
    for status, response in given["responses"].items():
        kept["responses"][status] = plain(_schema(_resolved(whole, response)))
    return kept


def _schema(holder: dict[str, Any]) -> dict[str, Any]:
    content = holder.get("content") or {}
    schema: dict[str, Any] = (content.get("application/json") or {}).get("schema") or {}
    return schema


def _resolved(whole: dict[str, Any], one: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in one:
        return one
    _, _, kind, name = one["$ref"].split("/", 3)
    found: dict[str, Any] = whole["components"][kind][name]
    return found


def plain(schema: Any, *, names: bool = False) -> Any:
    """A schema of OpenAPI 3.0 as JSON Schema. `names`: these are properties, whatever they are called."""
    if isinstance(schema, list):
        return [plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if names:
        return {name: plain(one) for name, one in schema.items()}
    if "$ref" in schema:
        kept: dict[str, Any] = {"$ref": "#/schemas/" + schema["$ref"].rsplit("/", 1)[1]}
    else:
        kept = {
            key: plain(value, names=key == "properties")
            for key, value in schema.items()
            if key not in _TEXTS and not key.startswith("x-") and key not in ("examples", "nullable")
        }
    return _with_null(kept) if schema.get("nullable") else kept


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    if isinstance(schema.get("type"), str) and not {"allOf", "anyOf", "oneOf"} & set(schema):
        enum = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
        return {**schema, **enum, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


if __name__ == "__main__":
    pruned = prune(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    (HERE / "openapi.json").write_text(json.dumps(pruned, separators=(",", ":"), sort_keys=True) + "\n", "utf-8")
