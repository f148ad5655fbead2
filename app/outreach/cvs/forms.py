"""Forms of uploaded CVs: the upload, and the values that a person confirms."""

from collections.abc import Iterable, Mapping

from wtforms import MultipleFileField

from app.outreach.cvs.actions import MOST_FILES
from app.outreach.cvs.models import CvFile
from app.outreach.forms import InviteForm

FIELDS = ("email", "first_name", "last_name", "phone")


class CvsForm(InviteForm):
    files = MultipleFileField(
        "CVs",
        description=f"Up to {MOST_FILES} PDF, DOCX, RTF or TXT files of at most 10 MiB each, or a ZIP file of them. "
        "At most 200 MB in total.",
        render_kw={"accept": ".pdf,.docx,.rtf,.txt,.zip", "multiple": True},
    )


def typed_values(rows: Iterable[CvFile], form: Mapping[str, str]) -> dict[str, dict[str, str | None]]:
    """The values of each file that the form has, by its id."""
    return {
        row.id: {name: _clean(form.get(f"{name}-{row.id}", "")) for name in FIELDS}
        for row in rows
        if f"email-{row.id}" in form
    }


def _clean(text: str) -> str | None:
    return " ".join(text.split())[:1_000] or None
