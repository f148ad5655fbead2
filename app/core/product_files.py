"""Finds the files of the product that are not modules: templates, static files and migrations.

In the repository they are at its top level, beside ``app/``. In an installed wheel they are inside ``app/``
(``[tool.hatch.build.targets.wheel]`` in pyproject.toml), because a wheel shares its directory with other packages.
"""

from functools import cache
from pathlib import Path


@cache
def root() -> Path:
    """The directory that contains ``templates``, ``static`` and ``migrations``."""
    package = Path(__file__).resolve().parents[1]
    return package if (package / "templates").is_dir() else package.parent
