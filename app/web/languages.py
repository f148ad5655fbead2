"""The languages of the candidate's pages: which one a request gets, and what templates need to say so.

A candidate reads the flow's language unless another one was chosen on the page (``?lang=de-DE``, kept in a cookie that
only these pages get). Every other page stays English: a request that never calls ``choose`` is answered in English.
"""

from pathlib import Path
from typing import Any

from flask import Flask, Response, has_request_context, request
from flask_babel import Babel, refresh

from app.settings import Settings

DEFAULT = "en-US"
COOKIE = "parley-language"
COOKIE_PATH = "/interview/api"
COOKIE_DAYS = 30
CHOSEN = "parley.language"  # in the environment of the request

LANGUAGES = {
    "en-US": "English",
    "ar-AE": "العربية",
    "de-DE": "Deutsch",
    "es-419": "Español",
    "fr-FR": "Français",
    "hi-IN": "हिन्दी",
    "ja-JP": "日本語",
    "ko-KR": "한국어",
    "no-NO": "Norsk",
    "pt-BR": "Português",
    "th-TH": "ไทย",
    "vi-VN": "Tiếng Việt",
    "zh-CN": "中文",
}
"""The tags of the interface and how each language calls itself."""

ENGLISH_NAMES = {
    "en-US": "English (US)",
    "de-DE": "German",
    "es-419": "Spanish (Latin America)",
    "hi-IN": "Hindi",
    "ja-JP": "Japanese",
    "pt-BR": "Portuguese (Brazil)",
    "fr-FR": "French",
    "zh-CN": "Chinese (Mandarin)",
    "ko-KR": "Korean",
    "vi-VN": "Vietnamese",
    "th-TH": "Thai",
    "ar-AE": "Arabic",
    "no-NO": "Norwegian",
}
"""The English name of each language, for members."""

RIGHT_TO_LEFT = frozenset({"ar-AE"})

LOCALES = {tag: tag.replace("-", "_") for tag in LANGUAGES} | {"no-NO": "nb_NO", "zh-CN": "zh_Hans_CN"}
"""The names that CLDR, and so the folders of the catalogues, have for them."""

_TRANSLATIONS = str(Path(__file__).with_name("translations"))


def register(app: Flask) -> None:
    """Hang translations on the application; where no one chose, they are the English originals."""
    Babel(app, default_locale="en_US", default_translation_directories=_TRANSLATIONS, locale_selector=_locale)
    app.context_processor(_shown)


def choose(preferred: str | None = None) -> str:
    """Settle the language of this request and return its tag: asked for, remembered, ``preferred``, the browser's."""
    candidate_requests = (request.args.get("lang"), request.cookies.get(COOKIE), preferred)
    tag = next((candidate_request for candidate_request in candidate_requests if candidate_request in LANGUAGES), None)
    chosen = tag or request.accept_languages.best_match(list(LANGUAGES)) or DEFAULT
    request.environ[CHOSEN] = chosen
    refresh()
    return chosen


def remember(response: Response, *, settings: Settings, path: str = COOKIE_PATH) -> Response:
    """Keep a language asked for in the address, for the pages below ``path``; an unknown one leaves no trace."""
    language = request.args.get("lang")
    if language in LANGUAGES:
        response.set_cookie(
            COOKIE,
            language,
            max_age=COOKIE_DAYS * 86_400,
            path=path,
            secure=settings.is_https,
            httponly=True,
            samesite="Lax",
        )
    return response


def chosen() -> str:
    """The language of this request; English where no one chose."""
    return _chosen() or DEFAULT


def _chosen() -> str | None:
    return request.environ.get(CHOSEN) if has_request_context() else None


def _locale() -> str:
    return LOCALES[chosen()]


def _shown() -> dict[str, Any]:
    tag = _chosen()
    if tag is None:
        return {}
    return {"page_language": tag, "page_direction": "rtl" if tag in RIGHT_TO_LEFT else "ltr", "languages": LANGUAGES}
