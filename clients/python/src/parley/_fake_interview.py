"""An interview of ``FakeParley``, and the result of one."""

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

URL = "http://parley.test"
LINK_WORKS = timedelta(days=30)
TRANSCRIPT_FIELDS = ("transcript", "transcript_with_timestamp", "questions_to_transcript_mapping")
NAMES = ("interviewee_email_address", "interviewee_first_name", "interviewee_last_name")


@dataclass
class Interview:
    """One interview, and what its candidate was asked."""

    flow: dict[str, Any]
    given: dict[str, Any]
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    data: dict[str, Any] | None = None
    is_closed: bool = False
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    expires_at: datetime = field(default_factory=lambda: datetime.now(UTC) + LINK_WORKS)
    metadata: dict[str, str] = field(default_factory=dict)

    def shown(self, transcript: str) -> dict[str, Any]:
        """The interview as this choice of ``transcript`` returns it."""
        left_out = {"full": (), "text": TRANSCRIPT_FIELDS[1:], "none": TRANSCRIPT_FIELDS}[transcript]
        data = self.data and {name: value for name, value in self.data.items() if name not in left_out}
        return {
            "interview_flow_id": self.flow["interview_flow_id"],
            "interview_id": self.id,
            "team_id": self.flow["team_id"],
            "status": "completed" if self.data else "incomplete",
            "interview_data": data,
        }

    @property
    def names(self) -> dict[str, Any]:
        """Who is interviewed, as given when the interview was created."""
        return {name: self.given.get(name) for name in NAMES}

    @property
    def link_state(self) -> str:
        """Whether the candidate can still take it."""
        if self.data:
            return "submitted"
        if self.is_closed or self.flow["status"] == "archived":
            return "closed"
        return "open" if datetime.now(UTC) < self.expires_at else "expired"

    @property
    def link(self) -> str:
        """The candidate's link."""
        return f"{URL}/interview/api/{self.flow['interview_flow_id']}/{self.id}"


def result_of(interview: Interview, answers: list[str], summary: str | None, scores: Any) -> dict[str, Any]:
    """The candidate takes five seconds for each question and each answer, and says "Yes." where no answer is given."""
    segments: list[dict[str, Any]] = []
    mapping: list[dict[str, Any]] = []
    for number, question in enumerate(interview.flow["questions"]):
        said = [("agent", question), ("user", answers[number] if number < len(answers) else "Yes.")]
        for role, content in said:
            at = 5.0 * len(segments)
            words = [{"word": word, "start": at, "end": at + 5.0} for word in content.split()]
            segments.append({"content": content, "role": role, "words": words})
        mapping.append(
            {
                "script_question": question,
                "transcript_item_indices": [2 * number, 2 * number + 1],
                "start_timestamp": 10.0 * number,
                "end_timestamp": 10.0 * number + 10.0,
                "transcript_items": [{"content": content, "role": role} for role, content in said],
            }
        )
    return {
        "transcript": "\n".join(f"{one['role']}: {one['content']}" for one in segments),
        "transcript_with_timestamp": segments,
        "questions_to_transcript_mapping": mapping,
        "audio_url": f"{URL}/recordings/{interview.id}/audio",
        "video_url": None,
        "summary": summary,
        "scores": scores,
        **interview.names,
    }
