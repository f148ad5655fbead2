import sqlalchemy as sa

from app.core.db import db


def show(interview_id):
    # ruleid: row-by-id-in-edge
    interview = db.session.get(Interview, interview_id)
    # ruleid: row-by-id-in-edge
    flow = db.session.get_one(InterviewFlow, interview.flow_id, populate_existing=True)
    # ok: row-by-id-in-edge
    mine = interview_for(current_organization(), interview_id)
    # ok: row-by-id-in-edge
    cached = cache.get("row")
    return interview, flow, mine, cached


def listed(interview_id, organization):
    # ruleid: query-by-id-in-edge
    found = db.session.scalar(select(Interview).where(Interview.id == interview_id))
    # ruleid: query-by-id-in-edge
    again = db.session.scalar(sa.select(Interview).where(Interview.id == interview_id))
    # ruleid: query-by-id-in-edge
    old = Interview.query.filter_by(id=interview_id)
    # ok: query-by-id-in-edge
    theirs = db.session.scalar(select(Interview).where(Interview.organization_id == organization.id, Interview.id == interview_id))
    return found, again, old, theirs


def upgrade(table, name):
    # ruleid: sql-put-together
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    # ruleid: sql-put-together
    connection.execute("SELECT * FROM candidate WHERE name = '%s'" % name)
    # ruleid: sql-put-together
    cursor.execute("SELECT {}".format(name))
    # ruleid: sql-put-together
    sa.literal_column("name || '" + name + "'")
    # ok: sql-put-together
    op.execute("ALTER TABLE candidate ENABLE ROW LEVEL SECURITY")
    # ok: sql-put-together
    connection.execute(sa.text("SELECT * FROM candidate WHERE name = :name"), {"name": name})
    # ok: sql-put-together
    runner.execute(sa.select(Candidate).where(Candidate.name == name))


def connected(url):
    # ruleid: errors-tell-values
    first = sa.create_engine(url)
    # ruleid: errors-tell-values
    second = create_engine(url, hide_parameters=False)
    # ok: errors-tell-values
    third = sa.create_engine(url, pool_pre_ping=True, hide_parameters=True)
    return first, second, third
