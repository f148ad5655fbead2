"""Prints the result of an interview for people to read."""

import sys
from pathlib import Path
from typing import Any

from app.operations.demo.platform import Customer, Platform
from app.settings import Settings


def show(data: dict[str, Any]) -> None:
    print("\nTranscript, with the second each part begins")
    for segment in data["transcript_with_timestamp"]:
        start = f"{segment['words'][0]['start']:7.2f}" if segment["words"] else "      -"
        print(f"  {start}  {segment['role']:5}  {segment['content']}")
    print("\nWord times of the first answer")
    answer: dict[str, Any] = next(
        (s for s in data["transcript_with_timestamp"] if s["role"] == "user" and s["words"]), {"words": []}
    )
    print("  " + "  ".join(f"{w['word']} {w['start']:.2f}-{w['end']:.2f}" for w in answer["words"][:8]) + " ...")
    print("\nMapping")
    for item in data["questions_to_transcript_mapping"]:
        span = f"{item['start_timestamp']:.2f}-{item['end_timestamp']:.2f} s"
        print(f"  {item['script_question']}  items {item['transcript_item_indices']}  {span}")
    print(f"\nRecordings\n  audio  {data['audio_url']}\n  video  {data['video_url']}")
    print(f"\nSummary\n  {data['summary']}\n\nScores (0 to 5, - is not assessed)")
    for name, value in data["scores"].items():
        print(f"  {name:40} {'-' if value is None else value}")


def where_to_look(platform: Platform, customer: Customer, *, interview_id: str) -> None:
    print("\nPages to open")
    if platform.is_ours:
        command = sys.argv[0] if Path(sys.argv[0]).name == "parley" else f"{sys.executable} -m app.operations.cli"
        print(f"  first:    DATA_DIR={platform.data_dir} PORT={platform.url.rsplit(':', 1)[1]} {command} up")
    print(f"  sign in:  {platform.url}/sign-in as {customer.admin_email} with {customer.admin_password}")
    print(f"  result:   {platform.url}/interviews/{interview_id}")


def what_was_checked(platform: Platform, settings: Settings) -> str:
    """The end of the last sentence. Someone who meant a running Parley learns that it was another one."""
    if not platform.is_ours:
        return f"on the running Parley at {platform.url}."
    return (
        f"on a Parley that was started for the demo, in {platform.data_dir}. Parley was not running at "
        f"{settings.app_url}: to check one that runs elsewhere, set the same PORT and DATA_DIR."
    )
