"""Runs docs/deploy/compose.yaml without containers: each service's own command, settings, volumes, health check.

    .venv/bin/python .ci/compose.py IMAGES

IMAGES is the directory that ``.ci/image DIRECTORY`` left. Parley's services run in them: read-only, with the file's
volumes and temporary file systems, without privileges. PostgreSQL, Valkey and Caddy are this machine's programs.
SeaweedFS is run if its program ``weed`` is here; otherwise moto answers at its address, and the report says so. Each
service has its own network and finds the others by name. Then an organization is created as the file says, a candidate
takes an interview through the proxy, one web process ends meanwhile, and everything stops in its time.

Needs Linux and root. Where a program is missing, it says so and ends well.
"""

import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from app.gateways.redis.embedded import binary_path

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "docs" / "deploy"
HOST = "parley.local"
"""Caddy signs certificates for such names itself."""
USER = 10001
STARTS_WITHIN = 120.0
INTERVIEW = Path(__file__).with_name("compose_interview.py")

Service = dict[str, Any]


class Left(Exception):
    """It cannot be tried here; the message says why."""


def filled(value: object, variables: dict[str, str]) -> str:
    """A value of the file with its variables. Raises KeyError for one that parley.env.example does not name."""
    return re.sub(r"\$\{(\w+)(?::\?[^}]*)?\}", lambda found: variables[found[1]], str(value))


def seconds(text: str) -> float:
    """``40s`` as a number."""
    return float(text.removesuffix("s"))


def postgresql() -> Path:
    """The programs of the newest PostgreSQL of Debian. Raises Left."""
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    if newest := max(folders, key=lambda path: int(path.parent.name), default=None):
        return newest
    raise Left("PostgreSQL is not installed")


