"""Python tracebacks: what meets, and what does not."""

from __future__ import annotations

from memory.signature import RepoView, headline, match, signatures

TRACE = """Traceback (most recent call last):
  File "/app/shop/cart.py", line 41, in total
    return price + tax
           ~~~~~~^~~~~
TypeError: unsupported operand type(s) for +: 'int' and 'str'
"""


def test_the_same_failure_meets_from_another_folder_and_line() -> None:
    other = TRACE.replace("/app/", "/srv/releases/7/").replace("line 41", "line 97")

    met = match(signatures("Cart is broken", TRACE), signatures("", other))

    assert met is not None
    assert met.level == "x"
    assert met.strong


def test_another_function_is_another_failure() -> None:
    other = TRACE.replace("in total", "in discount")

    assert match(signatures("", TRACE), signatures("", other)) is None


def test_a_message_alone_meets_a_trace_only_weakly() -> None:
    trace = """Traceback (most recent call last):
  File "a.py", line 1, in load
    import redis
ModuleNotFoundError: No module named 'redis'"""

    met = match(signatures("Deploy: ModuleNotFoundError: No module named 'redis'", ""), signatures("", trace))

    assert met is not None
    assert not met.strong


def test_a_file_that_the_repository_tracks_is_named_by_its_path() -> None:
    repo = RepoView(files=frozenset({"src/shop/cart.py", "src/admin/cart.py"}))

    found = signatures("", TRACE, repo)

    assert found[0].frames == ("src/shop/cart.py:total",)


def test_the_headline_says_what_went_wrong_without_data() -> None:
    assert headline(signatures("", TRACE)[0]) == "TypeError: unsupported operand type(s) for +: 'int' and 'str'"


def test_text_without_an_error_has_no_signature() -> None:
    assert signatures("Please add a dark mode", "It would be nice.") == []
