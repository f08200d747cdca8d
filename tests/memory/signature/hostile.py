"""Texts that were made to make parsers slow."""

from __future__ import annotations

KILO = 1024
_SIZE = 200 * KILO


def _of(unit: str, size: int = _SIZE) -> str:
    return unit * (size // len(unit))


HOSTILE: dict[str, str] = {
    "one long word": _of("a"),
    "dots and words": _of("a.b.c."),
    "colons": _of("Error: "),
    "open frames": _of('File "'),
    "headers of Python": _of("Traceback (most recent call last):\n"),
    "frames of Python": _of('  File "a.py", line 1, in f\n    g()\n'),
    "frames of Java": _of("\tat a.b.C.d(E.java:1)\n"),
    "frames of Java in one line": _of(" at a.b.C.d(E.java:1)"),
    "half frames of V8": _of("    at f (" + "a/" * 100 + "\n"),
    "half frames of Gecko": _of("f" * 150 + "@" + "h" * 150 + "\n"),
    "type suffixes": _of("ErrorException") + "!",
    "colons of C++": _of("::") + "(",
    "escaped breaks": _of("\\n\\tat x"),
    "open tags": _of("<a "),
    "entities": _of("&lt;&amp;"),
    "colours": _of("\x1b[0;1;2"),
    "combining marks": "a" + _of("\u0301\u0323"),
    "quotes": _of("'`\""),
    "mail quotes": _of("> ", 60 * KILO) + _of("\n> > > > | 3 | "),
    "panics": _of("panic: x\ngoroutine 1 [running]:\n"),
    "numbered frames": _of("#0 0x1 in f\n"),
    "requests": _of('GET /a/b/c?x=1 HTTP/1.1" '),
    "numbers": _of("1,234.5e7 0x1f 10:00:00 "),
    "slashes": _of("/"),
    "brackets": _of("[") + _of("]"),
    "assertions": "org.opentest4j.AssertionFailedError: " + _of("expected: ", 900) + "\n\tat a.b.CTest.d(CTest.java:1)",
    "summary of pytest": _of("FAILED a.py::t[") + _of("E   x: y\n"),
    "carets of rustc": _of("error[E0308]: m\n  --> a.rs:1:1\n   | ^^^^\n"),
    "panicked": _of("thread 'a' panicked at 'x', ") + _of("\nthread 'a' panicked at a.rs:1:1:\n"),
    "dotnet": _of("   at A.B`1.<C>d__7.MoveNext(" + "x, " * 30 + "\n"),
    "dotnet chains": _of("System.Exception: a ---> "),
    "ruby": _of("a.rb:1:in `b\n"),
    "php": _of("Uncaught A: m in /f.php:1\n#0 a(1): b(\n"),
    "ipython": _of("X    Traceback (most recent call last)\n"),
    "jest": _of("  ● a › b\n"),
    "objects": _of('{"message":"a\\n'),
    "ends of strings": '{"a":' + _of('",'),
    "arrays": _of('","    at '),
    "containers": _of("web  | a\n"),
    "boxes": _of("╭── Traceback (most recent call last) ──╮\n│ a.py:1 in f │\n"),
    "places of pytest": _of("a.py:1: in f\n"),
    "lists of lists": "Error: " + _of("[{", 500) + _of("}]", 500) + "\n    at f (a.js:1:2)",
    "crash service": "Reason\n" + _of("A.B.c (d) in e:0;A.B\n"),
    "stacks of PHP without a head": _of("#0 /a.php(1): b()\n"),
    "margins": "\n".join(" " * (990 - at % 7) + "x" for at in range(66)),
    "blanks": _of(" \t"),
    "line breaks": _of("\n"),
    "carriage returns": _of("\r"),
}
