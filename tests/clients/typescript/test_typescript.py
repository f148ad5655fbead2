"""The client for TypeScript: its tests in Node, its package, its command line, its README."""

import json
import re
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from app.webhooks.signature import sign, standard

from .conftest import CLIENT, HERE, TOOLS, run

pytestmark = [
    pytest.mark.skipif(
        not (TOOLS / "express").is_dir(),
        reason="npm ci --prefix tests/clients --ignore-scripts (needs Node 20 and npm)",
    ),
    pytest.mark.xdist_group("typescript"),
]
SUITES = sorted(path.name.removesuffix(".test.ts") for path in HERE.glob("*.test.ts"))
SECRET = "at-least-32-characters-of-randomness"


@pytest.mark.parametrize("suite", SUITES)
def test_in_node(suite: str, workshop: Path, environment: dict[str, str]) -> None:
    """Compiled strictly, together with ``types.ts`` and the examples, against the installed package."""
    told = run("node", "--test", "--test-reporter=tap", f"built/{suite}.test.js", at=workshop, **environment)
    counts = dict(re.findall(r"^# (pass|fail|skipped) (\d+)$", told, re.MULTILINE))
    assert int(counts["pass"]) >= 3, told
    assert counts["fail"] == "0", told


def test_the_package_is_small_and_needs_nothing(package: Path, workshop: Path) -> None:
    installed = workshop / "node_modules" / "@parley" / "client"
    described = json.loads((installed / "package.json").read_text())
    assert not {"dependencies", "peerDependencies", "optionalDependencies"} & set(described)
    files = [path for path in installed.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files if path.suffix == ".js") < 180_000
    assert {path.name for path in installed.iterdir()} == {
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "dist",
        "package.json",
    }
    assert package.stat().st_size < 60_000
    version = run("node", "-p", "require('@parley/client').VERSION", at=workshop).strip()
    assert (version, f"## {version}\n" in (CLIENT / "CHANGELOG.md").read_text()) == (described["version"], True)


@pytest.mark.parametrize("kind", ["import", "require"])
def test_both_kinds_of_modules_have_the_same_names(kind: str, workshop: Path) -> None:
    load = {"import": "await import({})", "require": "require({})"}[kind].format
    suffix = {"import": "mjs", "require": "cjs"}[kind]
    program = f"""
        const main = {load("'@parley/client'")}, testing = {load("'@parley/client/testing'")};
        const fake = new testing.FakeParley();
        const names = [main, testing].flatMap(Object.keys).filter((one) => one !== "__esModule");
        Promise.all([fake.client().ping(), testing.sign(testing.eventBody(), "secret")]).then(([pong, headers]) =>
          console.log(JSON.stringify([pong, names, headers["webhook-id"]])));
    """
    (workshop / f"load.{suffix}").write_text(program)
    pong, names, webhook_id = json.loads(run("node", f"load.{suffix}", at=workshop))
    assert pong == "pong"
    assert {"Parley", "webhooks", "APIStatusError", "WebhookError", "FakeParley", "eventBody"} <= set(names)
    assert webhook_id.startswith("evt_")


@pytest.mark.parametrize("how", ["node16", "bundler", "commonjs", "node10"])
def test_types_are_found_by_every_resolution(how: str, workshop: Path) -> None:
    """Without Node's types, strict, and with the declarations of the package checked as well."""
    modules = {
        "node16": ("mts", {"module": "node16"}),
        "commonjs": ("cts", {"module": "node16"}),
        "bundler": ("ts", {"module": "esnext", "moduleResolution": "bundler"}),
        "node10": ("ts", {"module": "commonjs", "moduleResolution": "node10"}),
    }
    suffix, options = modules[how]
    name = f"resolve-{how}.{suffix}"
    (workshop / name).write_text(
        'import { type Interview, Parley } from "@parley/client";\n'
        'import { FakeParley } from "@parley/client/testing";\n'
        "const client: Parley = new FakeParley().client();\n"
        "export const read = (id: string): Promise<Interview> => client.interviews.retrieve(id);\n"
    )
    strict = {
        "noEmit": True,
        "strict": True,
        "exactOptionalPropertyTypes": True,
        "types": [],
        "target": "es2022",
        "lib": ["es2022", "dom"],
    }
    project = workshop / f"tsconfig-{how}.json"
    project.write_text(json.dumps({"compilerOptions": {**strict, **options}, "files": [name]}))
    run("tsc", "-p", project, at=workshop)


