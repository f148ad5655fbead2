"""A whole Parley on ports and directories of its own: database, Redis, web and worker processes, one customer."""

import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import requests
import sqlalchemy as sa

from app.gateways.redis import embedded
from tests.faults.case import Lab, NotRun, eventually
from tests.faults.processes import ROOT, Process, free_port, parley

SECRET_KEY = "faults-only-" * 4
ADMIN, PASSWORD = "admin@faults.example", "a long enough password"


def run_parley(*arguments: str, env: dict[str, str], cwd: Path = ROOT) -> str:
    """A command of the product to its end; raises with its last words."""
    done = subprocess.run(
        parley(*arguments, cwd=cwd), env={**os.environ, **env}, cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"parley {arguments[0]} failed: {done.stderr[-800:]}")
    return done.stdout


def found(env: dict[str, str], directory: Path, *, cwd: Path = ROOT) -> None:
    """Migrate and found the customer with the code at ``cwd``; the key goes into ``customer.json``."""
    run_parley("migrate", env=env, cwd=cwd)
    made = run_parley(
        "org",
        "create",
        "Faults",
        "--team",
        "One",
        "--admin-email",
        ADMIN,
        "--admin-password",
        PASSWORD,
        "--json",
        env=env,
        cwd=cwd,
    )
    (directory / "customer.json").write_text(made)


