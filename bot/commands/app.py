"""`ticketsmith app`: the GitHub App itself."""

from __future__ import annotations

import os
import secrets
import webbrowser

import click

from bot.app_creation import Wanted, ask_for_code, create
from bot.commands.common import err, out
from bot.config import read_settings
from bot.credentials import write_app_file
from bot.errors import WrongInput
from bot.forge.addresses import install_page
from bot.node import Look


class AppThere(WrongInput):
    """{path} holds an App already: take it away, or name another file as `credentials` in the table [app] of the
    operator's ticketsmith.toml.
    """


@click.group(short_help="Make the GitHub App.")
def app() -> None:
    """The GitHub App itself."""


@app.command("create")
@click.option("--url", default="", help="Where GitHub reaches `serve`, such as https://bot.example/webhook.")
@click.option("--name", default="", help="What the App is called; no other on GitHub may be called so.")
@click.option("--organization", default="", help="Whose App it is, when it is not yours.")
@click.option("--code", default="", help="What GitHub sent your browser back with, where it could not come here.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.pass_context
def create_app(ctx: click.Context, url: str, name: str, organization: str, code: str, no_browser: bool) -> None:
    """Make a GitHub App, and keep its id, key and secret in a file that only you can read.

    Your browser shows what GitHub is asked for; GitHub asks you once more. For Enterprise set `base_url` in the table
    [app] of the operator's ticketsmith.toml first.
    """
    settings = read_settings(os.environ, ctx.find_root().obj).app
    if settings.credentials.exists():
        raise AppThere(path=settings.credentials)
    if not code and not url.startswith(("https://", "http://")):
        raise click.UsageError("--url must be the address at which GitHub reaches `serve`, https://…/webhook.")

    def tell(address: str) -> None:
        err().line(f"Open {address} in a browser on this machine.", Look.GOOD)
        if not no_browser:
            webbrowser.open(address)

    wanted = Wanted(name=name or f"ticketsmith-{secrets.token_hex(3)}", webhook=url, organization=organization)
    kept, made = create(settings, code or ask_for_code(settings, wanted, tell))
    write_app_file(settings.credentials, kept)
    out().line(f"Made {made.slug}, App {made.id}. Its key and secret are in {settings.credentials}", Look.GOOD)
    if kept.webhook_secrets != (made.webhook_secret,):
        out().line(f"  GitHub made no secret: set the one of that file on {made.page}", Look.BAD)
    out().line(f"  install it  {install_page(settings.web, made.slug)}")
    out().line("  look        ticketsmith doctor")
    out().line("  begin       ticketsmith serve")
