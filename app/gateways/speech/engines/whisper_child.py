"""The process that recognises with Whisper: started by path with a socket's number, it loads nothing of Parley.

Its parts are in `whisper_process/`, loaded as a package of its own; `serving` there describes the messages.
"""

import contextlib
import importlib
import importlib.util
import os
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.gateways.speech.engines import child_process
else:
    child_process = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("child_process.py"))))

# Threads that wait for each other by spinning double the work. Read when the libraries are loaded.
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
os.environ["OPENBLAS_NUM_THREADS"] = "1"


def _parts(name: str) -> Any:
    folder = Path(__file__).with_name(name)
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is missing; install Parley again")
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)
    return importlib.import_module(f"{name}.serving")


def main() -> None:
    """Serve until the parent closes the socket; what it does not wait for any more is no one's."""
    connection = child_process.connected()
    inbox = child_process.requests_of(connection)
    serving = _parts("whisper_process")
    with contextlib.suppress(ConnectionError):
        serving.serve(inbox, serving.Desk(connection.send, trim=child_process.trim_memory))


if __name__ == "__main__":
    main()
