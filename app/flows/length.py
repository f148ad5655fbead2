"""How long an interview takes, as the invitation, the page and the agent say it."""

MINUTES_PER_QUESTION = 2
STEP = 5
"""Minutes to which the agent and the page round: no one can know it better."""
MOST_LEFT = 40
"""Minutes of the most questions; the agent and the page have sentences up to here."""


def likely_minutes(questions: int, *, most: int) -> int:
    """About how long an interview takes, in minutes: rounded to five beyond ten, never beyond the limit."""
    exact = 1 + MINUTES_PER_QUESTION * questions
    return min(most, exact if exact <= 10 else STEP * round(exact / STEP))


def minutes_left(questions: int, *, most: float) -> int:
    """About how many minutes ``questions`` more take, in steps of five; 0 means only a few. Never beyond ``most``."""
    return min(STEP * round(MINUTES_PER_QUESTION * questions / STEP), STEP * int(min(most, MOST_LEFT) // STEP))
