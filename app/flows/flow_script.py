"""The flow as an interview takes it along: settled once, when the candidate begins, and never changed after."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

from app.flows.models import InterviewFlow
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowScript:
    """What was asked, in which language and voice, and with which switches; defaults are settled in it.

    ``voice`` is the identity of the voice that the talk began with (``Speaker.identity``); it stays to the end.
    ``time_limit_minutes`` and ``follow_up_limit`` are None where the flow sets none.
    """

    title: str = ""
    org_name: str = ""
    questions: tuple[str, ...] = ()
    intro: str | None = None
    outro: str | None = None
    language: str = DEFAULT_LANGUAGE
    voice_id: str | None = None
    voice: str | None = None
    additional_info: str | None = None
    additional_instructions: str | None = None
    follow_up_limit: int | None = None
    time_limit_minutes: int | None = None
    is_video_enabled: bool = False
    is_doc_upload_enabled: bool = False
    cv: str | None = None
    redirect_url: str | None = None
    interview_type: str | None = None
    assess_language: bool = True
    may_say_again: bool = False
    is_background_private: bool = False

    @classmethod
    def of(cls, flow: InterviewFlow) -> "FlowScript":
        """What an interview that begins now takes along."""
        assess = flow.organization.assess_language if flow.assess_language is None else flow.assess_language
        return cls(
            title=flow.title,
            org_name=flow.org_name,
            questions=tuple(flow.questions),
            intro=flow.intro,
            outro=flow.outro,
            language=flow.language or DEFAULT_LANGUAGE,
            voice_id=flow.voice_id,
            additional_info=flow.additional_info,
            additional_instructions=flow.additional_instructions,
            follow_up_limit=flow.follow_up_limit,
            time_limit_minutes=flow.time_limit_minutes,
            is_video_enabled=bool(flow.is_video_enabled),
            is_doc_upload_enabled=bool(flow.is_doc_upload_enabled or flow.cv),
            cv=flow.cv,
            redirect_url=flow.redirect_url,
            interview_type=flow.interview_type and flow.interview_type.value,
            assess_language=assess,
            may_say_again=flow.may_say_again,
            is_background_private=flow.is_background_private,
        )

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "FlowScript":
        """From the stored row, also one of a release that knew fewer or other names."""
        names = {one.name for one in fields(cls)}
        values = {name: value for name, value in stored.items() if name in names and value is not None}
        return cls(**{**values, "questions": tuple(stored.get("questions") or ())})

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values under the names of the fields."""
        return {**asdict(self), "questions": list(self.questions)}


class FlowScriptColumn(sa.types.TypeDecorator[FlowScript]):
    """A JSON column that holds a ``FlowScript``."""

    impl = sa.JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: FlowScript | None, dialect: Dialect) -> dict[str, Any] | None:  # noqa: ARG002
        """As JSON."""
        return None if value is None else value.to_json()

    def process_result_value(self, value: Any | None, dialect: Dialect) -> FlowScript | None:  # noqa: ARG002
        """From JSON."""
        return None if value is None else FlowScript.from_json(value)
