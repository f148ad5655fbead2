"""Clients that are generated from the document: used against the application in Python, compiled in TypeScript."""

import enum
import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from flask import Flask

from app.interviews.jobs import processing
from tests.factories import Made
from tests.people import Person

from .test_guide import SECRET, STANDARD, blocks
from .test_openapi import GOLDEN

CLIENTS = Path(__file__).parents[1] / "clients"
TOOLS = CLIENTS / "node_modules"


def run(*words: object, at: Path) -> str:
    done = subprocess.run([str(word) for word in words], cwd=at, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The package that openapi-python-client makes of the document (test_openapi holds that it is the one we serve)."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "config.yaml").write_text("post_hooks: []\n")
    generate = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning", "--meta", "none"]
    run(*generate, "--path", GOLDEN, "--output-path", "parley_client", "--config", "config.yaml", at=folder)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("parley_client")
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == "parley_client"]:
        del sys.modules[name]


@pytest.fixture
def client(app: Flask, owner: Person, package: ModuleType) -> Iterator[Any]:
    """The generated client with the owner's key; it calls the application without a network between them."""
    straight = {"transport": httpx.WSGITransport(app=app)}
    with package.AuthenticatedClient("http://localhost", token=owner.key, httpx_args=straight) as made:
        yield made


def called(client: Any, where: str, *arguments: Any, **named: Any) -> Any:
    """``called(client, "interviews.get_interview", …)``: what the generated function made of the answer."""
    function = importlib.import_module(f"parley_client.api.{where}")
    return function.sync(*arguments, client=client, **named)


def test_the_generated_python_client_takes_a_flow_from_its_creation_to_its_end(
    client: Any, package: ModuleType, recorded: Made
) -> None:
    shapes = importlib.import_module("parley_client.models")
    wanted = shapes.NewInterviewFlow(
        org_name="First Ltd",
        title="Nurse",
        questions=["Why?"],
        language=shapes.Language.DE_DE,
        voice_id=None,
        interview_type=shapes.InterviewType.RECRUITMENT,
    )
    flow_id = called(client, "interview_flows.create_interview_flow", body=wanted).interview_flow_id
    flow = called(client, "interview_flows.get_interview_flow", flow_id)
    assert (flow.title, flow.language, flow.voice_id) == ("Nurse", shapes.Language.DE_DE, None)
    assert flow.interview_type is shapes.InterviewType.RECRUITMENT
    booking = shapes.NewInterview(interview_flow_id=flow_id, interviewee_email_address="robin@example.com")
    made = called(client, "interviews.create_interview", body=booking, idempotency_key="one")
    assert called(client, "interviews.create_interview", body=booking, idempotency_key="one") == made
    interview = called(client, "interviews.get_interview", made.interview_id)
    assert (interview.status, interview.interview_data) == (shapes.InterviewStatus.INCOMPLETE, None)
    assert interview in called(client, "interviews.list_interviews", limit=5).interviews
    assert called(client, "interviews.delete_interview", made.interview_id).success is True
    archived = called(client, "interview_flows.delete_interview_flow", flow_id)
    assert (archived.success, archived.status) == (True, "archived")
    assert called(client, "teams.ping").message == "pong"
    (team,) = called(client, "teams.list_teams").teams
    assert called(client, "teams.list_team_members", team_id=team.id).team_members


def test_the_generated_python_client_reads_a_result_in_each_choice_of_transcript(
    client: Any, package: ModuleType, recorded: Made
) -> None:
    interview = recorded()
    processing.process_interview(interview.id)
    shapes = importlib.import_module("parley_client.models")
    kinds = {
        "full": shapes.InterviewData,
        "text": shapes.InterviewDataTextOnly,
        "none": shapes.InterviewDataNoTranscript,
    }
    for choice, kind in kinds.items():
        asked = {"transcript": shapes.TranscriptChoice(choice)}
        one = called(client, "interviews.get_interview", interview.id, **asked).interview_data
        (listed,) = called(
            client, "interviews.list_interviews", status=shapes.InterviewStatus.COMPLETED, **asked
        ).interviews
        assert type(one) is type(listed.interview_data) is kind
        assert one.summary == "Likes to help people."
        assert one.to_dict()["scores"] is not None
    whole = called(client, "interviews.get_interview", interview.id).interview_data
    assert [word.word for segment in whole.transcript_with_timestamp for word in segment.words][-2:] == [
        "hello",
        "there",
    ]


