"""The report as a PDF, made from its HTML in a separate process. Slow, and without the database.

``tree`` reads the HTML of the one template of the report, so that both say the same. ``child`` is the process: Typst is
loaded there alone, gets the words as data and never as markup, and is limited in memory and time.
"""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from app.core.errors import GatewayError
from app.review.exports.pdf.tree import tree_of

_HERE = Path(__file__).parent
_FONTS = ("fontpkg_inter", "fontpkg_noto_sans_thai", "fontpkg_noto_sans_devanagari", "fontpkg_noto_sans_arabic")
_SHOWN = 12
BROWSER_INSTEAD = "Open the report and save it as a PDF with your browser instead"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one report: bytes of memory and of the PDF, seconds of CPU and of waiting."""

    memory: int = 1024**3
    size: int = 32 * 1024**2
    cpu_seconds: int = 40
    wall_seconds: int = 60


def pdf_of(html: str, *, limits: Limits | None = None, with_system_fonts: bool = True) -> bytes:
    """The report in ``html`` as a tagged PDF (PDF/UA-1). Raises GatewayError with what to do instead.

    A character that no font has is an error, never an empty box. Fonts: those of ``_FONTS``, then the system's.
    """
    used = limits or Limits()
    order = {
        "report": tree_of(html),
        "font_paths": fonts(),
        "with_system_fonts": with_system_fonts,
        "limits": asdict(used),
    }
    try:
        done = subprocess.run(  # noqa: S603 - our own program and fixed words; the report is its input
            [sys.executable, "-I", str(_HERE / "child.py"), str(_HERE / "report.typ")],
            input=json.dumps(order).encode(),
            capture_output=True,
            timeout=used.wall_seconds,
            check=False,
            env={"RAYON_NUM_THREADS": "1"},
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise GatewayError(f"Creating the PDF took too long. {BROWSER_INSTEAD}.", retryable=False) from None
    except OSError as error:
        raise GatewayError(f"The PDF could not be created right now. {BROWSER_INSTEAD}.", retryable=True) from error
    if done.stdout.startswith(b"%PDF-"):
        return done.stdout
    raise GatewayError(_reason(done.stdout), retryable=False)


def fonts() -> list[str]:
    """The folders of the fonts that Parley brings: Latin with Vietnamese, Thai, Hindi and Arabic."""
    found = (find_spec(name) for name in _FONTS)
    places = [spec.submodule_search_locations[0] for spec in found if spec and spec.submodule_search_locations]
    return [str(Path(place) / "files") for place in places]


def _reason(answer: bytes) -> str:
    try:
        missing = json.loads(answer).get("missing") or []
    except ValueError:
        missing = []
    if not missing:
        return f"The PDF could not be created: it takes too much time or memory. {BROWSER_INSTEAD}."
    shown = " ".join(missing[:_SHOWN]) + (" …" if len(missing) > _SHOWN else "")
    return (
        f"The PDF was not created, because this server has no font with these characters: {shown}. {BROWSER_INSTEAD}, "
        "or ask your operator to install a font that has them."
    )
