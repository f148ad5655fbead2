"""Pages that set results side by side: compare, triage and insights."""
