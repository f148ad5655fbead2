"""The text of an advert: pasted, or read from a file in the separate process that reads candidates' documents."""

from app.core.errors import GatewayError, Rejected
from app.interviews.documents.extraction import KINDS, Limits, extract
from app.interviews.documents.file_types import accept

MOST_CHARACTERS = 30_000
MOST_PAGES = 20
FEWEST_CHARACTERS = 80
_LIMITS = Limits(characters=MOST_CHARACTERS, pages=MOST_PAGES)
TOO_LONG = (
    f"This is too long for a job ad: Parley reads at most {MOST_PAGES} pages and {MOST_CHARACTERS:,} characters. "
    "Paste the part that describes the job."
)
TOO_SHORT = "Paste the text of the job ad, or choose a file. A title alone is not enough to draft questions from."


def advert_of(text: str, file: tuple[str, bytes] | None, *, language: str) -> str:
    """The advert's text, from the file (name and content) if there is one. Slow, and without the database.

    Raises Rejected on ``text`` or ``file`` if it is too long, too short or unreadable.
    """
    advert = (_read(*file, language=language) if file else text).strip()
    field = "file" if file else "text"
    if len(advert) > MOST_CHARACTERS:
        raise Rejected(TOO_LONG, field=field)
    if len(advert) < FEWEST_CHARACTERS:
        raise Rejected(
            TOO_SHORT if not file else "This file has too little text. Paste the job ad instead.", field=field
        )
    return advert


def _read(name: str, content: bytes, *, language: str) -> str:
    accepted = accept(name, content)
    if accepted.content_type not in KINDS:
        words = "Parley cannot read text in a picture. Add a PDF, DOCX, RTF or TXT file, or paste the job ad."
        raise Rejected(words, field="file")
    try:
        read = extract(content, accepted.content_type, language=language, limits=_LIMITS)
    except GatewayError as error:
        raise Rejected(f"This file cannot be read: {error.message}. Paste the job ad instead.", field="file") from error
    if read is None or not read.whole:
        raise Rejected(TOO_LONG, field="file")
    return read.text
