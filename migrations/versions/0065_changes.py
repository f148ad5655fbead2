"""The feed of changes: one row for each object, which the database itself moves to the newest position.

Triggers write it, so that no statement can forget it. None of them reads a table other than ``change``: on SQLite, a
migration that rebuilds a table would fail at a trigger elsewhere that names it. It drops the table's own triggers,
though, and has to create them again; a test compares them.
"""

import uuid
from collections.abc import Callable, Iterator
from typing import NamedTuple

import sqlalchemy as sa
from alembic import op

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
BY_BYTES = sa.String(80, collation="C").with_variant(sa.String(80), "sqlite")
WHOSE = "(SELECT current_setting('parley.organization', true))"
DELETED, DELETED_1 = sa.text("is_deleted"), sa.text("is_deleted = 1")
TRANSACTION = "CAST(CAST(pg_current_xact_id() AS text) AS bigint)"
PLACE = """concat_ws('/', (pg_control_system()).system_identifier,
 (SELECT oid FROM pg_database WHERE datname = current_database()), CAST(CAST('change' AS regclass) AS oid),
 left(pg_walfile_name(pg_current_wal_lsn()), 8))"""
"""Which server, database, table and line of its history this is: another one after a restore or a failover."""
DEFAULT_STATUSES = ("invited", "interviewed", "shortlisted", "accepted", "rejected", "withdrawn")

FLOW = (
    *("team_id", "org_name", "title", "status", "questions", "voice_id", "language", "company_logo_url"),
    *("additional_info", "additional_instructions", "interview_type", "is_video_enabled", "is_doc_upload_enabled"),
    *("redirect_url", "webhook_url", "webhook_secret_sealed", "intro", "outro"),
)
INTERVIEW = (
    *("flow_id", "team_id", "status", "interviewee_email_address", "interviewee_first_name"),
    *("interviewee_last_name", "withdrawn_at"),
)
CANDIDATE = (
    *("team_id", "flow_id", "email", "first_name", "last_name", "status", "assigned_recruiter_id"),
    "quarantined_at",
)
STATUS = ("name", "position", "meaning")
REASON = ("code", "meaning", "label", "position")
RESULT = ("summary", "scores", "version")
VERSION = ("source", "scores")
JSON = ("questions", "scores")
"""PostgreSQL compares no JSON; both sides are made text."""


Body = Callable[[str], str]
"""A statement of a trigger, by the name of the database."""

_COLUMNS = "organization_id, kind, object_id, flow_id, is_deleted, at, txid"
_NOW = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f000', 'now'), 0",
    "postgresql": f"clock_timestamp(), {TRANSACTION}",
}
_INTO = {"sqlite": f"INSERT OR REPLACE INTO change ({_COLUMNS})", "postgresql": f"INSERT INTO change ({_COLUMNS})"}
_NEWEST = """ON CONFLICT (kind, object_id, organization_id) DO UPDATE SET number = EXCLUDED.number,
 txid = EXCLUDED.txid, at = EXCLUDED.at, is_deleted = EXCLUDED.is_deleted, flow_id = EXCLUDED.flow_id"""
_AFTER = {"sqlite": "", "postgresql": _NEWEST}


def put(kind: str, object_id: str, *, owner: str = "NEW.organization_id", flow: str, gone: str = "false") -> Body:
    """Add or move the row of an object."""
    return lambda db: f"{_INTO[db]} VALUES ({owner}, '{kind}', {object_id}, {flow}, {gone}, {_NOW[db]}) {_AFTER[db]}"


def lost(kind: str, *, flow: str) -> Body:
    """The object was deleted."""
    return put(kind, "OLD.id", owner="OLD.organization_id", flow=flow, gone="true")


def beside(kind: str, object_id: str, interview_id: str, *, gone: str = "false") -> Body:
    """As ``put``, of an object whose organization and flow are those of an interview."""
    return lambda db: (
        f"{_INTO[db]} SELECT organization_id, '{kind}', {object_id}, flow_id, {gone}, {_NOW[db]} FROM change"  # noqa: S608 - our own words
        f" WHERE kind = 'interview' AND object_id = {interview_id} {_AFTER[db]}"
    )


