"""``manifest.toml``: every model that can be fetched, with size, hash, licence, languages and sources of its files."""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

KINDS = {"ears": "ears", "voice": "a voice"}
"""What people call a kind of model."""


@dataclass(frozen=True, slots=True)
class Package:
    """A wheel of a package index: data only, fixed by version and hash."""

    name: str
    version: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model. ``parts`` are members of wheels that, joined in order, are the file."""

    name: str
    bytes: int
    sha256: str
    parts: tuple[tuple[Package, str], ...]
    is_published: bool
    """Whether the publisher's address has it."""


@dataclass(frozen=True, slots=True)
class Model:
    """One model: a directory of files below MODELS_DIR, named like it."""

    name: str
    title: str
    kind: str
    engine: str
    licence: str
    commercial: str
    """Whether its licence allows commercial use: ``yes``, ``no`` or ``unsettled``."""
    card: str
    address: str
    memory_mb: int
    default: frozenset[str]
    """Languages for which it belongs to the default installation."""
    needs: tuple[str, ...]
    """Models without which it is of no use."""
    languages: Mapping[str, str]
    """Language to what is known of the model's quality in it."""
    files: tuple[ModelFile, ...]

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(file.bytes for file in self.files)

    @property
    def mark(self) -> str:
        """Changes with any file: the marker of a complete directory contains it."""
        return hashlib.sha256("".join(sorted(f"{f.name} {f.sha256}\n" for f in self.files)).encode()).hexdigest()


def read(text: str) -> Mapping[str, Model]:
    """Models by name, in the order of ``text``. Raises KeyError or TypeError where the TOML lacks a field."""
    content = tomllib.loads(text)
    packages = {key: Package(**fields) for key, fields in content.get("packages", {}).items()}
    return MappingProxyType({name: _model(name, fields, packages) for name, fields in content["models"].items()})


def _model(name: str, fields: dict[str, Any], packages: Mapping[str, Package]) -> Model:
    return Model(
        name=name,
        title=fields["title"],
        kind=fields["kind"],
        engine=fields["engine"],
        licence=fields["licence"],
        commercial=fields["commercial"],
        card=fields["card"],
        address=fields.get("address", ""),
        memory_mb=fields["memory_mb"],
        default=frozenset(fields.get("default", ())),
        needs=tuple(fields.get("needs", ())),
        languages=MappingProxyType(fields["languages"]),
        files=tuple(_file(file, packages) for file in fields["files"]),
    )


def _file(fields: dict[str, Any], packages: Mapping[str, Package]) -> ModelFile:
    return ModelFile(
        name=fields["name"],
        bytes=fields["bytes"],
        sha256=fields["sha256"],
        parts=tuple((packages[key], member) for key, member in fields.get("packages", ())),
        is_published=not fields.get("only_packaged", False),
    )


MODELS = read((Path(__file__).parent / "manifest.toml").read_text(encoding="utf-8"))
