"""Names that do not resolve, lie, or change; in a network namespace with a DNS server of its own."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

from tests.faults.case import Lab, NotRun, Verdict, case, eventually
from tests.faults.processes import ROOT, Process


@case("F36", "DNS: NXDOMAIN, SERVFAIL, silence, rebinding, 300 mixed answers", invariants="I13", smoke=True, root=True)
def lying_names(lab: Lab) -> Verdict:
    verdict = Verdict()
    name = f"parley-faults-{os.getpid()}"
    resolv = Path("/etc/netns") / name
    _network(lab, name, resolv)
    met = lab.directory / "met.json"
    command = ["ip", "netns", "exec", f"{name}-out", sys.executable, "-m", "tests.faults.dns_lab"]
    Process(lab, [*command, str(lab.directory), "outside"], name="outside")
    if not eventually(met.exists, seconds=20):
        raise RuntimeError("the world's end of the wire did not come up")
    done = subprocess.run(
        ["ip", "netns", "exec", name, sys.executable, "-m", "tests.faults.dns_lab", str(lab.directory)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-600:])
    told = json.loads(done.stdout.strip().splitlines()[-1])
    slowest = max(one["seconds"] for one in told["attempts"].values())
    verdict.fired = f"{told['queries']} queries answered by the server of the case" if told["queries"] >= 6 else ""
    kinds = {name: one["error"] or one["status"] for name, one in told["attempts"].items()}
    refused = sum(kind == "forbidden_address" for kind in kinds.values())
    verdict.figure = f"{refused} names refused, {told['rebound']} rebound; slowest {slowest:.1f} s"
    verdict.figure += f"; {told['forbidden']} connections to denied addresses"
    for bad in ("nxdomain", "servfail", "silent"):
        verdict.holds(kinds[bad] in {"dns", "timeout"}, f"{bad} was classed {kinds[bad]}")
    for bad in ("private", "mixed", "many"):
        verdict.holds(kinds[bad] == "forbidden_address", f"{bad} was classed {kinds[bad]}")
    verdict.holds(told["rebound"] == 0, f"I13 {told['rebound']} connections after rebinding")
    verdict.holds(kinds["rebind0"] == 200, f"before it was rebound, the name worked: {kinds['rebind0']}")
    verdict.holds(kinds["good"] == 200, f"the way through works: {kinds['good']}")
    verdict.holds(told["forbidden"] == 0, "I13 a denied address was contacted")
    verdict.holds(slowest <= 5.6, f"an attempt took {slowest:.1f} s")
    return verdict


def _network(lab: Lab, name: str, resolv: Path) -> None:
    if os.getuid() != 0:
        raise NotRun("network namespaces need root")
    outside = f"{name}-out"
    for space in (name, outside):
        try:
            made = subprocess.run(["ip", "netns", "add", space], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise NotRun("ip is not installed") from None
        if made.returncode:
            raise NotRun(f"no network namespaces here: {made.stderr.strip()[:80]}")
        lab.resources.callback(subprocess.run, ["ip", "netns", "del", space], check=False)
    resolv.mkdir(parents=True)

    def forget() -> None:
        (resolv / "resolv.conf").unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            resolv.rmdir()
            resolv.parent.rmdir()

    lab.resources.callback(forget)
    (resolv / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:30 attempts:1\n")
    # A wire between two namespaces: here the product, there a public address and one that must never be called.
    pair = ["link", "add", "here", "netns", name, "type", "veth", "peer", "name", "there", "netns", outside]
    done = subprocess.run(["ip", *pair], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotRun(f"no virtual wires here: {done.stderr.strip()[:80]}")
    for space, words in (
        (name, "link set lo up"),
        (name, "addr add 93.184.216.1/24 dev here"),
        (name, "link set here up"),
        (outside, "link set lo up"),
        (outside, "addr add 93.184.216.34/24 dev there"),
        (outside, "addr add 10.9.8.7/32 dev there"),
        (outside, "link set there up"),
        (name, "route add default via 93.184.216.34"),
    ):
        subprocess.run(["ip", "netns", "exec", space, "ip", *words.split()], check=True, capture_output=True)
