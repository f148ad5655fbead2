"""Parley broken on purpose: ``python -m tests.faults --smoke`` or ``--all``. See docs/reliability.md."""
