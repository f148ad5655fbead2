"""Finds name, email address and phone number in the text of a CV, by rules alone. Unsure means empty. Pure.

A person confirms what is found, so a gap costs a moment and a wrong value may send an invitation to a stranger.
"""

import re
import unicodedata
from dataclasses import dataclass

_I = re.IGNORECASE
_EMAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@(?=[a-z0-9])(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w-])",
    _I,
)
_PHONE = re.compile(r"(?<![\w/.-])(?:\+|00)?\(?\d[\d()/. \t-]{5,22}\d(?![\w/-])")
_DATE = re.compile(
    r"\b(?:19|20)\d{2}\b.*\b(?:19|20)\d{2}\b|\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d{2}|^(?:19|20)\d{2}\b",
)
_VALUE = r"(\s*:\s*|\s+)(.+)$"
_NAME_LABEL = re.compile(
    r"^(?:full name|first and last name|name|vor- und (?:nach|zu)name|vor- u\. nachname|name, vorname"
    r"|nombre(?: completo)?|nombre y apellidos?|nom(?: et prénom)?|nom complet|prénom et nom|nome(?: completo)?|navn)"
    + _VALUE,
    _I,
)
_FIRST_LABEL = re.compile(r"^(?:first name|given names?|vornamen?|nombres?|prénoms?|fornavn)" + _VALUE, _I)
_LAST_LABEL = re.compile(
    r"^(?:last name|surname|family name|nachname|familienname|apellidos?|nom(?: de famille)?|etternavn)" + _VALUE, _I
)
_LABEL_ALONE = re.compile(
    r"(?:full name|name|vor- und nachname|nombre(?: completo)?|nom(?: et prénom)?|nome|navn):", _I
)


def _any_of(*words: str) -> re.Pattern[str]:
    """Whole words, whatever their capitals; ``*`` stands for any ending."""
    alternatives = "|".join(" ".join(words).split()).replace("_", " ").replace("*", r"\w*")
    return re.compile(rf"\b(?:{alternatives})\b", _I)


_MOBILE_LABEL = _any_of("mobile mobil handy móvil celular portable cell")
_PHONE_LABEL = _any_of("phone tel telefon teléfono téléphone mobile mobil handy móvil celular portable cell")
_NOT_MINE = _any_of(
    "referen* reference references referee referees referenzen referencias référence références fax supervisor",
    "vorgesetzte* ansprechpartner* emergency notfall* urgence emergencia",
)
_HEADINGS = _any_of(
    "curriculum vitae vitæ cv résumé resume lebenslauf bewerbung* application currículum hoja_de_vida profile profil",
    "contact kontakt* contacto personal* persönliche* datos données daten details angaben summary experience education",
    "berufserfahrung ausbildung experiencia formación expérience formation skills about über objective page seite",
)
_NOT_NAMES = _any_of(
    "engineer developer manager nurse driver analyst designer consultant teacher sales marketing assistant officer",
    "director student accountant architect technician specialist software senior junior head lead team data project",
    "entwickler* ingenieur* krankenpfleger* krankenschwester pflegefach* fahrer* kauffrau kaufmann leiter* berater*",
    "lehrer* verkäufer* mechaniker* ingenier* desarrollador* enfermer* conductor* gerente contador* profesor*",
    "ingénieur* développeu* infirmi* chauffeur comptable professeur* vendeu* chef* street road avenue straße strasse",
    "weg platz calle avenida rue boulevard germany deutschland spain españa france berlin madrid paris london",
    "university universität universidad université college school gmbh ltd inc sarl sa ag limited city hospital",
    "logistics service services consulting system systems solution solutions group company",
)
_PARTICLES = frozenset(
    ("von", "van", "de", "der", "den", "del", "della", "di", "da", "dos", "la", "las", "los", "le", "el", "zu", "zur")
)
_TITLES = frozenset(
    (
        *("dr", "dr.", "prof", "prof.", "mr", "mr.", "mrs", "mrs.", "ms", "ms.", "herr", "frau", "señor", "señora"),
        *(
            "m.",
            "mme",
            "sr.",
            "sra.",
            "dipl.-ing.",
            "ing.",
            "med.",
            "b.sc.",
            "m.sc.",
            "msc",
            "bsc",
            "mba",
            "phd",
            "lic.",
        ),
    )
)
_WORD = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*\.?")
_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "o", "æ": "ae", "ł": "l", "đ": "d"})
TOP = 12
"""Lines at the beginning in which people introduce themselves."""
LONGEST_LINE = 60
LONGEST_READ = 400
"""Characters of a line that are read: a paragraph may be one line."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a CV says about its owner; None where the rules are not sure."""

    first_name: str | None = None
    last_name: str | None = None
    email: str | None = None
    phone: str | None = None