def organization(environment: dict[str, str]) -> dict[str, str]:
    """The environment of a client with a key of a new organization."""
    request = urllib.request.Request(environment["PARLEY_CONTROL"] + "/organization", method="POST")
    with urllib.request.urlopen(request) as response:
        key = json.loads(response.read())["key"]
    return {"PARLEY_BASE_URL": environment["PARLEY_URL"], "PARLEY_API_KEY": key}


@pytest.mark.parametrize(
    ("program", "said"), [("guide-0", "http"), ("readme-0", "http"), ("readme-5", "completed\nevt_")]
)
def test_the_programs_of_readme_and_guide_run(
    workshop: Path, environment: dict[str, str], program: str, said: str
) -> None:
    """The others end with a server or never."""
    assert run("node", f"built/guides/{program}.js", at=workshop, **organization(environment)).startswith(said)


def test_the_program_in_commonjs_runs(workshop: Path, environment: dict[str, str]) -> None:
    (program,) = re.findall(r"^```js\n(.*?)^```", (CLIENT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    (workshop / "readme.cjs").write_text(program)
    assert run("node", "readme.cjs", at=workshop, **organization(environment)) == "pong\n"


def test_the_readme_lists_every_method(workshop: Path) -> None:
    """A row with ``flows.retrieve`` and ``close`` stands for two methods of flows."""
    program = """
        const { Parley } = require("@parley/client");
        const client = new Parley({ apiKey: "k", baseUrl: "http://x" });
        const names = (one) => Object.getOwnPropertyNames(Object.getPrototypeOf(one));
        const of = (one) => names(one).filter((name) => !["constructor", "withOptions"].includes(name));
        const methods = Object.entries(client).flatMap(([name, one]) => of(one).map((method) => `${name}.${method}`));
        console.log(JSON.stringify([...methods, ...of(client)]));
    """
    (workshop / "methods.cjs").write_text(program)
    listed = []
    for row in re.findall(r"^\| (`.*?) \|", (CLIENT / "README.md").read_text(), re.MULTILINE):
        first, *others = re.findall(r"`([\w.]+)`", row)
        resource = first.partition(".")[0]
        listed += [first, *(other if "." in other else f"{resource}.{other}" for other in others)]
    assert sorted(listed) == sorted(json.loads(run("node", "methods.cjs", at=workshop)))


def cli(workshop: Path, *words: str, given: bytes = b"", **environment: str) -> tuple[int, str, str]:
    program = workshop / "node_modules" / ".bin" / "parley-client"
    path = f"{TOOLS / '.bin'}:/usr/local/bin:/usr/bin:/bin"
    done = subprocess.run(
        [program, *words], input=given, capture_output=True, env={"PATH": path, **environment}, timeout=60, check=False
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_the_command_line(workshop: Path, environment: dict[str, str]) -> None:
    access = organization(environment)
    assert cli(workshop, "ping", **access) == (0, "pong\n", "")
    create = f"""
        import {{ Parley }} from "@parley/client";
        const client = new Parley();
        const webhook = {{webhook_url: "https://receiver.example/", webhook_secret_key: "{SECRET}"}};
        const flow = await client.flows.create({{org_name: "F", title: "Ü", questions: ["Why?"], ...webhook}});
        const one = await client.interviews.create(flow.interview_flow_id);
        console.log(JSON.stringify([flow.interview_flow_id, one.interview_id]));
    """
    flow_id, interview_id = json.loads(run("node", "--input-type=module", "-e", create, at=workshop, **access))
    code, told, _ = cli(workshop, "flows", **access)
    assert (code, json.loads(told)["title"], json.loads(told)["webhook_secret_key"]) == (0, "Ü", "…")
    assert cli(workshop, "flows", flow_id, **access)[1] == told
    code, told, _ = cli(workshop, "interviews", "--status=incomplete", "--max", "1", **access)
    assert (code, json.loads(told)["interview_id"]) == (0, interview_id)
    assert cli(workshop, "interviews", interview_id, "--transcript", "text", **access)[:2] == (0, told)
    code, told, why = cli(workshop, "interviews", "unknown", **access)
    assert (code, told) == (1, "")
    assert why.startswith("422 not_found: ")
    assert cli(workshop, "ping") == (
        1,
        "",
        "Give apiKey, or set the environment variable PARLEY_API_KEY: printable ASCII, not empty.\n",
    )


def test_a_reader_that_has_had_enough(workshop: Path, environment: dict[str, str]) -> None:
    access = organization(environment)
    create = """
        import { Parley } from "@parley/client";
        for (const title of "AB") await new Parley().flows.create({org_name: "F", title, questions: ["Why?"]});
    """
    run("node", "--input-type=module", "-e", create, at=workshop, **access)
    for words in (["flows"], ["--help"]):
        process = subprocess.Popen(
            [workshop / "node_modules" / ".bin" / "parley-client", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": f"{TOOLS / '.bin'}:/usr/local/bin:/usr/bin:/bin", **access},
        )
        assert process.stdout
        process.stdout.close()
        _, said = process.communicate(timeout=60)
        assert (process.returncode, said) == (0, b"")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Which command?"),
        (["dance"], "There is no command dance."),
        (["flows", "--fast"], "There is no option --fast."),
        (["flows", "--max"], "--max needs a value."),
        (["flows", "--max", "many"], "--max is a number."),
        (["interviews", "--status", "open"], "--status is one of incomplete, completed."),
        (["verify-webhook", "-H", "webhook-id"], "A header is given as 'name: value'."),
        (["flows", "a", "b"], "b is one word too many."),
    ],
)
def test_a_command_that_is_not_understood(workshop: Path, words: list[str], said: str) -> None:
    code, told, why = cli(workshop, *words)
    assert (code, told) == (2, "")
    assert why.startswith(said + "\n\nUsage: ")
    assert cli(workshop, *words, "--help")[:2] == (0, why.partition("\n\n")[2])


def test_a_webhook_is_verified_on_the_command_line(workshop: Path) -> None:
    body, at = '{"event_type": "video_processed", "status": "ü"}'.encode(), int(time.time())
    signature = standard(SECRET, body, event_id="evt_1", timestamp=at)
    headers = [
        "-H",
        "Webhook-Id: evt_1",
        "--header",
        f"webhook-timestamp: {at}",
        f"--header=webhook-signature: {signature}",
    ]
    known = {"PARLEY_WEBHOOK_SECRET": SECRET}
    code, told, _ = cli(workshop, "verify-webhook", *headers, given=body, **known)
    assert (code, json.loads(told)["data"]["status"], json.loads(told)["webhook_id"]) == (0, "ü", "evt_1")
    code, _, why = cli(workshop, "verify-webhook", *headers, given=body + b"\n", **known)
    assert (code, why.partition(":")[0]) == (1, "mismatch")
    code, _, why = cli(workshop, "verify-webhook", *headers, given=body)
    assert (code, "PARLEY_WEBHOOK_SECRET" in why) == (1, True)
    old = standard(SECRET, body, event_id="evt_1", timestamp=1)
    headers = ["-H", "webhook-id: evt_1", "-H", "webhook-timestamp: 1", "-H", f"webhook-signature: {old}"]
    assert cli(workshop, "verify-webhook", *headers, given=body, **known)[2].startswith("too_old: ")
    assert cli(workshop, "verify-webhook", *headers, "--any-time", given=body, **known)[0] == 0
    alone = ["--signature", "x-service-signature", "-H", f"x-service-signature: {sign(SECRET, body)}"]
    assert cli(workshop, "verify-webhook", *alone, given=body, **known)[0] == 0
