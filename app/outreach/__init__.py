"""Mail to candidates: invitations, reminders and notices before a link ends, each step once per interview."""
