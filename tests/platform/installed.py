"""Parley as people install it: a wheel, in an empty environment away from the repository.

The environment has what the wheel depends on from the one that runs the tests, because tests have no network.
``make ranges`` installs the dependencies too.
"""

import subprocess
import sys
import sysconfig
from pathlib import Path

PYTHON = Path(sys.executable)


def build(source: Path, kind: str, folder: Path) -> Path:
    """Build ``wheel`` or ``sdist`` from ``source`` into ``folder``, without a network."""
    command = [str(PYTHON), "-m", "hatchling", "build", "--target", kind, "--directory", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = folder.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


def install(wheel: Path, folder: Path) -> Path:
    """Install ``wheel`` into a new environment in ``folder``; the directory of its commands."""
    subprocess.run([str(PYTHON), "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    pip = [str(PYTHON), "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*pip, str(wheel)], check=True)
    # A path in a .pth file is searched last, and .pth files there are not read: the editable install stays unseen.
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.parent
