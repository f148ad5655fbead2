"""Notices to members by mail, and to channels in Slack and Microsoft Teams."""

import sqlalchemy as sa
from alembic import op

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
KINDS = ("result_ready", "request_waiting", "webhook_failing")
PACES = ("at_once", "daily", "off")
STATES = ("waiting", "sending", "sent", "failed", "lost", "dropped")
WHOSE = "(SELECT current_setting('parley.organization', true))"
OWNED = {
    "notice": f"organization_id = {WHOSE}",
    "notice_channel": f"organization_id = {WHOSE}",
    "notice_delivery": f"organization_id = {WHOSE}",
    "notice_preference": "EXISTS (SELECT 1 FROM team_member WHERE team_member.id = notice_preference.member_id)",
}
LETTER = """CASE
  WHEN interview_id IS NOT NULL THEN EXISTS (SELECT 1 FROM interview WHERE interview.id = letter.interview_id)
  ELSE EXISTS (SELECT 1 FROM entry_link WHERE entry_link.letter_id = letter.id)
    OR EXISTS (SELECT 1 FROM address_change WHERE address_change.letter_id = letter.id){more} END"""
OF_NOTICES = "\n    OR EXISTS (SELECT 1 FROM notice_delivery WHERE notice_delivery.letter_id = letter.id)"


def upgrade() -> None:
    _tables()
    if op.get_bind().dialect.name == "postgresql":
        for table, condition in OWNED.items():
            allowed = f"CASE {WHOSE} WHEN 'everyone' THEN true ELSE {condition} END"
            op.execute(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
            op.execute(f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY')
            op.execute(f'CREATE POLICY own_rows ON "{table}" USING ({allowed}) WITH CHECK ({allowed})')
        _see_letters(OF_NOTICES)


def _see_letters(more: str) -> None:
    """An erasure takes back mail about notices, which belongs to whom its notice belongs to."""
    allowed = f"CASE {WHOSE} WHEN 'everyone' THEN true ELSE {LETTER.format(more=more)} END"
    written = f"{WHOSE} <> '' AND interview_id IS NULL OR {allowed}"
    op.execute(f'ALTER POLICY own_rows ON "letter" USING ({allowed}) WITH CHECK ({written})')


def _tables() -> None:
    op.create_table(
        "notice",
        _text("id"),
        _text("organization_id"),
        _text("kind", 32),
        _text("key", 150),
        _text("interview_id", nullable=True),
        _text("request_id", nullable=True),
        _text("endpoint_id", nullable=True),
        _text("step", 20, nullable=True),
        _moment("created_at"),
        _moment("spread_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_notice"),
        _parent("notice", "organization_id", "organization"),
        _parent("notice", "interview_id", "interview"),
        _parent("notice", "request_id", "wish"),
        _parent("notice", "endpoint_id", "webhook_endpoint"),
        sa.UniqueConstraint("organization_id", "key", name="uq_notice_organization_id_key"),
        _check("notice", "kind", KINDS, "noticekind"),
    )
    op.create_index("ix_notice_interview_id", "notice", ["interview_id"])
    op.create_index("ix_notice_spread_at_created_at", "notice", ["spread_at", "created_at"])
    op.create_index("ix_notice_created_at", "notice", ["created_at"])
    _preferences()
    _channels()
    _deliveries()


def _preferences() -> None:
    op.create_table(
        "notice_preference",
        _text("member_id"),
        _text("result_ready", 32),
        _text("request_waiting", 32),
        _text("webhook_failing", 32),
        sa.Column("is_own_only", sa.Boolean(), nullable=False),
        sa.Column("with_names", sa.Boolean(), nullable=False),
        sa.Column("with_scores", sa.Boolean(), nullable=False),
        sa.Column("hour", sa.Integer(), nullable=False),
        _text("time_zone", 64),
        _moment("changed_at"),
        sa.PrimaryKeyConstraint("member_id", name="pk_notice_preference"),
        _parent("notice_preference", "member_id", "team_member"),
        _check("notice_preference", "result_ready", PACES, "resultpace"),
        _check("notice_preference", "request_waiting", PACES, "requestpace"),
        _check("notice_preference", "webhook_failing", PACES, "webhookpace"),
    )


def _channels() -> None:
    op.create_table(
        "notice_channel",
        _text("id"),
        _text("organization_id"),
        _text("flow_id", nullable=True),
        _text("created_by_id"),
        _moment("created_at"),
        _text("name", 100),
        _text("service", 32),
        sa.Column("address_sealed", sa.Text(), nullable=False),
        _text("address_hint", 300),
        _text("address_hash", 64),
        sa.Column("kinds", sa.JSON(), nullable=False),
        sa.Column("with_names", sa.Boolean(), nullable=False),
        sa.Column("with_scores", sa.Boolean(), nullable=False),
        _moment("switched_off_at", nullable=True),
        sa.Column("switched_off_by", sa.String(32), nullable=True),
        _moment("not_before", nullable=True),
        _moment("failing_since", nullable=True),
        _text("failure", 300, nullable=True),
        _moment("sent_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_notice_channel"),
        _parent("notice_channel", "organization_id", "organization"),
        _parent("notice_channel", "flow_id", "interview_flow"),
        _parent("notice_channel", "created_by_id", "team_member"),
        _check("notice_channel", "service", ("slack", "teams"), "service"),
        _check("notice_channel", "switched_off_by", ("member", "gone"), "switchedoff"),
    )
    op.create_index("ix_notice_channel_organization_id_flow_id", "notice_channel", ["organization_id", "flow_id"])
    op.create_index("ix_notice_channel_flow_id", "notice_channel", ["flow_id"])


def _deliveries() -> None:
    parents = {
        "organization_id": "organization",
        "notice_id": "notice",
        "channel_id": "notice_channel",
        "member_id": "team_member",
        "letter_id": "letter",
    }
    op.create_table(
        "notice_delivery",
        _text("id"),
        *(_text(column, nullable=column in {"channel_id", "member_id", "letter_id"}) for column in parents),
        _text("state", 32),
        sa.Column("attempts", sa.Integer(), nullable=False),
        _moment("created_at"),
        _moment("due_at"),
        _moment("finished_at", nullable=True),
        _text("failure", 300, nullable=True),
        _moment("lease_until", nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("recoveries", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_notice_delivery"),
        *(_parent("notice_delivery", column, parent) for column, parent in parents.items()),
        sa.UniqueConstraint("notice_id", "channel_id", name="uq_notice_delivery_notice_id_channel_id"),
        sa.UniqueConstraint("notice_id", "member_id", name="uq_notice_delivery_notice_id_member_id"),
        _check("notice_delivery", "state", STATES, "noticestate"),
    )
    for columns in (
        ["channel_id", "created_at"],
        ["member_id", "state", "due_at"],
        ["state", "due_at"],
        ["letter_id"],
    ):
        op.create_index(f"ix_notice_delivery_{'_'.join(columns)}", "notice_delivery", columns)


def _text(name: str, length: int = 36, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(length), nullable=nullable)


def _moment(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, MOMENT, nullable=nullable)


def _check(table: str, column: str, words: tuple[str, ...], name: str) -> sa.CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=op.f(f"ck_{table}_{name}"))


def _parent(table: str, column: str, parent: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{parent}.id"], name=f"fk_{table}_{column}")


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        _see_letters("")
    for table in ("notice_delivery", "notice_channel", "notice_preference", "notice"):
        op.drop_table(table)
