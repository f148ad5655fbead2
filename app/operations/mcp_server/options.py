"""What the operator decides about the process. Nothing of it is an argument of a tool."""

from dataclasses import dataclass
from enum import StrEnum


class Profile(StrEnum):
    """Which tools there are. What candidates said and tools that write are never in one profile."""

    READ = "read"
    CREATE = "create"


@dataclass(frozen=True, slots=True)
class Options:
    """``public_url`` begins the links to Parley's pages; ``shows_emails`` lets email addresses through."""

    base_url: str
    public_url: str
    profile: Profile = Profile.READ
    shows_emails: bool = False
