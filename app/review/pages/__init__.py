"""Pages across results: compare, triage and insights."""
