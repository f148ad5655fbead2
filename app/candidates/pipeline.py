"""The rules of the pipeline: the six statuses every organization starts with, and what counts as a move."""

INVITED = "invited"
INTERVIEWED = "interviewed"
SHORTLISTED = "shortlisted"
ACCEPTED = "accepted"
REJECTED = "rejected"
WITHDRAWN = "withdrawn"

DEFAULTS = (INVITED, INTERVIEWED, SHORTLISTED, ACCEPTED, REJECTED, WITHDRAWN)


def is_move(previous: str, new: str) -> bool:
    """Whether anything happens at all: any move is allowed, and to stay where one is is none."""
    return previous != new
