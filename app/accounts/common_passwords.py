"""Common passwords of 12 and more characters: keyboard patterns, number sequences and plain words.

They are assembled from their parts instead of listed by the million: passwords that reach 12 characters by joining
common words, or by counting, are recognised.
"""

import re
from functools import lru_cache

_STEMS = (
    "password",
    "passwort",
    "welcome",
    "letmein",
    "changeme",
    "qwerty",
    "qwertz",
    "azerty",
    "administrator",
    "admin",
    "iloveyou",
    "dragon",
    "monkey",
    "football",
    "baseball",
    "sunshine",
    "princess",
    "superman",
    "trustno1",
    "parley",
    "interview",
    "recruiter",
    "hiring",
    "company",
    "secret",
    "default",
    "summer",
    "winter",
    "spring",
    "autumn",
    "master",
    "login",
    "hello",
    "access",
    "shadow",
    "michael",
    "computer",
    "internet",
    "starwars",
    "whatever",
    "abc",
    "test",
)
_TAILS = (
    "",
    "1",
    "12",
    "123",
    "1234",
    "12345",
    "123456",
    "1234567",
    "12345678",
    "123456789",
    "1234567890",
    "!",
    "!!",
    "123!",
    "1234!",
    "2023",
    "2024",
    "2025",
    "2026",
    "2027",
    "2024!",
    "2025!",
    "2026!",
    "2027!",
    "01",
    "007",
    "000",
    "0000",
    "00000",
    "111",
    "1111",
    "11111",
    "111111",
    "321",
    "4321",
    "54321",
    "654321",
    "@123",
    "@1234",
    "#123",
)
_WALKS = (
    "qwertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "1234567890",
    "0987654321",
    "qwertzuiop",
    "azertyuiop",
    "1q2w3e4r5t6y",
    "1qaz2wsx3edc",
    "qazwsxedcrfv",
    "abcdefghijkl",
    "q1w2e3r4t5y6",
    "zaq12wsxcde3",
    "123qweasdzxc",
    "qweasdzxc123",
)


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    stems, tails, walks = ("|".join(map(re.escape, words)) for words in (_STEMS, _TAILS, _WALKS))
    return re.compile(f"(?:(?:{stems}){{1,3}}(?:{tails})|(?:{walks}){{1,2}}(?:{tails}))", re.IGNORECASE)


def is_common(password: str) -> bool:
    """Whether ``password`` is strung together from the words, walks and tails that everyone takes."""
    return _pattern().fullmatch(password) is not None