def test_the_generated_python_client_reads_refusals(client: Any, package: ModuleType) -> None:
    shapes = importlib.import_module("parley_client.models")
    refusal = called(client, "interviews.get_interview", "unknown")
    assert isinstance(refusal, shapes.ErrorResponse)
    assert (refusal.code, refusal.status) == (422, "Unprocessable Entity")
    stranger = client.__class__("http://localhost", token="none", httpx_args=client._httpx_args)
    refusal = called(stranger, "teams.ping")
    assert isinstance(refusal, shapes.Error)
    assert refusal.code == 401


def test_the_generated_python_client_has_one_type_for_each_set_of_words(package: ModuleType) -> None:
    """Not one for each place in which it is used, nor one beside it for null."""
    shapes = importlib.import_module("parley_client.models")
    kinds = {name for name in shapes.__all__ if issubclass(getattr(shapes, name), enum.Enum)}
    words = {"VoiceId", "Language", "InterviewType", "InterviewStatus", "InterviewFlowStatus", "TranscriptChoice"}
    more = {"ErrorCode", "InterviewMode", "Scenario", "StatusMeaning", "ChangeKind", "ChangeType"}
    more |= {f"Webhook{name}" for name in ("DeliveryState", "EventType", "ResendState")}
    assert kinds >= words | more, words | more - kinds
    assert not any(name.endswith(("Type1", "Type2")) for name in kinds), kinds


needs_tools = pytest.mark.skipif(not TOOLS.is_dir(), reason="npm ci --prefix tests/clients")


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    """A folder in which Node finds the packages of ``tests/clients``."""
    (tmp_path / "node_modules").symlink_to(TOOLS)
    return tmp_path


@needs_tools
def test_the_generated_types_compile_and_find_mistakes(workshop: Path) -> None:
    """``program.ts`` uses them, and says itself which of its lines have to be refused."""
    run(TOOLS / ".bin" / "openapi-typescript", GOLDEN, "-o", workshop / "v1.ts", at=workshop)
    shutil.copy(CLIENTS / "program.ts", workshop)
    options = ["--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"]
    run(TOOLS / ".bin" / "tsc", *options, "--lib", "es2022,dom", "program.ts", at=workshop)


@needs_tools
def test_the_node_library_verifies_events_as_the_guide_says(workshop: Path) -> None:
    (workshop / "guide.mjs").write_text(blocks("js", under=STANDARD)[1])
    (workshop / "try.mjs").write_text(
        f"""
        import {{ createHmac }} from "node:crypto";
        import {{ eventOf }} from "./guide.mjs";
        const at = String(Math.floor(Date.now() / 1000)), body = Buffer.from('{{"event_type": "interview_processed"}}');
        const made = createHmac("sha256", {json.dumps(SECRET)}).update(`evt_1.${{at}}.`).update(body).digest("base64");
        const headers = {{"webhook-id": "evt_1", "webhook-timestamp": at, "webhook-signature": `v1,${{made}}`}};
        const wrong = ["evt_2", "\u00fc"].map((id) => eventOf({{...headers, "webhook-id": id}}, body));
        console.log(JSON.stringify([eventOf(headers, body), ...wrong]));
        """
    )
    told = json.loads(run(str(shutil.which("node")), "try.mjs", at=workshop))
    assert told == [{"event_type": "interview_processed"}, None, None]


def test_the_lock_of_the_node_packages_names_no_registry() -> None:
    lock = json.loads((CLIENTS / "package-lock.json").read_text())
    packages = {name: one for name, one in lock["packages"].items() if name}
    assert len(packages) > 2
    assert all("resolved" not in one and one["integrity"].startswith("sha512-") for one in packages.values())