def move(kind: str, condition: str) -> Body:
    """Move the rows of objects that show something of the row that changed."""
    same = "organization_id, kind, object_id, flow_id, is_deleted"
    return lambda db: (
        f"{_INTO[db]} SELECT {same}, {_NOW[db]} FROM change WHERE kind = '{kind}' AND {condition}"  # noqa: S608 - as above
        if db == "sqlite"
        else f"UPDATE change SET number = nextval('change_number_seq'), at = clock_timestamp(), txid = {TRANSACTION}"  # noqa: S608
        f" WHERE kind = '{kind}' AND {condition}"
    )


def interview_of(row: str) -> Body:
    return move("interview", f"object_id = {row}.interview_id")


def candidate_of(row: str) -> Body:
    return move("candidate", f"object_id = {row}.candidate_id")


def statuses_of(row: str) -> Body:
    return move("status", f"organization_id = {row}.organization_id")


def defaults_of(row: str) -> Body:
    """The statuses of an organization without its own; the first of its own ends them."""
    names = ", ".join(f"'{name}'" for name in DEFAULT_STATUSES)
    return move("status", f"organization_id = {row}.organization_id AND object_id IN ({names})")


def versions_of(interview_id: str) -> Body:
    """``.`` and ``/`` are neighbors in the order of bytes, so an index finds all versions of an interview."""
    return move("score_version", f"object_id > {interview_id} || '.' AND object_id < {interview_id} || '/'")


def version(row: str, number: str, *, gone: str = "false") -> Body:
    return beside("score_version", f"{row}.interview_id || '.' || {number}", f"{row}.interview_id", gone=gone)


class Trigger(NamedTuple):
    """What runs after a change of a row; ``columns`` are those of an UPDATE that counts."""

    name: str
    table: str
    when: str
    bodies: tuple[Body, ...]
    columns: tuple[str, ...] = ()


INSERT, UPDATE, DELETE = "INSERT", "UPDATE", "DELETE"
_FLOW_NOW = put("interview_flow", "NEW.id", flow="NEW.id")
_INTERVIEW_NOW = put("interview", "NEW.id", flow="NEW.flow_id")
_CANDIDATE_NOW = put("candidate", "NEW.id", flow="NEW.flow_id")
_STATUS_NOW = put("status", "NEW.id", flow="NULL")
_DEFAULTS_NOW = tuple(put("status", f"'{name}'", owner="NEW.id", flow="NULL") for name in DEFAULT_STATUSES)
TRIGGERS = (
    Trigger("organization_added", "organization", INSERT, _DEFAULTS_NOW),
    Trigger("flow_added", "interview_flow", INSERT, (_FLOW_NOW,)),
    Trigger("flow_changed", "interview_flow", UPDATE, (_FLOW_NOW,), FLOW),
    Trigger("flow_deleted", "interview_flow", DELETE, (lost("interview_flow", flow="OLD.id"),)),
    Trigger("interview_added", "interview", INSERT, (_INTERVIEW_NOW, candidate_of("NEW"))),
    Trigger("interview_changed", "interview", UPDATE, (_INTERVIEW_NOW,), INTERVIEW),
    Trigger("interview_moved", "interview", UPDATE, (candidate_of("OLD"), candidate_of("NEW")), ("candidate_id",)),
    Trigger("interview_withheld", "interview", UPDATE, (versions_of("NEW.id"),), ("withdrawn_at", "erased_at")),
    Trigger("interview_deleted", "interview", DELETE, (lost("interview", flow="OLD.flow_id"), candidate_of("OLD"))),
    Trigger("candidate_added", "candidate", INSERT, (_CANDIDATE_NOW,)),
    Trigger("candidate_changed", "candidate", UPDATE, (_CANDIDATE_NOW,), CANDIDATE),
    Trigger("candidate_deleted", "candidate", DELETE, (lost("candidate", flow="OLD.flow_id"),)),
    Trigger("status_added", "pipeline_status", INSERT, (_STATUS_NOW, defaults_of("NEW"))),
    Trigger("status_changed", "pipeline_status", UPDATE, (_STATUS_NOW,), STATUS),
    Trigger("status_deleted", "pipeline_status", DELETE, (lost("status", flow="NULL"), defaults_of("OLD"))),
    Trigger("reason_added", "decision_reason", INSERT, (statuses_of("NEW"),)),
    Trigger("reason_changed", "decision_reason", UPDATE, (statuses_of("NEW"),), REASON),
    Trigger("reason_deleted", "decision_reason", DELETE, (statuses_of("OLD"),)),
    Trigger("result_added", "interview_data", INSERT, (interview_of("NEW"), version("NEW", "1"))),
    Trigger("result_changed", "interview_data", UPDATE, (interview_of("NEW"), versions_of("NEW.interview_id")), RESULT),
    Trigger("result_deleted", "interview_data", DELETE, (interview_of("OLD"), version("OLD", "1", gone="true"))),
    Trigger("version_added", "score_version", INSERT, (version("NEW", "NEW.number"),)),
    Trigger("version_changed", "score_version", UPDATE, (version("NEW", "NEW.number"),), VERSION),
    # The first version is the result's own: it stays, where that does.
    Trigger("version_deleted", "score_version", DELETE, (version("OLD", "OLD.number", gone="OLD.number <> 1"),)),
    Trigger("recording_added", "recording", INSERT, (interview_of("NEW"),)),
    Trigger("recording_changed", "recording", UPDATE, (interview_of("NEW"),), ("damaged_at",)),
    Trigger("recording_deleted", "recording", DELETE, (interview_of("OLD"),)),
    Trigger("revocation_added", "revocation", INSERT, (interview_of("NEW"),)),
    Trigger("revocation_deleted", "revocation", DELETE, (interview_of("OLD"),)),
)


