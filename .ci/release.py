"""Builds what a release consists of: wheel, source archive, container file, bill of materials, checksums.

Everything comes from the commit, never from the working tree, and has the commit's time (or SOURCE_DATE_EPOCH), so
that one commit gives the same bytes whenever and wherever it is built. That is checked each time: a second build runs
in another directory, time zone and umask, and the wheel is also built from the source archive.

A release needs a clean tree and a section of its version in CHANGELOG.md. ``--draft`` does without either.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

import jsonschema
from referencing import Registry, Resource

ROOT = Path(__file__).resolve().parents[1]
_SECTION = re.compile(r"^## (?P<title>.+)\n(?P<text>(?:(?!## ).*\n?)*)", re.MULTILINE)


def changelog_problem(text: str, version: str) -> str | None:
    """What is wrong with the changelog for a release of ``version``, as a sentence; None where it is ready."""
    sections = {found["title"]: found["text"].strip() for found in _SECTION.finditer(text)}
    if sections.get("Unreleased"):
        return (
            f"CHANGELOG.md still has entries under “Unreleased”. Move them to a section “## {version} (YYYY-MM-DD)”, "
            "or build a draft:  make release DRAFT=1"
        )
    dated = [title for title in sections if re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", title)]
    if not dated:
        return f"CHANGELOG.md has no section “## {version} (YYYY-MM-DD)”. Add what changed since the last release."
    if not re.search(r"^- ", sections[dated[0]], re.MULTILINE):
        return f"The section “## {dated[0]}” of CHANGELOG.md is empty. Add what changed since the last release."
    newest = next(title for title in sections if title != "Unreleased")
    if newest != dated[0]:
        return f"The newest section of CHANGELOG.md is “{newest}”, but pyproject.toml has version {version}."
    return None


def checksums(folder: Path) -> str:
    """A line for each file, as ``sha256sum --check`` reads it."""
    files = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


def _run(*command: str | Path, cwd: Path = ROOT, **variables: str) -> str:
    env = {**os.environ, **variables}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)  # noqa: S603 - our words
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _export(folder: Path, umask: int) -> Path:
    """The files of the commit in ``folder``, with modes that follow ``umask``."""
    folder.mkdir()
    packed = folder.with_suffix(".tar")
    _run("git", "-c", f"tar.umask={umask:04o}", "archive", f"--output={packed}", "HEAD")
    _unpack(packed, folder)
    return folder


def _build(source: Path, target: str, folder: Path, **variables: str) -> Path:
    _run(sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", folder, cwd=source, **variables)
    return next(folder.glob("*.whl" if target == "wheel" else "*.tar.gz"))


def _same(one: Path, other: Path) -> None:
    if one.read_bytes() != other.read_bytes():
        raise SystemExit(f"{one.name} differs when it is built again: {one} and {other} (kept for a look)")


def _unpacked(archive: Path, folder: Path) -> Path:
    _unpack(archive, folder)
    return next(folder.iterdir())


def _unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as opened:
        opened.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 has none
        opened.extractall(folder)  # noqa: S202 - made just now of our commit  # nosec B202


def build(room: Path, folder: Path, epoch: str) -> None:
    """Write the source archive and the wheel to ``folder``. Raises SystemExit where a second build differs."""
    first, second = _export(room / "first", 0o022), _export(room / "second place", 0o077)
    here = {"SOURCE_DATE_EPOCH": epoch, "TZ": "UTC"}
    elsewhere = {"SOURCE_DATE_EPOCH": epoch, "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "7"}
    archive, wheel = _build(first, "sdist", folder, **here), _build(first, "wheel", folder, **here)
    _same(archive, _build(second, "sdist", room / "again", **elsewhere))
    _same(wheel, _build(second, "wheel", room / "again", **elsewhere))
    _same(wheel, _build(_unpacked(archive, room / "unpacked"), "wheel", room / "from archive", **elsewhere))


def bill_of_materials(source: Path, file: Path, epoch: str) -> None:
    """Write what ``source`` needs as a CycloneDX document. Raises where that does not fit CycloneDX' own schema."""
    tools = ROOT / ".venv" / "audit"
    print(_run(tools / "bin" / "python", ROOT / ".ci" / "sbom.py", source, file, "--epoch", epoch), end="")
    (schemas,) = tools.glob("lib/python*/site-packages/cyclonedx/schema/_res")
    read = [json.loads(path.read_text(encoding="utf-8")) for path in schemas.glob("*.schema.json")]
    registry: Registry = Registry().with_resources((one["$id"], Resource.from_contents(one)) for one in read)
    (schema,) = (one for one in read if one["$id"].endswith("bom-1.6.schema.json"))
    jsonschema.Draft7Validator(schema, registry=registry).validate(json.loads(file.read_text(encoding="utf-8")))


def main() -> None:
    """Build into ``dist/``, which is replaced as a whole."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--draft", action="store_true")
    arguments.add_argument("--into", type=Path, default=ROOT / "dist")
    named = arguments.parse_args()
    version = tomllib.loads(_run("git", "show", "HEAD:pyproject.toml"))["project"]["version"]
    if not named.draft:
        if _run("git", "status", "--porcelain"):
            raise SystemExit("Some changes are not committed. Commit them, or build a draft:  make release DRAFT=1")
        if problem := changelog_problem((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version):
            raise SystemExit(problem)
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or _run("git", "log", "-1", "--format=%ct").strip()
    room = Path(tempfile.mkdtemp(prefix="parley-release-"))
    out = room / "dist"
    out.mkdir()
    build(room, out, epoch)
    shutil.copyfile(room / "first" / "docs" / "deploy" / "Containerfile", out / "Containerfile")
    bill_of_materials(room / "first", out / f"parley-{version}.cdx.json", epoch)
    (out / "SHA256SUMS").write_text(checksums(out), encoding="utf-8")
    shutil.rmtree(named.into, ignore_errors=True)
    shutil.move(out, named.into)
    shutil.rmtree(room)
    print((named.into / "SHA256SUMS").read_text(encoding="utf-8"), end="")
    print(f"{named.into}: parley {version}{' (draft)' if named.draft else ''}, the same bytes in two builds")


if __name__ == "__main__":
    main()
