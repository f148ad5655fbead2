"""What a start costs: commands, the application, and the memory of web and worker processes before they work.

    .venv/bin/python bench/start.py [--runs 5]

CPU seconds (user and system) of whole processes, the least of several runs, next to floors of the same run. Bytecode is
written first, as in an installation that has run once. Memory is the resident set of the process that serves, in MB.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = (
    "flask, flask_sqlalchemy, marshmallow, flask_login, flask_babel, flask_wtf, flask_smorest, flask_limiter, apispec, "
    "webargs, rq, redis, argon2, itsdangerous, orjson, prometheus_client, cryptography.hazmat.primitives.ciphers.aead, "
    "email_validator, waitress"
)
CREATE = (
    "from app import create_app; from app.settings import Settings; create_app(Settings.from_env({'DATA_DIR': '%s'}))"
)


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--runs", type=int, default=5)
    runs = given.parse_args().runs
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "DATA_DIR": str(folder / "data")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def cpu(*command: str) -> float:
            return min(_cpu(command, environment) for _ in range(runs + 1))  # the first one writes the bytecode

        create = CREATE % (folder / "data")
        floor = cpu("-c", "import flask, flask_sqlalchemy, marshmallow")
        libraries = cpu("-c", f"import {LIBRARIES}")
        application = cpu("-c", create)
        click = cpu("-c", "import click")
        print(f"import click                                {click:.2f} s")
        for words in ("--help", "--version", "check --help", "up --help"):
            print(f"parley {words:<20}                 {cpu('-m', 'app.operations.cli', *words.split()):.2f} s")
        print(f"Flask, Flask-SQLAlchemy, marshmallow        {floor:.2f} s")
        print(f"the same and a web process's libraries      {libraries:.2f} s")
        print(
            f"create_app                                  {application:.2f} s: {application / floor:.1f} x, {application / libraries:.1f} x"
        )
        print(f"web process, first answer given             {_resident(create, environment):.0f} MB")
        worker = "import app.operations.processes.worker; " + create
        print(f"worker, before its first job                {_resident(worker, environment):.0f} MB")


def _cpu(command: tuple[str, ...], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _resident(code: str, environment: dict[str, str]) -> float:
    """In MB, after the application has answered once."""
    serve = code.replace("create_app(Settings", "app = create_app(Settings") + "; app.test_client().get('/healthz'); "
    told = "import json, re; print(json.dumps(re.search('VmRSS:\\\\s+(\\\\d+)', open('/proc/self/status').read())[1]))"
    done = subprocess.run(
        [sys.executable, "-c", serve + told], cwd=ROOT, env=environment, check=True, capture_output=True
    )
    return int(json.loads(done.stdout.splitlines()[-1])) / 1024


if __name__ == "__main__":
    began = time.monotonic()
    main()
    print(f"{time.monotonic() - began:.0f} s")