class Installation:
    """The services of the file, each in a network namespace on one bridge."""

    def __init__(self, place: Path, images: Path) -> None:
        self.place, self.images = place, images
        self.whole = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
        self.services: dict[str, Service] = self.whole["services"]
        names = re.findall(
            r"^([A-Z0-9_]+)=$", (DEPLOY / "parley.env.example").read_text(encoding="utf-8"), re.MULTILINE
        )
        self.variables = {name: secrets.token_hex(16) for name in names} | {"APP_HOST": HOST}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.notes: list[str] = []
        self.addresses = {name: f"10.77.0.{number}" for number, name in enumerate([*self.services, "client"], start=10)}

    def wire(self) -> None:
        """Make the bridge, and a namespace for each service and for a client; all find each other by name."""
        _do("ip", "link", "set", "lo", "up")
        _do("ip", "link", "add", "compose", "type", "bridge")
        _do("ip", "addr", "add", "10.77.0.1/24", "dev", "compose")
        _do("ip", "link", "set", "compose", "up")
        for number, (name, address) in enumerate(self.addresses.items()):
            _do("ip", "netns", "add", name)
            _do("ip", "link", "add", f"c{number}", "type", "veth", "peer", "name", "eth0", "netns", name)
            _do("ip", "link", "set", f"c{number}", "master", "compose", "up")
            for words in ("link set lo up", f"addr add {address}/24 dev eth0", "link set eth0 up"):
                _do("ip", "-n", name, *words.split())
        hosts = {**self.addresses, HOST: self.addresses["proxy"]}
        text = "127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in hosts.items())
        (self.place / "hosts").write_text(text, encoding="utf-8")
        _do("mount", "--bind", str(self.place / "hosts"), "/etc/hosts")

    def volume(self, source: str) -> Path:
        """A named or nameless volume, or a file beside compose.yaml."""
        if source.startswith("."):
            return DEPLOY / source
        folder = self.place / "volumes" / source.strip("/").replace("/", "-")
        if not folder.exists():
            folder.mkdir(parents=True)
            folder.chmod(0o1777)
        return folder

    def environment(self, service: Service) -> dict[str, str]:
        """Its variables, filled in."""
        return {name: filled(value, self.variables) for name, value in service.get("environment", {}).items()}

    def is_ours(self, service: Service) -> bool:
        """Whether it runs an image of Parley."""
        return "build" in service

    def image(self, service: Service) -> Path:
        """The directory of its image."""
        return self.images / str(service["build"]["target"])

    def command(self, name: str, words: list[str] | None = None) -> list[str]:
        """What to run on this machine for a service, or for another command in its place."""
        service = self.services[name]
        own = words or [str(word) for word in service.get("command", [])]
        if self.is_ours(service):
            return self._in_image(name, own)
        return getattr(self, f"_{name}")(own)

    def _in_image(self, name: str, words: list[str]) -> list[str]:
        """Parley in the image: a root of its own, with what the file mounts."""
        service = self.services[name]
        root = self.place / "roots" / f"{name}-{secrets.token_hex(3)}"
        root.mkdir(parents=True)
        lines = [f"mount --bind {self.image(service)} {root}", f"mount -o remount,bind,ro {root}"]
        lines += [f"mount -t proc proc {root}/proc", f"mount --bind /dev {root}/dev"]
        lines += [f"mount --bind {self.place}/hosts {root}/etc/hosts"]
        for one in service["tmpfs"]:
            lines.append(f"mount -t tmpfs -o mode=1777 tmpfs {root}{one.split(':')[0]}")
        for one in service.get("volumes", []):
            source, _, target = one.removesuffix(":ro").partition(":")
            lines.append(
                f"mount --bind {self.volume(source if target else f'{name}{source}')} {root}{target or source}"
            )
        settings = [f"{key}={value}" for key, value in self.environment(service).items()]
        variables = self._image_variables(service) + settings
        if not service["read_only"] or service["cap_drop"] != ["ALL"]:
            raise SystemExit(f"{name} may do more than this script lets it do")
        without = f"--reuid={USER} --regid={USER} --clear-groups --no-new-privs --bounding-set=-all"
        lines += [f'exec chroot {root} setpriv {without} env -i "$@"']
        return ["unshare", "--mount", "sh", "-ec", "\n".join(lines), name, *variables, "parley", *words]

    def _image_variables(self, service: Service) -> list[str]:
        """``NAME=value`` for each variable that the Containerfile sets."""
        return Path(f"{self.image(service)}.env").read_text(encoding="utf-8").splitlines()

    def _db(self, words: list[str]) -> list[str]:
        """PostgreSQL: sets up an empty volume as the image does, with role.sh, and runs the command."""
        home, data = postgresql(), self.volume("rows") / "data"
        path = f"{home}:{os.environ['PATH']}"
        self.notes.append(f"PostgreSQL {home.parent.name} of Debian (the file names {self.services['db']['image']})")
        if not data.exists():
            variables = {**self.environment(self.services["db"]), "PATH": path, "PGHOST": str(self.place / "pg")}
            (self.place / "pg").mkdir(mode=0o777)
            (self.place / "pg").chmod(0o777)
            password = self.place / "pg" / "password"
            password.write_text(variables["POSTGRES_PASSWORD"])
            shutil.chown(password, "postgres")
            as_owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
            _do(
                *as_owner,
                "initdb",
                "-D",
                data,
                "-U",
                variables["POSTGRES_USER"],
                "--pwfile",
                password,
                "--auth-local=trust",
                "--auth-host=scram-sha-256",
                "--locale=C.UTF-8",
                env=variables,
            )
            with (data / "pg_hba.conf").open("a") as rules:
                rules.write("host all all all scram-sha-256\n")
            _do(
                *as_owner,
                "pg_ctl",
                "-D",
                data,
                "-w",
                "-o",
                f"-k {self.place}/pg -c listen_addresses=",
                "-l",
                self.place / "pg" / "log",
                "start",
                env=variables,
            )
            _do("sh", DEPLOY / "role.sh", env=variables)
            _do(*as_owner, "pg_ctl", "-D", data, "-w", "stop", env=variables)
        program = [
            str(home / words[0]),
            *words[1:],
            "-D",
            str(data),
            "-k",
            str(self.place / "pg"),
            "-c",
            "listen_addresses=*",
        ]
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *program]

    def _redis(self, words: list[str]) -> list[str]:
        program = shutil.which(words[0]) or binary_path()
        self.notes.append(f"Valkey: {program} (the file names {self.services['redis']['image']})")
        return [program, *words[1:], "--protected-mode", "no"]  # as the image's own file of settings

    def _proxy(self, words: list[str]) -> list[str]:
        if not (caddy := shutil.which("caddy")):
            raise Left("Caddy is not installed")
        self.notes.append(f"Caddy of Debian (the file names {self.services['proxy']['image']})")
        return [
            "env",
            "PATH=",  # it would make this machine trust its own authority
            f"XDG_DATA_HOME={self.volume('certificates')}",
            f"XDG_CONFIG_HOME={self.volume('certificates')}",
            caddy,
            "run",
            "--config",
            str(DEPLOY / "Caddyfile"),
            "--adapter",
            "caddyfile",
            *words,
        ]

    def _s3(self, words: list[str]) -> list[str]:
        if weed := shutil.which("weed"):
            self.notes.append("SeaweedFS itself")
            return [weed, *(word.replace("/data", str(self.volume("objects"))) for word in words)]
        self.notes.append("moto in place of SeaweedFS, whose program (weed) is not here: the real server was not run")
        return [str(ROOT / ".venv" / "bin" / "moto_server"), "-H", "0.0.0.0", "-p", self.s3_port()]  # noqa: S104

    def s3_port(self) -> str:
        """Where Parley looks for the storage."""
        return str(self.services["web-1"]["environment"]["S3_ENDPOINT_URL"]).rpartition(":")[2]

    def start(self, name: str) -> None:
        """Start a service when what it depends on is there, and wait until it is healthy, or has ended well."""
        if name in self.running:
            return
        service = self.services[name]
        for needed, how in service.get("depends_on", {}).items():
            self.start(needed)
            self.wait_for(needed, how["condition"])
        began = time.monotonic()
        self.running[name] = self.spawn(name, self.command(name))
        if "healthcheck" in service:
            self.wait_for(name, "service_healthy")
        print(f"{name}: started, {time.monotonic() - began:.1f} s", flush=True)

    def spawn(self, name: str, command: list[str]) -> subprocess.Popen[bytes]:
        """A process in the network of a service, with its variables; its output in a file."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.place), **self.environment(self.services[name])}
        with (self.place / f"{name}.log").open("ab") as log:
            return subprocess.Popen(["ip", "netns", "exec", name, *command], env=env, stdout=log, stderr=log)  # noqa: S603, S607

    def wait_for(self, name: str, condition: str) -> None:
        """Raise SystemExit with its log where it does not come to that."""
        deadline = time.monotonic() + STARTS_WITHIN
        process = self.running[name]
        while time.monotonic() < deadline:
            ended = process.poll()
            if condition == "service_completed_successfully" and ended == 0:
                return
            if condition == "service_healthy" and ended is None and self.is_healthy(name):
                return
            if ended or (ended == 0 and condition == "service_healthy"):
                break
            time.sleep(0.3)
        raise SystemExit(f"{name} does not reach {condition}:\n{(self.place / f'{name}.log').read_text()[-3000:]}")

    def is_healthy(self, name: str) -> bool:
        """Run its own health check in its own network."""
        words = [str(word) for word in self.services[name]["healthcheck"]["test"][1:]]
        if name == "s3" and not shutil.which("weed"):
            words = [
                str(ROOT / ".venv/bin/python"),
                "-c",
                f"import urllib.request as u; u.urlopen('http://127.0.0.1:{self.s3_port()}')",
            ]
        elif name == "redis":
            words = [shutil.which(words[0]) or "redis-cli", *words[1:]]
        elif name == "db":
            words = [str(postgresql() / words[0]), *words[1:]]
        elif self.is_ours(service := self.services[name]):
            words = ["chroot", str(self.image(service)), "env", *self._image_variables(service), *words]
        patience = seconds(self.services[name]["healthcheck"]["timeout"])
        with contextlib.suppress(subprocess.TimeoutExpired):
            command = ["ip", "netns", "exec", name, *words]
            return not subprocess.run(command, capture_output=True, timeout=patience, check=False).returncode  # noqa: S603
        return False

    def stop(self, name: str) -> None:
        """SIGTERM, and the time that the file gives. Raises SystemExit for a Parley process that needs longer."""
        process = self.running.pop(name)
        if process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            ended = process.wait(seconds(self.services[name].get("stop_grace_period", "10s")))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            if self.is_ours(self.services[name]):
                raise SystemExit(f"{name} did not stop in its time") from None
            return
        if self.is_ours(self.services[name]) and ended:
            raise SystemExit(f"{name} ended with {ended}:\n{(self.place / f'{name}.log').read_text()[-3000:]}")


def _do(*words: object, env: dict[str, str] | None = None) -> None:
    done = subprocess.run([str(word) for word in words], env=env, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))} failed:\n{done.stdout}{done.stderr}")


@contextlib.contextmanager
def installed(images: Path) -> Iterator[Installation]:
    """Everything of the file, started in its order; stopped and removed at the end."""
    place = Path(tempfile.mkdtemp(prefix="parley-compose-"))
    place.chmod(0o755)
    here = Installation(place, images)
    try:
        here.wire()
        yield here
    finally:
        for process in here.running.values():
            process.kill()
            process.wait()
        shutil.rmtree(place, ignore_errors=True)


def alone() -> None:
    """Go on in new namespaces, so that nothing is left behind and no one else is met."""
    if not os.environ.get("PARLEY_COMPOSE"):
        os.environ["PARLEY_COMPOSE"] = "1"
        words = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", sys.executable, *sys.argv]
        os.execvp(words[0], words)  # noqa: S606 - our own words
    _do("mount", "-t", "tmpfs", "tmpfs", "/run")  # ip keeps the names of namespaces there
    for folder in ("/usr/local/share/ca-certificates", "/etc/ssl/certs"):  # this machine trusts Caddy's authority never
        if Path(folder).is_dir():
            _do("mount", "-t", "tmpfs", "tmpfs", folder)


def make_bucket(here: Installation) -> None:
    """What SeaweedFS does at its start, where moto is in its place."""
    env = here.environment(here.services["s3"])
    make = "import boto3, sys; boto3.client('s3', endpoint_url=sys.argv[1]).create_bucket(Bucket=sys.argv[2])"
    words = [sys.executable, "-c", make, f"http://127.0.0.1:{here.s3_port()}", env["S3_BUCKET"]]
    _do("ip", "netns", "exec", "s3", *words, env={**os.environ, **env, "AWS_DEFAULT_REGION": "us-east-1"})


def main(images: Path) -> None:
    """See above."""
    if not (images / "speech.env").is_file():
        print(f"LEFT OUT: the compose file, because no images are in {images}")
        return
    alone()
    with installed(images) as here:
        try:
            for name in ("db", "redis", "s3", "proxy"):
                here.command(name)
        except Left as error:
            print(f"LEFT OUT: the compose file, because {error}")
            return
        here.notes.clear()
        here.start("s3")
        if not shutil.which("weed"):
            make_bucket(here)
        for name in here.services:
            if name == "models":
                print("models: LEFT OUT, because there is no network here; tests of the command fetch models")
            else:
                here.start(name)
        print("\n".join(here.notes))
        take(here)
        for name in [*here.services][::-1]:
            if name in here.running:
                here.stop(name)
    print("everything stopped in its time; the compose file holds")


def take(here: Installation) -> None:
    """Create an organization as the file says, and take an interview through the proxy; web-1 ends in the middle."""
    options = "--team Hiring --admin-email you@example.com --admin-password - --json"
    command = here.command("web-1", ["org", "create", "Example Ltd", *options.split()])
    client = ["ip", "netns", "exec", "client"]
    password = secrets.token_hex(12).encode()
    made = subprocess.run([*client, *command], input=password, capture_output=True, check=False)  # noqa: S603
    if made.returncode:
        raise SystemExit(made.stderr.decode())
    authority = here.volume("certificates") / "caddy/pki/authorities/local/root.crt"
    env = {**os.environ, "REQUESTS_CA_BUNDLE": str(authority), "MADE": made.stdout.decode(), "URL": f"https://{HOST}"}
    words = [*client, sys.executable, str(INTERVIEW)]
    with subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as talk:  # noqa: S603
        began = talk.stdout.readline() if talk.stdout else ""
        print(began, end="", flush=True)
        if began:
            here.stop("web-1")
            print("web-1 stopped; web-2 goes on", flush=True)
        said, _ = talk.communicate("go on\n")
        print(said, end="", flush=True)
    if talk.returncode:
        for name in ("web-1", "web-2", "worker-1", "proxy"):
            print(f"--- {name}\n{(here.place / f'{name}.log').read_text()[-2000:]}")
        raise SystemExit("the interview failed")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
