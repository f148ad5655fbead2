"""The CSV of many candidates: memory of the web process while it is sent, and how fast rows arrive.

    .venv/bin/python bench/export.py [--candidates 100000] [--rounds 3]

A signed-in administrator of a real web process downloads everyone, as the page's script does, and counts bytes. The
process has answered a page and a short export before, so that loading code does not count. Memory is the proportional
set size (PSS), read every 50 ms: its most during the export, less what it was before. The first round is what a fresh
process shows; later ones show whether memory is used again. SQLite always; PostgreSQL as well if BENCH_POSTGRES_URL
names a server. Goal: at most 30 MB more for 100,000 candidates. Last figures: docs/figures/pages.md.
"""

import argparse
import re
import threading
import time
from typing import Self

import _ground as ground
import requests
from candidates_pages import seed

from app.accounts import access

GOAL = 30
TOKEN = re.compile(r'name="csrf_token"[^>]*value="([^"]+)"')


class Watch:
    """The most memory that a process takes while the block runs."""

    def __init__(self, pid: int) -> None:
        self.pid, self.before, self.most = pid, 0.0, 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        while not self._over.wait(0.05):
            self.most = max(self.most, ground.memory_of(self.pid))

    def __enter__(self) -> Self:
        self.before = self.most = ground.memory_of(self.pid)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def exported(session: requests.Session, url: str, query: str = "") -> tuple[int, int, float]:
    """Rows and bytes of the CSV, and seconds until its first byte."""
    page = session.get(f"{url}/candidates{query}").text
    found = TOKEN.search(page)
    assert found, "the page has no form"
    began = time.perf_counter()
    with session.post(f"{url}/candidates/export{query}", data={"csrf_token": found[1]}, stream=True) as answer:
        assert answer.status_code == 200, answer.status_code
        assert answer.headers["Content-Type"].startswith("text/csv"), answer.headers["Content-Type"]
        rows, size, first = -1, 0, 0.0
        for piece in answer.iter_content(65_536):
            first = first or time.perf_counter() - began
            rows, size = rows + piece.count(b"\n"), size + len(piece)
    return rows, size, first


def measure(kind: str, count: int, *, rounds: int) -> float:
    """One database: seed it and export ``rounds`` times. Returns the most memory that a round added."""
    with ground.database(kind) as url, ground.folder() as directory:
        env = ground.env_for(url, directory)
        with ground.application(env) as app:
            token, _middle = seed(count)
            cookie = access.cookie_name(app.extensions["parley.settings"])
        port = ground.free_port()
        with ground.serving(ground.parley("web"), port, env={**env, "PORT": str(port)}) as pid:
            session, at = requests.Session(), f"http://127.0.0.1:{port}"
            session.cookies.set(cookie, token)
            exported(session, at, "?text=Name1000")
            added = []
            for number in range(1, rounds + 1):
                began, cpu = time.perf_counter(), ground.cpu_of(pid)
                with Watch(pid) as watch:
                    rows, size, first = exported(session, at)
                assert rows == count, f"{rows} rows of {count}"
                took = time.perf_counter() - began
                added.append(watch.most - watch.before)
                print(
                    f"  {kind}, round {number}: {rows:,} rows, {size / 1e6:.1f} MB in {took:.1f} s (first byte after "
                    f"{first:.2f} s, {ground.cpu_of(pid) - cpu:.1f} s of CPU): {watch.before:.0f} MB before, "
                    f"{added[-1]:.1f} MB more at its most"
                )
    return max(added)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(ground.machine())
    for kind in ground.KINDS:
        most = measure(kind, options.candidates, rounds=options.rounds)
        print(f"{kind}: {most:.1f} MB more at most, goal {GOAL}: {'kept' if most <= GOAL else 'MISSED'}")


if __name__ == "__main__":
    main()
