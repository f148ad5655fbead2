"""``python -m parley``: try the connection, look at flows and interviews, check a webhook that was refused."""

import argparse
import json
import os
import sys
from collections.abc import Iterable

from . import webhooks
from ._client import Parley
from ._errors import ParleyError
from ._models import Model


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not a header such as 'webhook-id: evt_1'")
    return name.strip(), value.strip()


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m parley",
        description="The client of Parley. Reads PARLEY_BASE_URL and PARLEY_API_KEY. Prints one JSON object a line.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("ping", help="check the connection and the key")
    flows = commands.add_parser("flows", help="list flows, or show one")
    flows.add_argument("id", nargs="?")
    interviews = commands.add_parser("interviews", help="list interviews, or show one")
    interviews.add_argument("id", nargs="?")
    interviews.add_argument("--status", choices=["incomplete", "completed"])
    interviews.add_argument("--transcript", choices=["full", "text", "none"], default="none")
    for listed in (flows, interviews):
        listed.add_argument("--max", type=int, default=20, help="how many (default: 20)")
    verify = commands.add_parser(
        "verify-webhook", help="verify a body from standard input; the secret is in PARLEY_WEBHOOK_SECRET"
    )
    verify.add_argument(
        "-H",
        "--header",
        action="append",
        type=_header,
        default=[],
        metavar="NAME: VALUE",
        help="a header as it arrived",
    )
    verify.add_argument(
        "--signature", choices=["webhook-signature", "x-service-signature"], default="webhook-signature"
    )
    verify.add_argument("--any-time", action="store_true", help="also accept events that are older than five minutes")
    return parser


def _print(objects: Iterable[Model]) -> None:
    for one in objects:
        shown = one.to_dict()
        if shown.get("webhook_secret_key"):
            shown["webhook_secret_key"] = "…"
        print(json.dumps(shown, ensure_ascii=False))


def _ask(given: argparse.Namespace) -> None:
    with Parley() as client:
        if given.command == "ping":
            print(client.ping())
        elif given.command == "flows":
            _print([client.flows.retrieve(given.id)] if given.id else client.flows.list(max_items=given.max))
        elif given.id:
            _print([client.interviews.retrieve(given.id, transcript=given.transcript)])
        else:
            which = {"status": given.status, "max_items": given.max}
            _print(client.interviews.list(transcript=given.transcript, **which))


def _verify(given: argparse.Namespace) -> None:
    secret = os.environ.get("PARLEY_WEBHOOK_SECRET", "")
    if not secret:
        raise ValueError("Set PARLEY_WEBHOOK_SECRET to the webhook_secret_key of the flow or the endpoint's secret.")
    tolerance = 10**12 if given.any_time else webhooks.TOLERANCE
    body = sys.stdin.buffer.read()
    _print([webhooks.verify(body, dict(given.header), secret, tolerance=tolerance, signature=given.signature)])


def main(argv: list[str] | None = None) -> int:
    """Run a command; 1 says that it failed, and the reason is on standard error."""
    given = _arguments().parse_args(argv)
    try:
        _verify(given) if given.command == "verify-webhook" else _ask(given)
        sys.stdout.flush()
    except BrokenPipeError:  # the program that reads, such as head, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except webhooks.WebhookError as refusal:
        print(f"{refusal.reason}: {refusal}", file=sys.stderr)
    except (ParleyError, ValueError) as error:
        print(error, file=sys.stderr)
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
