"""Writes the bill of materials of a release: what requirements.lock names, as CycloneDX 1.6 in JSON.

The same lock and the same time give the same bytes. Run it with the Python of ``.ci/venv audit``, which has CycloneDX.
"""

import argparse
import re
import tomllib
import uuid
from datetime import UTC, datetime
from pathlib import Path

from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_ENTRY = re.compile(r"^(?P<pin>[A-Za-z0-9].*?)(?P<hashes>(?: \\\n {4}--hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)


def components(lock: str) -> list[Component]:
    """A component per entry of a lock. Raises SystemExit where an entry has no hash: it would be left out unseen."""
    found = [_component(Requirement(entry["pin"]), entry["hashes"]) for entry in _ENTRY.finditer(lock)]
    pins = len(re.findall(r"^[A-Za-z0-9]", lock, re.MULTILINE))
    if len(found) != pins:
        raise SystemExit(f"requirements.lock has {pins} entries, {len(found)} of them with hashes; run .ci/lock again")
    return found


def _component(pin: Requirement, hashes: str) -> Component:
    name, version = canonicalize_name(pin.name), str(pin.specifier).removeprefix("==")
    url = PackageURL("pypi", None, name, version)
    files = [HashType(alg=HashAlgorithm.SHA_256, content=one) for one in re.findall(r"[0-9a-f]{64}", hashes)]
    where = ExternalReference(
        type=ExternalReferenceType.DISTRIBUTION,
        url=XsUri(url.to_string()),
        comment="sha256 of each file of this version",
        hashes=files,
    )
    marker = [Property(name="parley:marker", value=str(pin.marker))] if pin.marker else []
    return Component(
        name=name,
        version=version,
        bom_ref=url.to_string(),
        purl=url,
        external_references=[where],
        properties=marker,
    )


def bill(project: dict[str, object], lock: str, when: datetime) -> Bom:
    """The product with what it directly depends on, and everything the lock names."""
    name, version = str(project["name"]), str(project["version"])
    root = Component(
        type=ComponentType.APPLICATION,
        name=name,
        version=version,
        bom_ref=f"pkg:pypi/{name}@{version}",
        purl=PackageURL("pypi", None, name, version),
        licenses=[LicenseExpression(str(project["license"]))],
    )
    parts = components(lock)
    made = Bom(components=parts, serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"{name} {version} {lock}"))
    made.metadata.component, made.metadata.timestamp = root, when
    wanted = {canonicalize_name(Requirement(line).name) for line in project["dependencies"]}  # type: ignore[attr-defined]
    made.register_dependency(root, [part for part in parts if part.name in wanted])
    return made


def main() -> None:
    """Write to the file that is named."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("source", type=Path, help="directory with pyproject.toml and requirements.lock")
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--epoch", type=int, required=True, help="time of the release, in seconds since 1970")
    named = arguments.parse_args()
    project = tomllib.loads((named.source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock = (named.source / "requirements.lock").read_text(encoding="utf-8")
    made = bill(project, lock, datetime.fromtimestamp(named.epoch, UTC))
    named.file.write_text(JsonV1Dot6(made).output_as_string(indent=2) + "\n", encoding="utf-8")
    print(f"{named.file.name}: {len(made.components)} components")


if __name__ == "__main__":
    main()
