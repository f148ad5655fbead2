"""Receivers that check a message as Slack's incoming webhooks and Teams' Workflows do, and show what people would see.

Sources: Slack's reference of Block Kit (50 blocks, 3,000 characters of a text, 150 of a header) and of escaping in
``mrkdwn``; the schema of Adaptive Cards 1.4 and Microsoft's limit of 28 KB for a card.
"""

import asyncio
import json
import re
from typing import Any

from tests.outbound.receiver import Request, Script, says

MOST_BLOCKS, LONGEST_SECTION, LONGEST_HEADER, LONGEST_TEXT = 50, 3_000, 150, 40_000
LARGEST_CARD = 28 * 1024
_ENTITY = re.compile(r"&(?!(amp|lt|gt);)")


def slack_flaws(body: bytes) -> list[str]:
    """What Slack would refuse, or would not show as it is meant."""
    message: dict[str, Any] = json.loads(body)
    text, blocks = message.get("text"), message.get("blocks", [])
    flaws = [f"unknown: {key}" for key in message.keys() - {"text", "blocks"}]
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST_TEXT:
        return [*flaws, "no_text"]
    if _ENTITY.search(text) or re.search("[<>*_~`@]", text):
        flaws.append(f"markup in {text!r}")
    if not 0 < len(blocks) <= MOST_BLOCKS:
        flaws.append("invalid_blocks: number")
    for block in blocks:
        flaws += _block_flaws(block)
    return flaws


def _block_flaws(block: dict[str, Any]) -> list[str]:
    if block["type"] == "header":
        text = block["text"]
        is_right = block.keys() == {"type", "text"} and text.keys() == {"type", "text", "emoji"}
        is_right = is_right and text["type"] == "plain_text" and 0 < len(text["text"]) <= LONGEST_HEADER
        return [] if is_right else ["invalid_blocks: header"]
    if block["type"] != "rich_text" or block.keys() != {"type", "elements"}:
        return [f"invalid_blocks: {block['type']}"]
    flaws = []
    for section in block["elements"]:
        if section.keys() != {"type", "elements"} or section["type"] != "rich_text_section":
            flaws.append("invalid_blocks: section")
        flaws += [flaw for element in section["elements"] for flaw in _element_flaws(element)]
        if sum(len(element["text"]) for element in section["elements"]) > LONGEST_SECTION:
            flaws.append("invalid_blocks: section is too long")
    return flaws


def _element_flaws(element: dict[str, Any]) -> list[str]:
    """Only texts, which Slack shows as they are, and links. No user, channel, broadcast or emoji elements."""
    if element["type"] == "text":
        is_right = element.keys() <= {"type", "text", "style"} and len(element["text"]) > 0
        is_right = is_right and element.get("style", {"bold": True}) == {"bold": True}
        return [] if is_right else ["invalid_blocks: text"]
    is_link = element["type"] == "link" and element.keys() == {"type", "url", "text"}
    return [] if is_link and element["url"].startswith("http") else [f"invalid_blocks: {element['type']}"]


def slack_seen(body: bytes) -> str:
    """The text of a message as people in the channel see it."""
    blocks = json.loads(body)["blocks"]
    sections = [section for block in blocks if block["type"] == "rich_text" for section in block["elements"]]
    texts = [element["text"] for section in sections for element in section["elements"]]
    return "\n".join([*(block["text"]["text"] for block in blocks if block["type"] == "header"), "".join(texts)])


def teams_flaws(body: bytes) -> list[str]:
    """What Workflows would refuse, or Teams would not show as it is meant."""
    message: dict[str, Any] = json.loads(body)
    if message.keys() != {"type", "attachments"} or message["type"] != "message" or len(message["attachments"]) != 1:
        return ["not a message with one attachment"]
    [attachment] = message["attachments"]
    if attachment["contentType"] != "application/vnd.microsoft.card.adaptive" or attachment["contentUrl"] is not None:
        return ["not an Adaptive Card"]
    card = attachment["content"]
    flaws = [] if len(json.dumps(card).encode()) <= LARGEST_CARD else ["too large"]
    if (card["type"], card["version"]) != ("AdaptiveCard", "1.4") or not card["body"]:
        flaws.append("not an Adaptive Card 1.4")
    for element in card["body"]:
        if element["type"] == "TextBlock":
            # Teams reads Markdown here, so nothing but our own words may be in it.
            flaws += ["markdown"] if re.search(r"[*_\[\]`~<>#@]", element["text"]) else []
        elif element["type"] == "RichTextBlock":
            runs = element["inlines"]
            is_right = all(run["type"] == "TextRun" and run.keys() <= {"type", "text", "weight"} for run in runs)
            flaws += [] if is_right and runs else ["RichTextBlock"]
        else:
            flaws.append(f"unknown: {element['type']}")
    for action in card["actions"]:
        if action.keys() != {"type", "title", "url"} or action["type"] != "Action.OpenUrl":
            flaws.append("action")
    return flaws


def teams_seen(body: bytes) -> str:
    """The text of a card as people in the channel see it."""
    elements = json.loads(body)["attachments"][0]["content"]["body"]
    lines = [
        element["text"] if element["type"] == "TextBlock" else "".join(run["text"] for run in element["inlines"])
        for element in elements
    ]
    return "\n".join(lines)


async def slack(request: Request, writer: asyncio.StreamWriter) -> None:
    """Slack: 200 ``ok``, or 400 with a word for what is wrong."""
    flaws = _flaws(request, slack_flaws)
    await (says(400, b"invalid_payload") if flaws else says(200, b"ok"))(request, writer)


async def teams(request: Request, writer: asyncio.StreamWriter) -> None:
    """Workflows: 202 without a body, or 400."""
    flaws = _flaws(request, teams_flaws)
    await (says(400, b"BadRequest") if flaws else says(202))(request, writer)


def _flaws(request: Request, check: Any) -> list[str]:
    is_json = request.line.startswith("POST ") and request.headers["Content-Type"].startswith("application/json")
    return check(request.body) if is_json else ["not JSON"]


SERVICES: dict[str, Script] = {"slack": slack, "teams": teams}
SEEN = {"slack": slack_seen, "teams": teams_seen}
FLAWS = {"slack": slack_flaws, "teams": teams_flaws}
