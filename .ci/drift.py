"""Migrates an empty database and compares it with the rows that the code declares."""

import sys
import tempfile

from app.core import migrate

with tempfile.TemporaryDirectory() as directory:
    url = f"sqlite:///{directory}/check.db"
    migrate.upgrade(url)
    differences = migrate.drift(url)
for difference in differences:
    print(difference)
sys.exit(bool(differences))
