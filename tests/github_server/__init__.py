"""A stateful GitHub on loopback: REST, GraphQL, git over HTTP, webhooks, and faults by script.

    from tests.github_server.fixtures import github  # noqa: F401 - or in a conftest.py

    def test_a_label_starts_a_run(github):
        github.hooks.url, github.hooks.secret = "http://127.0.0.1:1234/webhooks", SECRET   # else no webhook is sent
        issue = github.people.issue(github.till, github.ada, "Total is wrong", "…")        # ada may write, id 71 …
        github.people.label(github.till, issue, github.ada)                                # … is the installation

        forge = Forge.for_app(app_id=github.app_id, key=github.key, base_url=github.url)   # or github.plain_url
        …
        assert [one.body["body"] for one in github.asked("POST .*/comments")] == [...]
        assert issue.labels == ["ticketsmith", "ticketsmith:working"]

- `github.state`, `github.till`: what GitHub knows, to read and to change. `github.till.git`: its bare repository
  (`head`, `commit`, `merge`, `reject("GH013: …")` for a ruleset that refuses pushes).
- `github.people`: what people do; each act sends its signed webhook and waits for the answer.
- `github.fault("POST .*/comments", status=502, stored=True)`: see `faults.Fault`.
- `github.ci_token(github.till)` is a GITHUB_TOKEN, `github.user_token(...)` a person's token.
- `github.clock(ahead=…)`: GitHub's own clock, in `Date`, in the life of tokens, and in every time it tells.
- The fixture fails a test when a request is unknown, or a request or answer does not fit `openapi.json`.
"""
