"""On PostgreSQL the database itself refuses the rows of other organizations. SQLite has no such thing."""

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

WHOSE = "(SELECT current_setting('parley.organization', true))"
"""In brackets of its own, so that it is asked once in a statement and not once in a row."""

OWN = (
    "access_request",
    "api_key",
    "assessment",
    "audit_check",
    "audit_entry",
    "candidate",
    "candidate_tag",
    "erasure",
    "flow_link",
    "idempotent_call",
    "installation",
    "interview",
    "interview_flow",
    "invited",
    "legal_hold",
    "mail_words",
    "message",
    "note",
    "outreach_plan",
    "pipeline_status",
    "recording",
    "retention_rule",
    "share",
    "team",
    "team_member",
    "usage_notice",
    "usage_quota",
    "usage_record",
    "webhook_delivery",
    "webhook_endpoint",
    "wish",
)
"""Tables whose rows name their organization."""

CHILDREN = {
    "interview": (
        "agreement",
        "chunk",
        "document",
        "document_upload",
        "feedback",
        "interview_data",
        "own_code",
        "own_pass",
        "quality_report",
        "recorder_run",
        "revocation",
        "sitting",
        "utterance",
        "waveform",
    ),
    "team_member": (
        "address_change:member_id",
        "entry_link:member_id",
        "login:member_id",
        "recovery_code:member_id",
        "saved_view:member_id",
        "team_membership:member_id",
    ),
    "candidate": ("status_change",),
    "document_upload": ("document_part:upload_id",),
    "flow_link": ("flow_visit:link_id",),
    "interview_flow": ("flow_grant:flow_id", "webhook_route:flow_id"),
    "note": ("mention",),
    "share": ("share_opening",),
    "sitting": ("turn",),
    "webhook_delivery": ("webhook_attempt:delivery_id",),
}
"""Tables whose rows belong to whom their parent belongs to; ``:column`` where it is not named after the parent."""


LETTER = """CASE
  WHEN interview_id IS NOT NULL THEN EXISTS (SELECT 1 FROM interview WHERE interview.id = letter.interview_id)
  ELSE EXISTS (SELECT 1 FROM entry_link WHERE entry_link.letter_id = letter.id)
    OR EXISTS (SELECT 1 FROM address_change WHERE address_change.letter_id = letter.id) END"""
"""To candidates about an interview; to members with a link to their account, which is written after the letter."""


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    for table, condition in conditions().items():
        allowed = f"CASE {WHOSE} WHEN 'everyone' THEN true ELSE {condition} END"
        written = f"{WHOSE} <> '' AND interview_id IS NULL OR {allowed}" if table == "letter" else allowed
        op.execute(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
        op.execute(f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY')  # for its owner too, who is Parley
        op.execute(f'CREATE POLICY own_rows ON "{table}" USING ({allowed}) WITH CHECK ({written})')


def conditions() -> dict[str, str]:
    """By table, when a row belongs to the organization that the database was told of."""
    found = {"organization": f"id = {WHOSE}", "letter": LETTER}
    found |= dict.fromkeys(OWN, f"organization_id = {WHOSE}")
    for parent, children in CHILDREN.items():
        for child in children:
            table, _, column = child.partition(":")
            mine = f"{table}.{column or f'{parent}_id'}"
            found[table] = f"EXISTS (SELECT 1 FROM {parent} WHERE {parent}.id = {mine})"  # noqa: S608 - names from above
    return found


def downgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    for table in conditions():
        op.execute(f'DROP POLICY own_rows ON "{table}"')
        op.execute(f'ALTER TABLE "{table}" NO FORCE ROW LEVEL SECURITY')
        op.execute(f'ALTER TABLE "{table}" DISABLE ROW LEVEL SECURITY')
