"""``python -m app.operations.cli``: the command, where it is not installed."""

from app.operations.cli import main

main()