@contextlib.contextmanager
def laboratory(name: str, seed: int | None) -> Iterator[Lab]:
    """A lab of its own for a long run, gone at the end, also when it is told to stop. Prints the seed first."""
    chosen = seed if seed is not None else random.SystemRandom().randrange(10**9)
    print(f"seed {chosen}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    directory = Path(tempfile.mkdtemp(prefix=f"parley-{name}-"))
    lab = Lab(directory, seed=chosen, is_smoke=False, template=directory / "template")
    try:
        make_template(lab.template)
        with lab.resources:
            yield lab
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def make_template(directory: Path) -> None:
    """An SQLite installation with its customer, to be copied by every case."""
    directory.mkdir(parents=True)
    found({"DATA_DIR": str(directory), "SECRET_KEY": SECRET_KEY}, directory)
    with contextlib.closing(sqlite3.connect(directory / "parley.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class Web(Process):
    """A web process; ``url`` is where it listens."""

    def __init__(self, lab: Lab, env: dict[str, str], *, port: int, cwd: Path = ROOT) -> None:
        self.url = f"http://127.0.0.1:{port}"
        super().__init__(lab, parley("web", cwd=cwd), env={**env, "PORT": str(port)}, name=f"web-{port}", cwd=cwd)
        if not eventually(self.is_healthy, seconds=60, every=0.05):
            raise RuntimeError(f"the web process did not come up:\n{self.log.read_text()[-1500:]}")

    def is_healthy(self) -> bool:
        try:
            return requests.get(f"{self.url}/healthz", timeout=2).status_code == 200
        except requests.RequestException:
            return False


class RedisServer:
    """A Redis without persistence, which forgets everything when it dies."""

    def __init__(self, lab: Lab, *options: str, host: str = "127.0.0.1") -> None:
        self._lab, self._options, self.port, self._host = lab, options, free_port(), host
        self.url = f"redis://{host}:{self.port}/0"
        self.process: Process
        self.start()

    def start(self) -> None:
        try:
            program = embedded.binary_path()
        except embedded.NoServer as error:
            raise NotRun(str(error)) from None
        command = [program, "--port", str(self.port), "--bind", self._host, "--save", "", "--appendonly", "no"]
        command += ["--protected-mode", "no"]
        self.process = Process(self._lab, [*command, "--dir", str(self._lab.directory), *self._options], name="redis")
        if not eventually(self.answers, seconds=20, every=0.02):
            raise RuntimeError("Redis did not come up")

    def answers(self) -> bool:
        from redis import Redis
        from redis.exceptions import RedisError

        try:
            with Redis(self._host, self.port, socket_timeout=1) as client:
                return bool(client.ping())
        except RedisError:
            return False

    def client(self) -> Any:
        from redis import Redis

        return Redis(self._host, self.port, socket_timeout=5)


class PostgresServer:
    """A PostgreSQL server of its own, durable as in production."""

    def __init__(
        self,
        lab: Lab,
        *,
        directory: Path | None = None,
        host: str = "127.0.0.1",
        log: Path | None = None,
        **settings: str,
    ) -> None:
        binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if not binaries:
            raise NotRun("PostgreSQL is not installed")
        self._bin, self._lab, self.port, self._host = binaries[-1], lab, free_port(), host
        self._settings = {"max_connections": "100", **settings}
        self._user = {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}
        self._home = directory or Path(tempfile.mkdtemp(prefix="parley-faults-pg-"))
        if directory is None:
            lab.resources.callback(shutil.rmtree, self._home, ignore_errors=True)
        if self._user:
            shutil.chown(self._home, "postgres", "postgres")
        self.data = self._home / "data"
        command = [str(self._bin / "initdb"), "-D", str(self.data), "-A", "trust", "-U", "parley", "-E", "UTF8"]
        if log is not None:
            command += ["--waldir", str(log / "wal"), "--wal-segsize", "1"]
            if self._user:
                shutil.chown(log, "postgres", "postgres")
        subprocess.run([*command, "--locale=C.UTF-8"], check=True, capture_output=True, cwd="/", **self._user)
        with (self.data / "pg_hba.conf").open("a") as doors:
            doors.write(f"host all all {host}/24 trust\n")
        self.process: Process
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://parley@{self._host}:{self.port}/postgres"

    def start(self) -> None:
        options = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        command = [str(self._bin / "postgres"), "-D", str(self.data), "-p", str(self.port), "-k", str(self._home)]
        self.process = Process(
            self._lab,
            [*command, "-c", f"listen_addresses={self._host}", *options],
            name="postgresql",
            stop_with=signal.SIGINT,
            **self._user,
        )
        if not eventually(self.answers, seconds=60):
            raise RuntimeError(f"PostgreSQL did not come up:\n{self.process.log.read_text()[-1500:]}")

    def answers(self) -> bool:
        import psycopg

        try:
            with psycopg.connect(self.url, connect_timeout=2) as connection:
                connection.execute("select 1")
        except psycopg.OperationalError:
            return False
        return True


class Installation:
    """Everything of one Parley. ``sql`` reads (and, where a case moves time, writes) its database directly."""

    def __init__(
        self,
        lab: Lab,
        *,
        postgres: PostgresServer | None = None,
        redis: RedisServer | None = None,
        template: Path | None = None,
        **env: str,
    ) -> None:
        self.lab, self.postgres, self.redis = lab, postgres, redis
        self.data_dir = Path(tempfile.mkdtemp(prefix="data-", dir=lab.directory))
        port = free_port()
        self.env = {
            "DATA_DIR": str(self.data_dir),
            "SECRET_KEY": SECRET_KEY,
            "HOST": "127.0.0.1",
            "DATABASE_URL": "",
            "APP_URL": f"http://127.0.0.1:{port}",
            "RATE_LIMIT_PER_MINUTE": "0",
            "STT_PROCESSES": "1",
            "REDIS_URL": "",
            **env,
        }
        self.port = port
        if redis is not None:
            self.env["REDIS_URL"] = redis.url
        if postgres is None:
            for name in ("parley.db", "customer.json"):
                shutil.copy((template or lab.template) / name, self.data_dir / name)
            url = f"sqlite:///{self.data_dir / 'parley.db'}"
        else:
            url = postgres.url.replace("postgresql://", "postgresql+psycopg://")
            if not (postgres.data.parent / "customer.json").exists():
                found({**self.env, "DATABASE_URL": postgres.url}, postgres.data.parent)
            shutil.copy(postgres.data.parent / "customer.json", self.data_dir / "customer.json")
            self.env["DATABASE_URL"] = env.get("DATABASE_URL", postgres.url)
        self.customer: dict[str, str] = json.loads((self.data_dir / "customer.json").read_text())
        self._engine = sa.create_engine(url, poolclass=sa.NullPool)

    def use(self, data_dir: Path) -> None:
        """Read the SQLite database of this directory from now on."""
        self.data_dir = data_dir
        self._engine = sa.create_engine(f"sqlite:///{data_dir / 'parley.db'}", poolclass=sa.NullPool)

    def web(self, *, port: int | None = None, **env: str) -> Web:
        return Web(self.lab, {**self.env, **env}, port=port or self.port)

    def worker(self, **env: str) -> Process:
        return Process(self.lab, parley("worker"), env={**self.env, **env}, name="worker")

    def sql(self, statement: str, **values: Any) -> list[Any]:
        """Rows of a statement, as the checker and the moved clock use it; committed at once."""
        for tried in range(20):
            try:
                with self._engine.begin() as connection:
                    result = connection.execute(sa.text(statement), values)
                    return list(result.all()) if result.returns_rows else []
            except sa.exc.OperationalError:
                if tried == 19:
                    raise
                time.sleep(0.25)
        return []

    def one(self, statement: str, **values: Any) -> Any:
        rows = self.sql(statement, **values)
        return rows[0][0] if rows else None

    def count(self, table: str, where: str = "1=1", **values: Any) -> int:
        return int(self.one(f"select count(*) from {table} where {where}", **values))


def within(holds: Callable[[], object], *, seconds: float) -> float | None:
    """Seconds until ``holds()``, None when it never did."""
    began = time.monotonic()
    return time.monotonic() - began if eventually(holds, seconds=seconds) else None