def upgrade() -> None:
    _make_tables()
    if op.get_bind().dialect.name == "sqlite":
        for trigger in TRIGGERS:
            op.execute(_for_sqlite(trigger))
        for statement in _existing("sqlite"):
            op.execute(statement)
        return
    _guard_rows()
    for trigger in TRIGGERS:
        for statement in _for_postgresql(trigger):
            op.execute(statement)
    op.execute(f"UPDATE change_feed SET place = {PLACE}")  # noqa: S608 - as above
    # The triggers' locks end here: others write while what exists already is added, however long that takes.
    with op.get_context().autocommit_block():
        op.execute("SELECT set_config('parley.organization', 'everyone', false)")
        for statement in _existing("postgresql"):
            op.execute(statement)
        op.execute("SELECT set_config('parley.organization', '', false)")


def _make_tables() -> None:
    """May have broken off after this on PostgreSQL, where a part of the revision is its own transaction."""
    op.create_table(
        "change",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column(
            "organization_id", sa.String(36), sa.ForeignKey("organization.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("object_id", BY_BYTES, nullable=False),
        sa.Column("flow_id", sa.String(36), nullable=True),
        sa.Column("is_deleted", sa.Boolean(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("txid", sa.BigInteger(), nullable=False),
        sa.UniqueConstraint("kind", "object_id", "organization_id"),
        sqlite_autoincrement=True,
        if_not_exists=True,
    )
    op.create_index(
        "ix_change_position", "change", ["organization_id", "txid", "number"], unique=False, if_not_exists=True
    )
    some = {"sqlite_where": DELETED_1, "postgresql_where": DELETED}
    op.create_index("ix_change_deleted", "change", ["at"], unique=False, if_not_exists=True, **some)
    op.create_table(
        "change_feed",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("generation", sa.String(36), nullable=False),
        sa.Column("place", sa.String(200), nullable=True),
        sa.CheckConstraint("id = 1", name=op.f("ck_change_feed_only_one")),
        if_not_exists=True,
    )
    feed = sa.table("change_feed", sa.column("id", sa.Integer), sa.column("generation", sa.String))
    if not op.get_bind().scalar(sa.select(sa.func.count()).select_from(feed)):
        op.get_bind().execute(sa.insert(feed).values(id=1, generation=str(uuid.uuid4())))


def _guard_rows() -> None:
    allowed = f"CASE {WHOSE} WHEN 'everyone' THEN true ELSE organization_id = {WHOSE} END"
    op.execute("ALTER TABLE change ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE change FORCE ROW LEVEL SECURITY")
    op.execute("DROP POLICY IF EXISTS own_rows ON change")
    op.execute(f"CREATE POLICY own_rows ON change USING ({allowed}) WITH CHECK ({allowed})")


def _for_sqlite(trigger: Trigger) -> str:
    of = f" OF {', '.join(trigger.columns)}" if trigger.columns else ""
    differs = " OR ".join(f"NEW.{name} IS NOT OLD.{name}" for name in trigger.columns)
    when = f" WHEN {differs}" if differs else ""
    bodies = " ".join(f"{body('sqlite')};" for body in trigger.bodies)
    return f"CREATE TRIGGER change_{trigger.name} AFTER {trigger.when}{of} ON {trigger.table}{when} BEGIN {bodies} END"


def _for_postgresql(trigger: Trigger) -> Iterator[str]:
    name = f"change_{trigger.name}"
    bodies = " ".join(f"{body('postgresql')};" for body in trigger.bodies)
    yield (
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {bodies} RETURN NULL; END $$"
    )
    of = f" OF {', '.join(trigger.columns)}" if trigger.columns else ""
    differs = " OR ".join(f"{_text('NEW', one)} IS DISTINCT FROM {_text('OLD', one)}" for one in trigger.columns)
    when = f" WHEN ({differs})" if differs else ""
    yield f"DROP TRIGGER IF EXISTS {name} ON {trigger.table}"
    yield (
        f"CREATE TRIGGER {name} AFTER {trigger.when}{of} ON {trigger.table} FOR EACH ROW{when}"
        f" EXECUTE FUNCTION {name}()"
    )


def _text(row: str, column: str) -> str:
    return f"CAST({row}.{column} AS text)" if column in JSON else f"{row}.{column}"


def _existing(db: str) -> Iterator[str]:
    """Statements that add what existed before the triggers. A row that is there already is as new or newer."""
    no_row = {"sqlite": "OR IGNORE ", "postgresql": ""}[db]
    after = {"sqlite": "", "postgresql": " ON CONFLICT DO NOTHING"}[db]
    names = " UNION ALL ".join(f"SELECT '{name}' AS name" for name in DEFAULT_STATUSES)
    first = ("'score_version'", "interview_data.interview_id || '.1'", "interview.flow_id")
    version = ("'score_version'", "score_version.interview_id || '.' || score_version.number", "interview.flow_id")
    for owner, (kind, object_id, flow), rows in (
        ("id", ("'status'", "defaults.name", "NULL"), f"organization, ({names}) AS defaults"),
        ("organization_id", ("'status'", "id", "NULL"), "pipeline_status"),
        ("organization_id", ("'interview_flow'", "id", "id"), "interview_flow ORDER BY created_at, id"),
        ("organization_id", ("'candidate'", "id", "flow_id"), "candidate ORDER BY created_at, id"),
        ("organization_id", ("'interview'", "id", "flow_id"), "interview ORDER BY created_at, id"),
        ("organization_id", first, "interview_data JOIN interview ON interview.id = interview_data.interview_id"),
        ("organization_id", version, "score_version JOIN interview ON interview.id = score_version.interview_id"),
    ):
        yield (
            f"INSERT {no_row}INTO change ({_COLUMNS})"  # noqa: S608 - our own words
            f" SELECT {owner}, {kind}, {object_id}, {flow}, false, {_NOW[db]} FROM {rows}{after}"
        )


def downgrade() -> None:
    for trigger in reversed(TRIGGERS):
        if op.get_bind().dialect.name == "sqlite":
            op.execute(f"DROP TRIGGER change_{trigger.name}")
        else:
            op.execute(f"DROP TRIGGER change_{trigger.name} ON {trigger.table}")
            op.execute(f"DROP FUNCTION change_{trigger.name}()")
    op.drop_table("change_feed")
    op.drop_table("change")
