"""Organizations, teams, members, API keys: who is who, and who may come in."""
