"""Parses every template with the application's own Jinja environment; a broken one fails the check."""

import sys
import tempfile
from pathlib import Path

from app import create_app
from app.settings import Settings

with tempfile.TemporaryDirectory() as data:
    app = create_app(Settings.from_env({"DATA_DIR": data}))
    broken = []
    for name in app.jinja_env.list_templates(extensions=["html", "txt", "css"]):
        if not (Path("templates") / name).exists():
            continue
        try:
            app.jinja_env.get_template(name)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, it is named
            broken.append(f"{name}: {error}")
    app.extensions["parley.gateways"].close()
print("\n".join(broken))
sys.exit(bool(broken))
