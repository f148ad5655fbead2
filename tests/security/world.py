"""Two organizations with one of everything, each piece of text marked, so that a leak can be recognised by its bytes.

An organization's mark may be seen by all of its people, a team's by its members and by administrators.
"""

import hashlib
import secrets
import tempfile
import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa
from flask import Flask

from app import gateways
from app.accounts import actions as accounts
from app.accounts.models import Team, TeamMember, TeamMembership
from app.candidate_requests import actions as candidate_requests
from app.candidate_requests.actions import NewRequest
from app.candidate_requests.models import RequestKind
from app.candidates import actions as candidates
from app.candidates import reasons, statuses
from app.candidates.bulk import Change, Kind
from app.candidates.bulk_changes import actions as bulk_changes
from app.candidates.models import BulkState, Meaning
from app.conversation import actions as voice
from app.conversation.actions import Agreed
from app.conversation.models import Mode, Sitting
from app.core import clock, encryption
from app.core.db import db
from app.flows.library import actions as library
from app.flows.library.actions import Wording
from app.flows.models import FlowStatus, InterviewFlow, Right
from app.flows.queries import secret_context
from app.gateways.mail import Mail
from app.interviews import actions as interviews
from app.interviews.jobs.processing import process_interview
from app.interviews.models import Interview
from app.interviews.models import Role as Voice
from app.interviews.recordings import actions as recordings
from app.interviews.recordings.addresses import signer
from app.interviews.recordings.media import keep
from app.interviews.recordings.models import Media
from app.interviews.rescoring.models import Rescored, Rescoring
from app.legal_holds import actions as legal_holds
from app.legal_holds.models import Held
from app.mail_outbox import actions as mail_outbox
from app.outreach.apply_links import actions as apply_links
from app.outreach.cvs import actions as cvs
from app.outreach.cvs.models import CvFile
from app.outreach.cvs.models import State as CvState
from app.outreach.messages import actions as messages
from app.outreach.messages.actions import Entry
from app.outreach.messages.models import PersonalMessage
from app.outreach.models import Message, Step
from app.review.flow_access import actions as flow_access
from app.review.flow_access.models import AccessRequest
from app.review.notes import actions as notes
from app.review.notices import actions as notices
from app.review.notices.models import NoticeKind, Service
from app.review.ratings import actions as ratings
from app.review.ratings.actions import Opinion
from app.review.share_links import actions as share_links
from app.webhooks import actions as webhooks
from app.webhooks.models import Delivery, Endpoint
from tests.factories import a_flow
from tests.interviews.conftest import say
from tests.people import Person, person

PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000")


@dataclass(frozen=True)
class Actor:
    """Someone of an organization, as plain values; ``key`` is an API key of the organization."""

    member_id: str
    organization_id: str
    key: str


@dataclass
class Side:
    """One organization: its people, its things by kind of id, and the marks in its texts."""

    admin: Actor
    recruiter: Actor
    viewer: Actor
    neighbour: Actor
    """A recruiter of the organization's other team, who has asked for access to the flow."""
    guest: Actor
    """One more, who was given the right to view the flow."""
    ally: Actor
    """One more, who was given the right to edit it."""
    organization_mark: str
    team_mark: str
    other_team_id: str
    ids: dict[str, str] = field(default_factory=dict)
    archived_flow_id: str = ""
    sitting: tuple[str, str] = ("", "")
    own: tuple[str, str] = ("", "")
    """The same for the browser that took the completed interview."""
    """Name of the running interview's cookie, and the secret in it."""

    @property
    def marks(self) -> tuple[str, str]:
        return self.organization_mark, self.team_mark


def planted(app: Flask, name: str) -> Side:
    """An organization called ``name`` with everything that an id can lead to."""
    organization_mark, team_mark = f"Zqorg{name}", f"Zqteam{name}"
    mark = organization_mark.lower()
    admin = person(app, f"admin-{mark}@example.com", organization=f"{organization_mark} Ltd", role="admin")
    organization = admin.organization
    recruiter = person(app, f"recruiter-{mark}@example.com", organization=organization, role="recruiter")
    viewer = person(app, f"viewer-{mark}@example.com", organization=organization, role="viewer")
    neighbour = person(app, f"neighbour-{mark}@example.com", organization=organization, role="recruiter")
    other_team = _moved_to_other_team(neighbour)
    guest, ally = (_neighbour(app, f"{one}-{mark}@example.com", other_team) for one in ("guest", "ally"))
    people = (admin, recruiter, viewer, neighbour, guest, ally)
    side = Side(*(_actor(one) for one in people), organization_mark, team_mark, other_team.id)
    flow = _flow(admin, team_mark)
    archived = _flow(admin, team_mark, status=FlowStatus.ARCHIVED)
    for one in (flow, archived):
        flow_access.give(one, guest.member, Right.VIEW, by=admin.member)
        flow_access.give(one, ally.member, Right.EDIT, by=admin.member)
    flow_access.ask(flow, by=neighbour.member, mail_for=None)
    side.ids["access_request"] = db.session.query(AccessRequest).filter_by(flow_id=flow.id).one().id
    db.session.commit()
    side.archived_flow_id = archived.id
    completed, document = _completed(admin, recruiter, flow)
    _running(side, admin, flow)
    delivery = db.session.query(Delivery).filter_by(subject=completed.id).one()
    endpoint = db.session.query(Endpoint).filter_by(organization_id=organization.id).one()
    own_url = f"https://{organization_mark.lower()}.example/all"
    own_endpoint, _ = webhooks.add(organization, url=own_url, by=admin.member)
    key, _ = accounts.issue_api_key(organization, name=f"{organization_mark} key", by=admin.member)
    login, _ = accounts.sign_in(recruiter.member, address="127.0.0.1", browser=f"{organization_mark} browser")
    db.session.commit()
    side.ids |= {
        "team": admin.team.id,
        "flow": flow.id,
        "interview": completed.id,
        "document": document,
        "candidate": completed.candidate_id or "",
        "delivery": delivery.id,
        "endpoint": endpoint.id,
        "own_endpoint": own_endpoint.id,
        "key": key.id,
        "login": login.id,
        "recruiter": recruiter.member.id,
        "decider": recruiter.member.id,
    }
    interviews.set_metadata(completed, {"office": f"{team_mark} office", "external_id": "4711"})
    _publish(side, completed.id)
    side.ids["view"] = candidates.save_view(admin.member, f"{organization_mark} view", "").id
    side.ids["column"] = statuses.add(organization, f"{organization_mark} stage", by=admin.member).id
    reasons.add(organization, Meaning.REJECTED, f"{organization_mark} reason", by=admin.member)
    side.ids["code"] = next(one.code for one in reasons.reasons_of(organization) if organization_mark in one.label)
    db.session.commit()
    side.own = _own(completed)
    apply_links.turn_on(flow, by=admin.member)
    side.ids["wish"] = _asked_for(completed)
    ratings.assess(completed, {"overall": Opinion(4.0, f"{team_mark} opinion")}, by=recruiter.member)
    note = notes.write(completed, f"{team_mark} note for @{admin.member.email}", by=recruiter.member, mail_for=None)
    side.ids |= {"note": note.id, "mention": note.mentions[0].id}
    shared, _token = share_links.make(completed, ["summary"], days=7, label=f"{team_mark} link", by=recruiter.member)
    side.ids["share"] = shared.id
    template = library.save_template(flow, f"{team_mark} template", by=recruiter.member)
    question = library.keep_question(flow.team, Wording(f"{team_mark} question?"), by=recruiter.member)
    side.ids |= {"flow_template": template.id, "bank_question": question.id}
    side.ids["cv_upload"] = _uploaded(flow, recruiter)
    side.ids["bulk_change"] = _tagged(side.ids["candidate"], f"{team_mark} tag", admin)
    side.ids["rescoring"] = _scored_again(completed, recruiter)
    side.ids["channel"] = _channel(flow, admin)
    db.session.commit()
    _written_to(completed)
    side.ids |= _messaged(completed, recruiter)
    entry = Entry(f"{organization_mark} template", "general", "en-US", f"{organization_mark} subject", "text")
    side.ids["template"] = messages.add_template(organization, entry, by=admin.member).id
    db.session.commit()
    hold = legal_holds.place(
        Held.INTERVIEW, side.ids["booked"], reason=f"{organization_mark} reason", ends_at=None, by=admin.member
    )
    db.session.commit()
    side.ids["hold"] = hold.id
    return side


def _written_to(interview: Interview) -> None:
    mark = interview.flow.title.split()[0]
    letter = mail_outbox.post(interview.id, Mail(f"{mark}@example.com", mark, f"{mark} mail"), lasts=timedelta(days=1))
    db.session.add(
        Message(
            organization_id=interview.organization_id,
            interview_id=interview.id,
            letter_id=letter.id,
            step=Step.INVITATION,
            number=0,
            language="en-US",
        )
    )
    db.session.commit()


