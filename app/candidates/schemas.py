"""What goes in and out of ``/v1/candidates`` and ``/v1/statuses``. None of it is in the contract."""

import marshmallow as ma

from app.candidates.models import DEFAULT_MEANINGS, INVITED, REJECTED, Meaning
from app.web import examples
from app.web.fields import Choice, EmailAddress, QueryId, Text, after_field, limit_field, team_id_field

LONGEST_STATUS = 100
LONGEST_CODE = 36
CANDIDATE_ID = "40b7c1f2-9d3e-4a58-8c16-5e2f0a7d9b83"


class CandidateSchema(ma.Schema):
    """A candidate of the pipeline: one person in one recruitment flow."""

    candidate_id = ma.fields.String(required=True)
    team_id = ma.fields.String(required=True)
    interview_flow_id = ma.fields.String(required=True)
    interviewee_email_address = ma.fields.String(required=True)
    interviewee_first_name = ma.fields.String(required=True, allow_none=True)
    interviewee_last_name = ma.fields.String(required=True, allow_none=True)
    status = ma.fields.String(required=True, metadata={"description": "Name of the candidate's status."})
    assigned_recruiter_id = ma.fields.String(required=True, allow_none=True)
    interview_ids = ma.fields.List(
        ma.fields.String(), required=True, metadata={"description": "The candidate's interviews, newest first."}
    )
    created_at = ma.fields.String(required=True, metadata={"format": "date-time"})


class CandidatesSchema(ma.Schema):
    """One page of candidates."""

    candidates = ma.fields.List(ma.fields.Nested(CandidateSchema), required=True)
    next = ma.fields.String(
        required=True, allow_none=True, metadata={"description": "`after` of the next page. Null on the last page."}
    )


class CandidatesQuerySchema(ma.Schema):
    """Query of the list of candidates."""

    interview_flow_id = QueryId(load_default=None, metadata={"description": "Only candidates of this flow."})
    team_id = team_id_field()
    status = Text(
        most=LONGEST_STATUS,
        blank=False,
        load_default=None,
        metadata={"description": "Only candidates with this status."},
    )
    email = EmailAddress(
        load_default=None, metadata={"description": "Only candidates with this address, in upper or lower case."}
    )
    limit = limit_field(100)
    after = after_field()


class CandidateMoveSchema(ma.Schema):
    """Body that moves a candidate. A status that decides also needs ``decided_by`` and ``reason_code``."""

    class Meta:
        unknown = ma.RAISE

    status = Text(most=LONGEST_STATUS, blank=False, required=True, metadata={"description": "Name of the new status."})
    decided_by = Text(
        most=100,
        blank=False,
        allow_none=True,
        load_default=None,
        metadata={
            "description": "Id of the member who decided, see GET /v1/team-members. Required for statuses that mean "
            "`advanced`, `accepted` or `rejected`."
        },
    )
    reason_code = Text(
        most=LONGEST_CODE,
        blank=False,
        allow_none=True,
        load_default=None,
        metadata={
            "description": "Why, see `reason_codes` of GET /v1/statuses. Required for the same statuses, and refused "
            "for all others."
        },
    )
    # How long a note may be is for the action to say, which pages call too.
    note = Text(
        most=10_000,
        allow_none=True,
        load_default=None,
        metadata={"description": "Saved in the history, at most 2000 characters. Candidates do not see it."},
    )
    previous_status = Text(
        most=LONGEST_STATUS,
        blank=False,
        allow_none=True,
        load_default=None,
        metadata={"description": "The status you have seen. If it is not the present one, the move gets 409."},
    )


class ReasonCodeSchema(ma.Schema):
    """A reason that the organization offers for a decision."""

    code = ma.fields.String(required=True)
    label = ma.fields.String(required=True)


class StatusSchema(ma.Schema):
    """A status of the organization's pipeline."""

    status_id = ma.fields.String(
        required=True,
        metadata={"description": "An organization that has not changed its pipeline has six, named by their ids."},
    )
    name = ma.fields.String(required=True)
    meaning = Choice(
        tuple(meaning.value for meaning in Meaning),
        called="StatusMeaning",
        required=True,
        allow_none=True,
        metadata={"description": "What it says about a candidate. Null until an administrator has chosen it: open."},
    )
    position = ma.fields.Integer(required=True, metadata={"description": "From left to right, beginning with 0."})
    reason_codes = ma.fields.List(
        ma.fields.Nested(ReasonCodeSchema),
        required=True,
        metadata={"description": "Reasons for moves to this status. Empty if such a move decides nothing."},
    )


class StatusesSchema(ma.Schema):
    """The pipeline."""

    statuses = ma.fields.List(ma.fields.Nested(StatusSchema), required=True)


CANDIDATE_EXAMPLE = {
    "candidate_id": CANDIDATE_ID,
    "team_id": examples.TEAM_ID,
    "interview_flow_id": examples.FLOW_ID,
    "interviewee_email_address": examples.EMAIL,
    "interviewee_first_name": examples.FIRST_NAME,
    "interviewee_last_name": examples.LAST_NAME,
    "status": INVITED,
    "assigned_recruiter_id": None,
    "interview_ids": [examples.INTERVIEW_ID],
    "created_at": "2026-03-01T09:15:00Z",
}
MOVE_EXAMPLE = {
    "status": REJECTED,
    "decided_by": examples.MEMBER_ID,
    "reason_code": "experience",
    "previous_status": INVITED,
}
STATUS_EXAMPLE = {
    "status_id": REJECTED,
    "name": REJECTED,
    "meaning": DEFAULT_MEANINGS[REJECTED].value,
    "position": 4,
    "reason_codes": [{"code": "experience", "label": "Not enough experience"}],
}
