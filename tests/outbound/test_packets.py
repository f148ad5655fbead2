"""Not one packet for a hostile address: counted by the kernel, in a network where every address would answer."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _apart() -> list[str]:
    """How a program gets a network of its own here; skips where it cannot."""
    command = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    tools = all(shutil.which(tool) for tool in ("unshare", "ip"))
    if not tools or subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespaces here: Linux, util-linux and iproute2 make them")
    return command


def test_no_packet_leaves_for_a_hostile_address(tmp_path: Path) -> None:
    command = [*_apart(), sys.executable, "-m", "tests.outbound.packets", str(tmp_path)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout.splitlines()[-1])
    assert found["bare 10.0.0.1"] > 0, "the counter counts"
    assert found["bare fd00::1"] > 0, "in both families"
    assert found["allowed"] > 0, "and the client does call what is allowed"
    assert found["kinds"] == ["forbidden_address"]
    assert found["urls"] >= 250
    assert found["hostile"] == 0