def _messaged(interview: Interview, by: Person) -> dict[str, str]:
    """A message to the candidate, which waits: nothing is sent here."""
    mark, batch = interview.flow.title.split()[0], str(uuid.uuid4())
    mail = Mail(f"{mark}@example.com", mark, f"{mark} message")
    letter = mail_outbox.post(interview.id, mail, lasts=timedelta(days=1), waits=timedelta(days=1), lapses=False)
    message = PersonalMessage(
        organization_id=interview.organization_id,
        batch=batch,
        interview_id=interview.id,
        letter=letter,
        by_id=by.member.id,
        is_rejection=True,
        subject=f"{mark} message",
        text=f"{mark} message",
        language="en-US",
    )
    db.session.add(message)
    db.session.flush()
    return {"message": message.id, "batch": batch}


def _uploaded(flow: InterviewFlow, by: Person) -> str:
    """An upload of a CV that waits to be checked."""
    upload = cvs.begin(flow, recruiter_id=None, by_mail=False, by=by.member)
    file = CvFile(upload_id=upload.id, number=1, name="cv.pdf", state=CvState.READY, email="new@candidate.example")
    db.session.add(file)
    db.session.commit()
    return upload.id


def _tagged(candidate_id: str, tag: str, by: Person) -> str:
    """A large change that has reached its only candidate."""
    run = bulk_changes.start(by.member, [candidate_id], Change(Kind.TAG, tag))
    bulk_changes.make_piece(run, limit=1)
    run.state = BulkState.DONE
    db.session.flush()
    return run.id


def _scored_again(interview: Interview, by: Person) -> str:
    """A run with one interview, which waits; and a version of its scores beside the one in force."""
    run = Rescoring(organization_id=interview.organization_id, flow_id=interview.flow_id, requested_by_id=by.member.id)
    db.session.add(run)
    db.session.flush()
    interviews.keep_version(interview, interviews.Made((), "scripted"), by_id=by.member.id)
    db.session.add(Rescored(rescoring_id=run.id, interview_id=interview.id, place=0, version=2))
    db.session.flush()
    return run.id


def _channel(flow: InterviewFlow, by: Person) -> str:
    """A channel in Slack at a port where nothing listens."""
    mark = flow.title.split()[0]
    address = f"http://127.0.0.1:9999/{mark}"
    choices = notices.Choices(f"{mark} channel", Service.SLACK, address, (NoticeKind.RESULT_READY,), with_names=True)
    return notices.add(flow, choices, check=lambda _url: None, by=by.member).id


def _asked_for(interview: Interview) -> str:
    mark = interview.flow.title.split()[0]
    asked = NewRequest(
        RequestKind.ACCOMMODATION, f"{mark} wish", f"{mark} contact", {"choice": "person", "asked": "before"}
    )
    candidate_request = candidate_requests.ask(interview, asked)
    db.session.commit()
    return candidate_request.id


def _moved_to_other_team(neighbour: Person) -> Team:
    other = Team(organization_id=neighbour.organization.id, name="Other team")
    db.session.add(other)
    db.session.query(TeamMembership).filter_by(member_id=neighbour.member.id).delete()
    db.session.flush()
    db.session.add(TeamMembership(team_id=other.id, member_id=neighbour.member.id))
    db.session.commit()
    db.session.expire_all()
    return other


def _neighbour(app: Flask, email: str, team: Team) -> Person:
    one = person(app, email, organization=team.organization, role="recruiter")
    one.member.teams = [team]
    db.session.commit()
    return one


def _flow(by: Person, mark: str, **values: object) -> InterviewFlow:
    flow: InterviewFlow = a_flow(
        by,
        org_name=f"{mark} Works",
        title=f"{mark} Nurse",
        questions=[f"{mark} why?", f"{mark} how?"],
        intro=f"{mark} intro",
        outro=f"{mark} outro",
        additional_info=f"{mark} info",
        is_doc_upload_enabled=True,
        additional_instructions=f"{mark} instructions",
        redirect_url=f"https://{mark.lower()}.example/thanks",
        webhook_url=f"https://{mark.lower()}.example/hook",
        **values,
    )
    flow.webhook_secret_sealed = encryption.seal(f"{mark} secret", context=secret_context(flow.id))
    flow.logo_key, flow.preamble_video_key = f"logos/{flow.id}.png", f"videos/{flow.id}.mp4"
    flow.preamble_video_type = "video/mp4"
    db.session.commit()
    gateways.current().storage.put(f"logos/{flow.id}.png", PNG)
    gateways.current().storage.put(f"videos/{flow.id}.mp4", b"\0\0\0\x18ftypmp42")
    return flow