def found_in(text: str) -> Found:
    """The owner's details."""
    lines = [line for raw in text.splitlines() if (line := " ".join(raw[:LONGEST_READ].split()))]
    labelled, guesses = _labelled_name(lines), _guesses(lines)
    names = [labelled] if labelled else guesses
    email, owner = _email(lines, names)
    first, last = _split(_name(labelled, guesses, owner))
    return Found(first, last, email, _phone(lines))


def _email(lines: list[str], names: list[str]) -> tuple[str | None, str | None]:
    """The address, and the one of ``names`` that it is made of, if any."""
    mine: list[str] = []
    others: list[str] = []
    for line, is_other in _marked(lines):
        for address in _EMAIL.findall(line):
            kept = others if is_other else mine
            if address.lower() not in (one.lower() for one in (*mine, *others)):
                kept.append(address)
    fitting = [(address, name) for address in mine for name in names if _fits(address, name)]
    if fitting:
        return fitting[0]
    return (mine[0], None) if len(mine) == 1 else (None, None)


def _marked(lines: list[str]) -> list[tuple[str, bool]]:
    """Each line with whether it is about someone else: below a heading like "References", or naming one."""
    marked, below = [], False
    for line in lines:
        names_other = _NOT_MINE.search(line) is not None
        if names_other and len(line) < LONGEST_LINE / 2 and not _EMAIL.search(line):
            below = True
        elif _HEADINGS.search(line) and len(line) < LONGEST_LINE / 2 and not names_other:
            below = False
        marked.append((line, below or names_other))
    return marked


def _fits(address: str, name: str) -> bool:
    """Whether the address is made of this name: a whole part of it, or all initials with the last name."""
    local = _plain(address.partition("@")[0])
    letters = re.sub(r"[^a-z]", "", local)
    for spelled in (_plain(name), _bare(name)):
        words = [re.sub(r"[^a-z]", "", word) for word in spelled.split()]
        if any(len(word) >= 3 and word in letters for word in words):
            return True
    return False


def _plain(text: str) -> str:
    """Lower case in plain letters, as addresses spell names: ü as ue, é as e."""
    return _bare(text.lower().translate(_LETTERS))


def _bare(text: str) -> str:
    return "".join(one for one in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(one))


def _labelled_name(lines: list[str]) -> str | None:
    """The name behind a label, or below one that has a line for itself."""
    first = last = whole = None
    marked = _marked(lines)
    for (line, is_other), following in zip(marked, [*lines[1:], ""], strict=False):
        if is_other:
            continue
        text = f"{line} {following}" if _LABEL_ALONE.fullmatch(line) else line
        whole = whole or _behind(_NAME_LABEL, text, least=2)
        first = first or _behind(_FIRST_LABEL, text, least=1)
        last = last or _behind(_LAST_LABEL, text, least=1)
    return f"{first} {last}" if first and last else whole


def _behind(label: re.Pattern[str], line: str, *, least: int) -> str | None:
    match = label.match(line)
    if match is None:
        return None
    value = re.split(r"\s*[|•·]\s*|\s+(?=\w+:)", match[2])[0]
    return _as_name(value, trusted=":" in match[1], least=least if ":" in match[1] else max(2, least))


