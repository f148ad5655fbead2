"""A process loads what it uses: an import costs every start, every command and every test that runs one."""

import subprocess
import sys

import pytest

HEAVY = ("boto3", "botocore", "psycopg", "av", "openai", "pydantic", "pocketsphinx", "playwright")


@pytest.mark.parametrize("module", ["app", "app.operations.cli"])
def test_drivers_and_engines_are_loaded_where_they_are_used(module: str) -> None:
    asked = f"import sys, {module}; print(*[name for name in {HEAVY} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == []
