"""``parley mcp``: tools for AI assistants, in a process of its own."""

import logging
from typing import Any
from urllib.parse import urlsplit

import click

from app.operations.cli.console import Failed, environment, settings

NOT_INSTALLED = (
    'parley mcp needs the optional package "mcp". Install it where parley is: pip install "mcp>=2.3,<3" '
    '(with pipx: pipx inject parley "mcp>=2.3,<3"). docs/mcp.md says more.'
)
NO_KEY = (
    "PARLEY_API_KEY is not set. Create an API key in Parley under Settings, API keys, and set the variable, or run "
    "parley mcp --http, where each program sends its own key."
)
NO_HOSTS = (
    "{host} can be reached from other machines. Name the hosts to respond to, as programs write them in their URLs: "
    "--allowed-host mcp.example.com"
)


@click.command("mcp")
@click.option(
    "--profile",
    type=click.Choice(["read", "create"]),
    default="read",
    envvar="PARLEY_MCP_PROFILE",
    help="read (default): interviews and transcripts. create: new flows and interviews, without transcripts.",
)
@click.option(
    "--show-emails", is_flag=True, envvar="PARLEY_MCP_SHOW_EMAILS", help="Let email addresses through. Off by default."
)
@click.option("--http", "over_http", is_flag=True, help="Serve streamable HTTP at /mcp instead of standard input.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on, with --http.")
@click.option("--port", default=8765, show_default=True, type=click.IntRange(1, 65535), help="Port, with --http.")
@click.option("--allowed-host", "hosts", multiple=True, help="Host header to respond to, with --http. Repeatable.")
@click.option("--allowed-origin", "origins", multiple=True, help="Web page's origin to respond to. Repeatable.")
def mcp(profile: str, *, show_emails: bool, over_http: bool, **where: Any) -> None:
    """Serve tools for AI assistants over the Model Context Protocol (MCP).

    PARLEY_API_KEY is the key it calls /v1 with, PARLEY_BASE_URL where Parley is (default: APP_URL of this
    installation), PARLEY_PUBLIC_URL where people open its pages if that differs.
    """
    try:
        from app.operations.mcp_server import http, keys, options, server, v1
    except ModuleNotFoundError as error:
        if str(error.name).startswith("app."):
            raise
        raise Failed(NOT_INSTALLED) from None
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    base = _base_url()
    chosen = options.Options(
        base_url=base,
        public_url=environment().get("PARLEY_PUBLIC_URL", base).rstrip("/"),
        profile=options.Profile(profile),
        shows_emails=show_emails,
    )
    if not over_http:
        key = environment().get("PARLEY_API_KEY", "").strip()
        if not key:
            raise Failed(NO_KEY)
        server.build(v1.Api(chosen, key=key)).run("stdio")
        return
    place = http.Place(**where)
    if not place.allowed_hosts:
        raise Failed(NO_HOSTS.format(host=place.host))
    api = v1.Api(chosen)
    click.echo(
        f"parley mcp serves http://{place.host}:{place.port}{http.PATH} for {', '.join(place.allowed_hosts)}", err=True
    )
    http.serve(server.build(api, verifier=keys.KeyVerifier(api)), place)


def _base_url() -> str:
    """Where Parley is, without a slash at its end. Raises Failed for what is not an http URL."""
    given = environment().get("PARLEY_BASE_URL", "").strip() or settings(makes_key=False).app_url
    parts = urlsplit(given)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise Failed(f"PARLEY_BASE_URL must be the URL of Parley, such as https://parley.example.com, not {given!r}.")
    return given.rstrip("/").removesuffix("/v1")
