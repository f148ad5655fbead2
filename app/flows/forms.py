"""The platform's form of a flow: its fields and how they are read. The schemas alone decide what is valid."""

from collections.abc import Mapping
from typing import Any, BinaryIO

from flask_wtf import FlaskForm
from wtforms import BooleanField, FieldList, FileField, HiddenField, SelectField, StringField, TextAreaField

from app.flows import criteria_form, media
from app.flows.criteria import Criterion
from app.flows.criteria_form import Criteria
from app.flows.models import LONGEST, MOST_FOLLOW_UPS, MOST_MINUTES, MOST_QUESTIONS, Cv, InterviewFlow, InterviewType
from app.flows.queries import criteria_of
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
    "accent",
)
_ADDRESSES = {"logo": "company_logo_url", "video": "preamble_video_url"}
_ANSWERS = {"": None, "yes": True, "no": False}
_CHOSEN = {answer: choice for choice, answer in _ANSWERS.items()}


DEMONSTRATION = (
    "On this installation, speech recognition for this language is for demonstrations only: it makes too many "
    "mistakes for answers to be assessed. Ask your operator to install a better model."
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


def limited(name: str, **attributes: Any) -> dict[str, Any]:
    return {"maxlength": LONGEST[name], **attributes}


class FlowForm(FlaskForm):  # type: ignore[misc]
    seen = HiddenField()  # when the flow that the form shows was last changed
    title = StringField("Title", render_kw=limited("title", required=True))
    org_name = StringField(
        "Organization name",
        description="Candidates see this as the name of the organization that invites them.",
        render_kw=limited("org_name", required=True),
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
        TextAreaField("Question", render_kw=limited("questions", rows=2)),
        label="Questions",
        max_entries=2 * MOST_QUESTIONS,
    )
    criteria = Criteria("Criteria")
    intro = TextAreaField(
        "Introduction",
        description="The agent says this before the first question.",
        render_kw=limited("intro", rows=3),
    )
    outro = TextAreaField(
        "Closing words", description="The agent says this after the last answer.", render_kw=limited("outro", rows=3)
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
        "Allow documents", description="Candidates can add a CV or other documents during the interview."
    )
    cv = SelectField(
        "CV",
        choices={"": "Do not ask", Cv.ASKED.value: "Ask for a CV", Cv.REQUIRED.value: "CV required"},
        description="Required: to finish, candidates must add a CV that Parley can read, or say that they have none. "
        "You can see which they did. Their answers are processed either way.",
        validate_choice=False,
    )
    may_say_again = BooleanField(
        "Let candidates read their transcribed answer and answer again",
        description="They can do this once for each question. Both answers are kept in the recording and the "
        "transcript, and the later one counts.",
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
    rates_first = SelectField(
        "Rate first",
        validate_choice=False,
        choices={"": "Organization default", "yes": "Yes", "no": "No"},
        description=(
            "Yes: members see the scores and the summary of a result only after they have rated it, so that the "
            "scores do not influence anyone's rating. Members can show scores without rating, and Parley records this."
        ),
    )
    additional_info = TextAreaField(
        "Background for the agent",
        description="Facts about the job or organization that the agent can use in its questions. When candidates ask "
        "about the job, it can also read out sentences from this text, word for word.",
        render_kw=limited("additional_info", rows=4),
    )
    is_background_private = BooleanField(
        "Keep the background private",
        description="The agent reads none of it out to candidates, and passes their questions about the job on to you.",
    )
    additional_instructions = TextAreaField(
        "Instructions for the agent",
        description="Tone, topics to avoid, communication rules.",
        render_kw=limited("additional_instructions", rows=4),
    )
    logo_file = FileField(
        "Logo",
        description="PNG, JPEG or WebP, at most 2 MiB.",
        render_kw={"accept": ".png,.jpg,.jpeg,.webp,image/png,image/jpeg,image/webp"},
    )
    company_logo_url = StringField(
        "Logo URL",
        description="Use this instead of uploading a file. Parley fetches the logo once and stores a copy.",
        render_kw=limited("company_logo_url", inputmode="url"),
    )
    remove_logo = BooleanField("Remove the logo", description="Candidates then see your organization's logo, if any.")
    video_file = FileField(
        "Intro video",
        description="MP4, QuickTime or WebM, at most 100 MB. Candidates can watch it before the interview.",
        render_kw={"accept": ".mp4,.mov,.webm,video/mp4,video/quicktime,video/webm"},
    )
    preamble_video_url = StringField(
        "Intro video URL",
        render_kw=limited("preamble_video_url", inputmode="url"),
        description="Use this instead of uploading a file. The URL must be public. Parley fetches the video once and "
        "stores a copy.",
    )
    remove_video = BooleanField("Remove the intro video")
    fetch_again = BooleanField(
        "Fetch logo and video again", description="Use this if the files at the URLs have changed."
    )
    accent = StringField(
        "Accent color",
        description="The color of buttons and links on candidates' pages, and of the button in emails. Leave empty "
        "to use your organization's color.",
        render_kw=limited("accent", placeholder="#0d655e", autocomplete="off", spellcheck="false"),
    )
    redirect_url = StringField(
        "Page to open after the interview",
        description="A full URL, such as https://example.com/thanks.",
        render_kw=limited("redirect_url", inputmode="url"),
    )
    alternative_text = TextAreaField(
        "Alternative for candidates who do not consent",
        render_kw=limited("alternative_text", rows=3),
        description="What you offer to candidates who do not want to be interviewed by an AI agent or to be recorded.",
    )
    alternative_contact = StringField(
        "Contact for the alternative",
        description="An email address, a phone number or a URL.",
        render_kw=limited("alternative_contact"),
    )
    webhook_url = StringField(
        "Webhook URL",
        render_kw=limited("webhook_url", inputmode="url"),
        description="Parley calls this URL when the result or the video of an interview is ready, and when a "
        "candidate's status changes.",
    )
    webhook_secret_key = StringField(
        "Webhook secret",
        description="Parley signs webhooks with this secret so that you can verify them. Use at least 32 characters.",
        render_kw=limited("webhook_secret_key", autocomplete="off", spellcheck="false"),
    )
    remove_secret = BooleanField("Remove the secret", description="Webhooks are then sent without a signature.")

    def grow(self, *, by: int = 0) -> None:
        """Add empty question fields: at least three fields in all, and at least one empty one."""
        filled = [entry for entry in self.questions if (entry.data or "").strip()]
        wanted = max(FEWEST_SHOWN, len(filled) + 1, len(self.questions) + by)
        while len(self.questions) < min(wanted, MOST_QUESTIONS):
            self.questions.append_entry()

    def arrange(self, pressed: Mapping[str, str]) -> str | None:
        """Carry out a button of the lists of questions and criteria: add, move or remove one.

        Returns what was done, as a sentence, or None for any other button. Nothing is checked or saved.
        """
        if "criterion" in pressed:
            return self.criteria.arrange(pressed["criterion"])
        if pressed.get("accent_instead"):
            self.accent.data = pressed["accent_instead"]
            return "The accent color was replaced."
        if "more" in pressed:
            self.grow(by=MORE)
            return "More question fields were added."
        if "approved" in pressed:
            return "These are the questions and criteria that you approved."
        return self._arrange_questions(pressed["arrange"]) if "arrange" in pressed else None

    def _arrange_questions(self, button: str) -> str:
        what, _, number = button.partition(" ")
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
        done = "was removed" if what == "remove" else f"is now question {to + 1}"
        return f"Question {place + 1} {done}."

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
            "criteria": self.criteria.values(),
            "interview_type": self.interview_type.data,
            "language": self.language.data or None,
            "voice_id": self.voice_id.data or None,
            "follow_up_limit": self.follow_up_limit.data,
            "time_limit_minutes": (self.time_limit_minutes.data or "").strip() or None,
            "is_video_enabled": bool(self.is_video_enabled.data),
            "is_doc_upload_enabled": bool(self.is_doc_upload_enabled.data),
            "cv": self.cv.data or None,
            "may_say_again": bool(self.may_say_again.data),
            "is_background_private": bool(self.is_background_private.data),
            "assess_language": _ANSWERS.get(self.assess_language.data or "", self.assess_language.data),
            "rates_first": _ANSWERS.get(self.rates_first.data or "", self.rates_first.data),
            "team_id": self.team_id.data,
        }
        for name in _TEXTS:
            values[name] = _lines(self[name].data).strip() or None
        for what, name in _ADDRESSES.items():
            if self[f"remove_{what}"].data or sent(self[f"{what}_file"].data):
                values[name] = None
        if self.webhook_secret_key.data or self.remove_secret.data:
            values["webhook_secret_key"] = None if self.remove_secret.data else self.webhook_secret_key.data
        return values

    def without(self) -> list[str]:
        """Which of the stored files to remove: ``logo``, ``video``."""
        return [what for what in _ADDRESSES if self[f"remove_{what}"].data]

    def wanted_media(self, flow: InterviewFlow | None) -> media.Wanted:
        """What to store: uploaded files, and addresses that ``flow`` has no file of yet."""
        values = self.values()
        logo_url, video_url = values["company_logo_url"], values["preamble_video_url"]
        if flow and flow.logo_key and flow.company_logo_url == logo_url:
            logo_url = None
        if flow and flow.preamble_video_key and flow.preamble_video_url == video_url:
            video_url = None
        return media.Wanted(logo_url, video_url, sent(self.logo_file.data), sent(self.video_file.data))

    def shows_two_sources(self, flow: InterviewFlow | None) -> bool:
        """Whether a file came together with a new URL or a removal; the error is then set on the file's field."""
        for what, name in _ADDRESSES.items():
            if not sent(self[f"{what}_file"].data):
                continue
            is_new = (self[name].data or "").strip() not in {"", getattr(flow, name, None)}
            if is_new or self[f"remove_{what}"].data:
                self[f"{what}_file"].errors = [
                    "Do only one of these: choose a file, enter a URL or remove the old one."
                ]
                return True
        return False

    def show_errors(self, errors: dict[str, Any]) -> None:
        """Set the schema's errors on their fields."""
        for name, complaint in errors.items():
            if name == "questions" and isinstance(complaint, dict):
                self._show_question_errors(complaint)
            elif name == "criteria" and isinstance(complaint, dict):
                self.criteria.show_errors(complaint)
            elif name in self:
                self[name].errors = [*self[name].errors, *complaint]
            else:
                self.form_errors += complaint

    def read_for_topics(self) -> list[str]:
        """Everything that may touch a forbidden topic: the questions, and each criterion as one line."""
        criteria = (Criterion(name=one["name"], good=one["good"]).words for one in self.criteria.values())
        return [*(text for _, text in self._numbered()), *criteria]

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


def sent(upload: Any) -> BinaryIO | None:
    """The file of a form, or None if none was chosen."""
    stream: BinaryIO | None = upload.stream if upload and getattr(upload, "filename", "") else None
    return stream


def _lines(text: str | None) -> str:
    """Browsers send line breaks as two characters; we count and store one."""
    return (text or "").replace("\r\n", "\n")


def form_of(flow: InterviewFlow) -> dict[str, Any]:
    """The form's initial data for ``flow``. The secret is never shown again."""
    switches = ("is_video_enabled", "is_doc_upload_enabled", "may_say_again", "is_background_private")
    names = ("title", "org_name", "questions", "team_id", *switches, *_TEXTS)
    return {
        **{name: getattr(flow, name) for name in names},
        "criteria": criteria_form.form_of(criteria_of(flow)),
        "interview_type": (flow.interview_type or InterviewType.GENERAL).value,
        "cv": flow.cv or "",
        "language": flow.language or DEFAULT_LANGUAGE,
        "voice_id": flow.voice_id or DEFAULT_VOICE,
        "follow_up_limit": str(flow.follow_up_limit),
        "time_limit_minutes": str(flow.time_limit_minutes or ""),
        "assess_language": _CHOSEN[flow.assess_language],
        "rates_first": _CHOSEN[flow.rates_first],
    }


BLANK: dict[str, Any] = {
    "interview_type": "recruitment",
    "language": DEFAULT_LANGUAGE,
    "voice_id": DEFAULT_VOICE,
    "follow_up_limit": "1",
    "assess_language": "",
    "rates_first": "",
}
"""Initial data of the form of a new flow."""
