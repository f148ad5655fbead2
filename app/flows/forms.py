"""The platform's form of a flow: its fields and how they are read. The schemas alone decide what is valid."""

from collections.abc import Mapping
from typing import Any

from flask_wtf import FlaskForm
from wtforms import BooleanField, FieldList, SelectField, StringField, TextAreaField

from app.flows.models import LONGEST, MOST_FOLLOW_UPS, MOST_MINUTES, MOST_QUESTIONS, InterviewFlow, InterviewType
from app.gateways.speech.catalogue import DEFAULT_LANGUAGE, DEFAULT_VOICE, LANGUAGES, VOICES
from app.gateways.speech.ports import Transcriber
from app.web.languages import ENGLISH_NAMES

FEWEST_SHOWN = 3
MORE = 3
_TEXTS = (
    "company_logo_url",
    "preamble_video_url",
    "redirect_url",
    "webhook_url",
    "intro",
    "outro",
    "additional_info",
    "additional_instructions",
    "alternative_text",
    "alternative_contact",
)
_ANSWERS = {"": None, "yes": True, "no": False}


DEMONSTRATION = (
    "On this installation, speech recognition for this language is for demonstrations only: it makes too many "
    "mistakes to assess answers. Ask your operator to install a better model."
)
NOT_HEARD = (
    "This installation does not recognize this language. Candidates can type their answers. Interviews with spoken "
    "answers wait until your operator sets up recognition."
)


def hearing_note(transcriber: Transcriber, language: str) -> str:
    """What a recruiter should know about the recognition of a language; empty where it is good."""
    if not transcriber.supports(language):
        return NOT_HEARD
    return DEMONSTRATION if transcriber.is_demonstration(language) else ""


def language_name(code: str | None) -> str:
    """The language's English name; the default language's for None."""
    return ENGLISH_NAMES.get(code or DEFAULT_LANGUAGE, code or DEFAULT_LANGUAGE)


def voice_name(voice_id: str | None) -> str:
    """The voice's display name; the default voice's for None."""
    chosen = voice_id or DEFAULT_VOICE
    return VOICES[chosen].name if chosen in VOICES else chosen


def _limited(name: str, **attributes: Any) -> dict[str, Any]:
    return {"maxlength": LONGEST[name], **attributes}


