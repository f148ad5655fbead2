"""A family of processes shares the memory of the one that forked it."""

import gc
import json
import os
import time

from app.operations.processes.family import Family


def test_children_never_collect_what_they_share_with_their_parent(tmp_path):
    told = tmp_path / "told"

    def work() -> None:
        (tmp_path / "part").write_text(json.dumps({"frozen": gc.get_freeze_count(), "pid": os.getpid()}))
        (tmp_path / "part").rename(told)
        time.sleep(60)

    shared = [[] for _ in range(10_000)]
    before = gc.get_freeze_count()
    family = Family({"one": work}, patience=1)
    family.run(every_second=lambda: family.stop() if told.exists() else None)
    found = json.loads(told.read_text())
    assert found["pid"] != os.getpid()
    assert found["frozen"] >= before + len(shared)