def _guesses(lines: list[str]) -> list[str]:
    """Lines at the top that may be a name, in their order. A name often shares its line with other things."""
    found: list[str] = []
    for line in lines[:TOP]:
        for piece in (line, *re.split(r"\s*[|•·/]\s*|\s[–—-]\s|,\s", line)):
            name = _as_name(piece)
            if name and name not in found:
                found.append(name)
    return found


def _name(labelled: str | None, guesses: list[str], owner: str | None) -> str | None:
    """The labelled name, the one that the address is made of, or the only one that there can be."""
    if labelled or owner:
        return labelled or owner
    return guesses[0] if len(guesses) == 1 else None


def _as_name(piece: str, *, trusted: bool = False, least: int = 2) -> str | None:
    """The piece as a name in usual capitals, if it can be one. ``trusted``: a label says that it is."""
    last, comma, first = piece.strip().strip(".:").partition(",")
    ordered = f"{first.strip()} {last.strip()}" if comma else piece.strip()
    words = [word for word in ordered.split() if word.lower() not in _TITLES]
    if not least <= len(words) <= 5 or len(ordered) > LONGEST_LINE:
        return None
    if not all(_WORD.fullmatch(word) for word in words):
        return None
    if not trusted and (_HEADINGS.search(ordered) or _NOT_NAMES.search(ordered)):
        return None
    if not all(word[0].isupper() or word.lower() in _PARTICLES for word in words):
        return None
    if comma and not trusted and (" " in last.strip() and not last.isupper()):
        return None
    return " ".join(_cased(word) for word in words)


def _cased(word: str) -> str:
    if word.lower() in _PARTICLES and len(word) > 1:
        return word.lower() if word.isupper() or word.islower() else word
    if not word.isupper() or len(word) <= 2:
        return word
    return re.sub(r"[^\W\d_]+", lambda part: part[0].capitalize(), word)


def _split(name: str | None) -> tuple[str | None, str | None]:
    """First and last name: a particle begins the last name, else the last word is it."""
    words = (name or "").split()
    if len(words) < 2:
        return (words[0] if words else None), None
    particle = next((at for at, word in enumerate(words[1:], 1) if word.lower() in _PARTICLES), len(words) - 1)
    return " ".join(words[:particle]), " ".join(words[particle:])


def _phone(lines: list[str]) -> str | None:
    """The mobile number if one is called that, else the only labelled one, else the only one."""
    mine: dict[str, tuple[str, str]] = {}
    for line, is_other in _marked(lines):
        if is_other:
            continue
        for match in _PHONE.finditer(line):
            number, before = " ".join(match[0].split()), line[: match.start()]
            if _is_phone(number, before, line):
                mine.setdefault(_digits(number), (number, before))
    mobile = [number for number, before in mine.values() if _last_label(before, _MOBILE_LABEL)]
    labelled = [number for number, before in mine.values() if _last_label(before, _PHONE_LABEL)]
    for chosen in (mobile, labelled, [number for number, _ in mine.values()]):
        if chosen:
            return chosen[0] if len(chosen) == 1 else None
    return None


def _last_label(before: str, label: re.Pattern[str]) -> bool:
    return label.search(before[-25:]) is not None


def _is_phone(number: str, before: str, line: str) -> bool:
    digits = _digits(number)
    if not 7 <= len(digits.lstrip("+")) <= 15:
        return False
    if _PHONE_LABEL.search(before[-25:]):
        return True
    if _DATE.search(number) or "@" in before[-1:]:
        return False
    return number.startswith(("+", "00", "0", "(", "6", "7", "9")) and len(digits) >= 9 and not _DATE.search(line)


def _digits(number: str) -> str:
    digits = re.sub(r"[^\d+]", "", number.replace("(0)", ""))
    return re.sub(r"^00", "+", digits)
