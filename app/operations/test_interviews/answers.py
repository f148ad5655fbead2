"""The answers of a test interview: plainly a test, and in English whatever the flow's language."""

ANSWERS = (
    (
        "TEST answer one. Nobody is speaking here, because this interview was booked with a test key. "
        "I have worked in a small team for three years, and I like to help people."
    ),
    (
        "TEST answer two. Last summer our system was slow in the morning, so I looked at the numbers and found why. "
        "We changed one part, and the work was done in half the time."
    ),
    (
        "TEST answer three. I try to listen first and to speak later. "
        "When we do not agree, I write down what each of us wants, and we look for a way that works for both."
    ),
)
"""One for each question, in turn."""
VOICE, LANGUAGE = "vendora-Anthony", "en-US"
ENGINE = "test"
"""The name in place of the recognition engine in a result."""
AGREED = "TEST: booked with a test key. Nobody took this interview, so nobody was asked to agree."


def answer_to(question: int) -> str:
    """The canned answer to this question of the script."""
    return ANSWERS[question % len(ANSWERS)]
