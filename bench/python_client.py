"""What `import parley` costs, as a ratio to importing its one dependency.

    .venv/bin/python bench/python_client.py [--runs 15]

CPU seconds (user and system) of whole processes, the least of several runs. Bytecode is written first.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "clients" / "python" / "src"


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--runs", type=int, default=15)
    runs = given.parse_args().runs
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONPYCACHEPREFIX": bytecode}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        codes = {"python": "", "httpx2": "import httpx2; httpx2.Client", "parley": "import parley"}
        least = {name: min(cpu(code, environment) for _ in range(runs + 1)) for name, code in codes.items()}
    floor = least["httpx2"] - least["python"]
    ours = least["parley"] - least["python"]
    print(f"httpx2 {1000 * floor:.0f} ms, parley with it {1000 * ours:.0f} ms: ratio {ours / floor:.2f}")


def cpu(code: str, environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