class FlowForm(FlaskForm):  # type: ignore[misc]
    title = StringField("Title", render_kw=_limited("title", required=True))
    org_name = StringField(
        "Organization name",
        description="Candidates see this as the name of the organization that invites them.",
        render_kw=_limited("org_name", required=True),
    )
    team_id = SelectField("Team", validate_choice=False)
    interview_type = SelectField(
        "Type",
        description="Candidates appear in the pipeline only if the flow is a recruitment flow and they have an "
        "email address.",
        choices={"recruitment": "Recruitment", "general": "General"},
        validate_choice=False,
    )
    questions = FieldList(
        TextAreaField("Question", render_kw=_limited("questions", rows=2)),
        label="Questions",
        max_entries=2 * MOST_QUESTIONS,
    )
    intro = TextAreaField(
        "Introduction",
        description="The agent says this before the first question.",
        render_kw=_limited("intro", rows=3),
    )
    outro = TextAreaField(
        "Closing words", description="The agent says this after the last answer.", render_kw=_limited("outro", rows=3)
    )
    language = SelectField(
        "Language",
        validate_choice=False,
        choices={code: language_name(code) for code in LANGUAGES},
    )
    voice_id = SelectField(
        "Voice", choices={voice_id: voice_name(voice_id) for voice_id in VOICES}, validate_choice=False
    )
    follow_up_limit = SelectField(
        "Follow-ups per question",
        choices={str(n): str(n) for n in range(MOST_FOLLOW_UPS + 1)},
        description="How many follow-ups the agent can ask about an incomplete answer.",
        validate_choice=False,
    )
    time_limit_minutes = StringField(
        "Time limit in minutes",
        description=f"1 to {MOST_MINUTES}. Leave empty for the installation's default.",
        render_kw={"inputmode": "numeric", "maxlength": 4},
    )
    is_video_enabled = BooleanField("Record video", description="Candidates are asked to turn on their camera.")
    is_doc_upload_enabled = BooleanField(
        "Allow documents", description="Candidates can add a resume or other documents during the interview."
    )
    may_say_again = BooleanField(
        "Candidates can read an answer and say it again once",
        description="Once for each question. Both answers stay in the recording and the transcript, and the later one "
        "counts.",
    )
    assess_language = SelectField(
        "Assess language",
        validate_choice=False,
        choices={"": "Organization default", "yes": "Yes", "no": "No"},
        description=(
            "Yes: results also include scores for vocabulary, grammar, fluency and pace, and comprehension. Use "
            "this only "
            "if the job requires the language, because it can disadvantage candidates who answer in a language that is "
            "not their first. No: these four scores stay empty. The other scores never consider how a candidate speaks."
        ),
    )
    additional_info = TextAreaField(
        "Background for the agent",
        description="Facts about the job or organization that the agent can use in its questions. When candidates ask, "
        "it can also read sentences of this text out to them, word for word.",
        render_kw=_limited("additional_info", rows=4),
    )
    is_background_private = BooleanField(
        "The background is for the agent alone",
        description="The agent tells candidates nothing of it. Their questions about the job are passed on to you.",
    )
    additional_instructions = TextAreaField(
        "Instructions for the agent",
        description="Tone, topics to avoid, communication rules.",
        render_kw=_limited("additional_instructions", rows=4),
    )
    company_logo_url = StringField(
        "Logo URL",
        description="PNG, JPEG or WebP, at most 2 MiB. Parley fetches the logo once and stores a copy.",
        render_kw=_limited("company_logo_url", inputmode="url"),
    )
    preamble_video_url = StringField(
        "Intro video URL",
        render_kw=_limited("preamble_video_url", inputmode="url"),
        description="MP4, QuickTime or WebM, at most 100 MB. The URL must be public. Parley fetches the video "
        "once and stores a copy.",
    )
    fetch_again = BooleanField("Fetch logo and video again", description="Use this if the files have changed.")
    redirect_url = StringField(
        "Page to open after the interview",
        description="A full URL, such as https://example.com/thanks.",
        render_kw=_limited("redirect_url", inputmode="url"),
    )
    alternative_text = TextAreaField(
        "Alternative for candidates who do not consent",
        render_kw=_limited("alternative_text", rows=3),
        description="What you offer to candidates who do not want to be recorded or interviewed by an AI agent.",
    )
    alternative_contact = StringField(
        "Contact for the alternative",
        description="An email address, a phone number or a URL.",
        render_kw=_limited("alternative_contact"),
    )
    webhook_url = StringField(
        "Webhook URL",
        render_kw=_limited("webhook_url", inputmode="url"),
        description="Called when the result or the video of an interview is ready, and when a candidate's status "
        "changes.",
    )
    webhook_secret_key = StringField(
        "Webhook secret",
        description="Parley signs webhooks with this secret so that you can verify them. Use at least 32 characters.",
        render_kw=_limited("webhook_secret_key", autocomplete="off", spellcheck="false"),
    )
    remove_secret = BooleanField("Remove the secret", description="Webhooks are then sent without a signature.")

    def grow(self, *, by: int = 0) -> None:
        """Add empty question fields: at least three fields in all, and at least one empty one."""
        filled = [entry for entry in self.questions if (entry.data or "").strip()]
        wanted = max(FEWEST_SHOWN, len(filled) + 1, len(self.questions) + by)
        while len(self.questions) < min(wanted, MOST_QUESTIONS):
            self.questions.append_entry()

    def arrange(self, pressed: Mapping[str, str]) -> str | None:
        """Carry out a button of the question list: add fields, or move or remove one question.

        Returns what was done, as a sentence, or None for any other button. Nothing is checked or saved.
        """
        if "more" in pressed:
            self.grow(by=MORE)
            return "More question fields were added."
        if "approved" in pressed:
            return "These are the questions that you approved."
        if "arrange" not in pressed:
            return None
        what, _, number = pressed["arrange"].partition(" ")
        place = int(number) if number.isdecimal() and len(number) < 4 else len(self.questions)
        texts = [entry.data for entry in self.questions]
        to = {"up": place - 1, "down": place + 1, "remove": place}.get(what, -1)
        if place >= len(texts) or not 0 <= to < len(texts):
            return "The questions were not changed."
        text = texts.pop(place)
        texts.insert(to if what != "remove" else len(texts), text if what != "remove" else "")
        for entry, moved_text in zip(self.questions, texts, strict=True):
            entry.data = moved_text
        self.questions[to].render_kw = {**self.questions[to].render_kw, "autofocus": True}
        return f"Question {place + 1} was removed." if what == "remove" else f"Question {place + 1} is now {to + 1}."

    def limit(self) -> int | None:
        """The entered time limit in minutes, if it is one."""
        text = (self.time_limit_minutes.data or "").strip()
        is_limit = text.isascii() and text.isdecimal() and len(text) < 5 and 1 <= int(text) <= MOST_MINUTES
        return int(text) if is_limit else None

    def values(self) -> dict[str, Any]:
        """The entered values as the schema reads them. Empty questions and texts count as absent."""
        values: dict[str, Any] = {
            "title": self.title.data or "",
            "org_name": self.org_name.data or "",
            "questions": [text for _, text in self._numbered()],
            "interview_type": self.interview_type.data,
            "language": self.language.data or None,
            "voice_id": self.voice_id.data or None,
            "follow_up_limit": self.follow_up_limit.data,
            "time_limit_minutes": (self.time_limit_minutes.data or "").strip() or None,
            "is_video_enabled": bool(self.is_video_enabled.data),
            "is_doc_upload_enabled": bool(self.is_doc_upload_enabled.data),
            "may_say_again": bool(self.may_say_again.data),
            "is_background_private": bool(self.is_background_private.data),
            "assess_language": _ANSWERS.get(self.assess_language.data or "", self.assess_language.data),
            "team_id": self.team_id.data,
        }
        for name in _TEXTS:
            values[name] = _lines(self[name].data).strip() or None
        if self.webhook_secret_key.data or self.remove_secret.data:
            values["webhook_secret_key"] = None if self.remove_secret.data else self.webhook_secret_key.data
        return values

    def show_errors(self, errors: dict[str, Any]) -> None:
        """Set the schema's errors on their fields."""
        for name, complaint in errors.items():
            if name == "questions" and isinstance(complaint, dict):
                self._show_question_errors(complaint)
            elif name in self:
                self[name].errors = [*self[name].errors, *complaint]
            else:
                self.form_errors += complaint

    def _show_question_errors(self, complaints: dict[int, list[str]]) -> None:
        places = [place for place, _ in self._numbered()]
        for number, complaint in complaints.items():
            entry = self.questions[places[number]]
            entry.errors = complaint
        first = min(complaints)
        self.questions.errors = [f"Question {places[first] + 1}: {complaints[first][0]}"]

    def _numbered(self) -> list[tuple[int, str]]:
        typed = ((place, _lines(entry.data)) for place, entry in enumerate(self.questions))
        return [(place, text) for place, text in typed if text.strip()]


def _lines(text: str | None) -> str:
    """Browsers send line breaks as two characters; we count and store one."""
    return (text or "").replace("\r\n", "\n")


def form_of(flow: InterviewFlow) -> dict[str, Any]:
    """The form's initial data for ``flow``. The secret is never shown again."""
    switches = ("is_video_enabled", "is_doc_upload_enabled", "may_say_again", "is_background_private")
    names = ("title", "org_name", "questions", "team_id", *switches, *_TEXTS)
    return {
        **{name: getattr(flow, name) for name in names},
        "interview_type": (flow.interview_type or InterviewType.GENERAL).value,
        "language": flow.language or DEFAULT_LANGUAGE,
        "voice_id": flow.voice_id or DEFAULT_VOICE,
        "follow_up_limit": str(flow.follow_up_limit),
        "time_limit_minutes": str(flow.time_limit_minutes or ""),
        "assess_language": {None: "", True: "yes", False: "no"}[flow.assess_language],
    }


BLANK: dict[str, Any] = {
    "interview_type": "recruitment",
    "language": DEFAULT_LANGUAGE,
    "voice_id": DEFAULT_VOICE,
    "follow_up_limit": "1",
    "assess_language": "",
}
"""Initial data of the form of a new flow."""
