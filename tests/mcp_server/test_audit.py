"""Each use of a tool is one entry of the audit log, with the key, and with names that cannot pass for others."""

import pytest
from mcp_types import Implementation

from app.accounts import mcp_calls
from app.accounts.models import ApiKey, AuditEntry
from app.core.db import db
from tests.factories import Made
from tests.people import Person

from .conftest import HANDSHAKE, MODERN


def entries() -> list[AuditEntry]:
    found = db.session.query(AuditEntry).filter_by(action=mcp_calls.ACTION).order_by(AuditEntry.number)
    return list(found)


@pytest.mark.parametrize("mode", [MODERN, HANDSHAKE])
def test_a_use_of_a_tool_is_one_entry_with_key_tool_and_program(
    assistant: Made, owner: Person, completed: Made, mode: str
) -> None:
    flow = completed().flow
    assistant(mode=mode).call("compare_scores", flow_id=flow.id)
    (entry,) = entries()
    assert entry.details == {"tool": "compare_scores", "client": "mcp/claude-ai 1.2", "about": flow.id}
    assert entry.subject == db.session.query(ApiKey).filter_by(organization_id=owner.organization.id).one().id
    assert (entry.member_id, entry.organization_id) == (None, owner.organization.id)
    page = owner.browser.get("/audit?group=api_key").text
    assert "Called a parley mcp tool with an API key" in page
    assert "Program name (not verified): mcp/claude-ai 1.2" in page


def test_refused_uses_resources_and_repeats_are_entries_too(assistant: Made, make_flow: Made) -> None:
    flow = make_flow()
    read = assistant()
    read.refused("get_interview", interview_id="none")
    read.call("get_flow", flow_id=flow.id)
    read.call("get_flow", flow_id=flow.id)
    read.ask(lambda client: client.read_resource(f"parley://flows/{flow.id}"))
    assert [entry.details["tool"] for entry in entries()] == ["get_interview", "get_flow", "get_flow", "resource_flow"]
    assistant("create").call("create_interview", flow_id=flow.id)
    assert entries()[-1].details["tool"] == "create_interview"


def test_a_program_cannot_pass_for_a_member_or_break_the_line(assistant: Made, owner: Person) -> None:
    assistant(name=Implementation(name=owner.member.id, version="")).call("list_flows")
    assistant(name=Implementation(name="Zoë\r\nX-Parley-Tool: other\x00", version="1" * 500)).call("list_flows")
    first, second = (entry.details["client"] for entry in entries())
    assert first == f"mcp/{owner.member.id}"
    assert second.startswith("mcp/Zo%C3%AB%0D%0AX-Parley-Tool: other%00 1")
    assert len(second) <= 124
    page = owner.browser.get("/audit?group=api_key").text
    assert "Owner" not in page.partition("Program name (not verified)")[2][:80]
