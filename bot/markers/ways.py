"""Three ways to a model, each with a recording one at its end: in this process, over HTTP, and a program."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from bot.markers.script import ANSWERS, answer, entry_point_of
from stages.agents.embedded import Call, Message, call, handler_of, text_of
from stages.agents.model import FREE, Model


class Way(StrEnum):
    PROVIDER = "provider"  # a custom provider of litellm, in this process
    HTTP = "http"  # an endpoint of the kind that OpenAI has
    PROGRAM = "program"  # an external program with the prompt on its standard input


@dataclass(kw_only=True)
class Recording:
    """The prompts that a model received, by entry point, as they arrived.

    `drifted` names the entry points at which a later turn of a conversation did not begin with its prompt.
    """

    prompts: dict[str, list[str]] = field(default_factory=dict)
    drifted: list[str] = field(default_factory=list)
    _last: str = ""

    def keep(self, prompt: str) -> None:
        self._last = entry_point_of(prompt)
        self.prompts.setdefault(self._last, []).append(prompt)

    def reply(self, messages: Sequence[Message]) -> Sequence[Call]:
        """Record the first message of a conversation, and give the script's answer: on the second turn, if it may."""
        prompt = text_of(messages[0])
        if not any(message.get("role") == "assistant" for message in messages):
            self.keep(prompt)
            if entry_point_of(prompt) != "summarise":  # where there is no tool but the answer
                return [call("list")]
        elif (name := self._last) and prompt != self.prompts[name][-1]:
            self.drifted.append(name)
            prompt = self.prompts[name][-1]
        scripted = answer(prompt)
        edits = [call("edit", path="doubling.py", old=scripted.old, new=scripted.new)] if scripted.old else []
        return [*edits, call("finish", **scripted.fields)]


def provider(recording: Recording) -> Model:
    """A model in this process."""
    return Model(name="recording/provider", price=FREE, provider=lambda: handler_of(recording))


@contextmanager
def endpoint(recording: Recording) -> Iterator[Model]:
    """A model behind a server on the loopback interface, gone with the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(recording))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield http_model(f"http://127.0.0.1:{server.server_port}/v1")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def http_model(url: str) -> Model:
    return Model(name="openai/recording", url=url, key="none", price=FREE)


def completion(recording: Recording, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of an OpenAI-like endpoint to a request."""
    calls = recording.reply(request["messages"])
    turn = len(request["messages"])
    tool_calls = [
        {"id": f"call_{turn}_{n}", "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
        for n, one in enumerate(calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": tool_calls}
    return {
        "id": "recording",
        "object": "chat.completion",
        "created": 1,
        "model": request["model"],
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def _handler(recording: Recording) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one write for each answer: else 40 ms are lost to delayed acknowledgements

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class names it
            """Say nothing."""

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps(completion(recording, request)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


_PROGRAM: Final = '''#!{python}
"""Records its prompt on its output, edits the tree as the script says, and answers."""
import base64, json, re, sys
prompt = sys.stdin.buffer.read()
print("PROMPT " + base64.b64encode(prompt).decode())
name = re.search(r"^# (\\w+): ", prompt.decode(), re.MULTILINE)[1].lower()
answer = json.loads({answers!r})[name]
if answer["old"]:
    text = open("doubling.py").read()
    open("doubling.py", "w").write(text.replace(answer["old"], answer["new"]))
print(json.dumps(answer["fields"]))
'''


def write_program(folder: Path) -> Path:
    """A program that answers as the script says, and writes what it was given on its output."""
    folder.mkdir(parents=True, exist_ok=True)
    answers = {name: {"fields": dict(one.fields), "old": one.old, "new": one.new} for name, one in ANSWERS.items()}
    path = folder / "recording-agent"
    path.write_text(_PROGRAM.format(python=sys.executable, answers=json.dumps(answers)), "utf-8")
    path.chmod(0o755)
    return path