def _actor(of: Person) -> Actor:
    return Actor(of.member.id, of.organization.id, of.key)


def _completed(admin: Person, recruiter: Person, flow: InterviewFlow) -> tuple[Interview, str]:
    mark = flow.title.split()[0]
    interview = interviews.book(
        admin.organization,
        flow.id,
        email=f"{mark.lower()}@candidate.example",
        first_name=f"{mark}Mary",
        last_name=f"{mark}Hall",
        recruiter_id=recruiter.member.id,
    )
    interviews.begin(interview)
    _say(interview, mark)
    document = _document(interview, mark)
    interviews.submit(interview)
    assert interview.candidate is not None
    candidates.move(interview.candidate, "shortlisted", by=admin.member, note=f"{mark} note")
    db.session.commit()
    process_interview(interview.id)
    found = db.session.get_one(Interview, interview.id, populate_existing=True)
    assert found.data is not None
    return found, document


def _say(interview: Interview, mark: str) -> None:
    say(
        interview,
        ((Voice.AGENT, 0, f"{mark} why?"), (Voice.USER, 0, f"{mark} because."), (Voice.AGENT, 1, f"{mark} how?")),
    )


def _document(interview: Interview, mark: str) -> str:
    content = f"{mark} resume".encode()
    accepted = interviews.accept_document(f"{mark}-resume.txt", content)
    key = f"documents/{interview.id}/{secrets.token_hex(8)}"
    document = interviews.add_document(interview, accepted, storage_key=key)
    db.session.commit()
    gateways.current().storage.put(key, content)
    return document.id


def _running(side: Side, admin: Person, flow: InterviewFlow) -> None:
    """An interview that a browser holds, with a document in it."""
    mark = side.team_mark
    interview = interviews.book(
        admin.organization, flow.id, email=f"{mark.lower()}@running.example", first_name=f"{mark}Runa"
    )
    side.ids["booked"] = interviews.book(admin.organization, flow.id).id
    db.session.commit()
    token = secrets.token_urlsafe(32)
    agreed = Agreed("1", "en", Mode.TEXT)
    assert voice.claim(interview, token_hash=hashlib.sha256(token.encode()).hexdigest(), agreed=agreed)
    # A holder who is never silent for too long, however slowly the tests run.
    later = clock.now() + timedelta(days=1)
    db.session.execute(sa.update(Sitting).where(Sitting.interview_id == interview.id).values(heartbeat_at=later))
    side.ids |= {"sat": interview.id, "sat_document": _document(interview, mark)}
    side.sitting = (f"parley-sitting-{interview.id[:8]}", token)


def _own(interview: Interview) -> tuple[str, str]:
    """The cookie of the browser that took a completed interview."""
    token, now = secrets.token_urlsafe(32), clock.now()
    digest = hashlib.sha256(token.encode()).hexdigest()
    place = {"phase": "finished", "question": 0, "asked": [], "said": "", "silences": 0}
    db.session.add(Sitting(interview_id=interview.id, token_hash=digest, place=place, heartbeat_at=now, ended_at=now))
    db.session.commit()
    return f"parley-sitting-{interview.id[:8]}", token


def _publish(side: Side, interview_id: str) -> None:
    organization_id = side.admin.organization_id
    db.session.commit()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sound"
        path.write_bytes(f"{side.team_mark} sound".encode())
        storage = gateways.current().storage
        file = keep(path, Media.AUDIO, interview_id=interview_id, duration=1.0, storage=storage)
    recording = recordings.publish(interview_id, organization_id=organization_id, file=file)
    db.session.commit()
    assert recording is not None
    side.ids["recording"] = recording.id
    side.ids["token"] = signer().url(recording.id, organization_id=organization_id).rsplit("/", 1)[-1]


def cookie_of(actor: Actor) -> str:
    """The secret in the cookie of a further signed-in browser."""
    member = db.session.get_one(TeamMember, actor.member_id)
    _, token = accounts.sign_in(member, address="127.0.0.1", browser="test")
    db.session.commit()
    return token
