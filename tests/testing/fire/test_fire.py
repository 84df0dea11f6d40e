"""The fuzzer of the front end: what it finds when there is something to find, and a short run."""

from __future__ import annotations

import argparse
import random
import time
from dataclasses import replace

import pytest

from anymetal.errors import MetalCompileError
from anymetal.testing.fire import calls, check, corpus, forbidden, hostile, mutate
from anymetal.testing.fire.__main__ import report, run
from anymetal.testing.fire.generate import CLASSES, generate
from anymetal.testing.fire.results import Failure
from anymetal.testing.fire.shrink import minimal
from anymetal.testing.fire.trial import Refusal, Trial
from anymetal.testing.fire.worker import Worker

PLAIN = Trial("k", "out[0] = 1;\n", seed=1)


def planted(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """The front end raises this, whatever it is given."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(check, "thread_program", fail)


def test_the_same_seed_is_the_same_trial() -> None:
    for seed in range(20):
        assert generate(seed) == generate(seed)
    assert {generate(seed).kind for seed in range(400)} == set(CLASSES) - {"bombs"}


def test_tokens_joined_are_the_text() -> None:
    for text in corpus.texts()[:50]:
        assert "".join(mutate.pieces(text)) == text
        assert mutate.mutated(text, random.Random(1), 0) == text or len(text) > 10_000


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (MetalCompileError("k", "k: source:1:1: error: no\n"), "refused"),
        (MetalCompileError("k", "k: signature:1:1: error: no\n"), "refused"),
        (MetalCompileError("k", "k: source:7:1: error: no\n"), "place"),
        (MetalCompileError("k", "k: source:1:99: error: no\n"), "place"),
        (MetalCompileError("k", "error: no\n"), "place"),
        (MetalCompileError("k", "k: source:1:1: error: use of '__am_x'\n"), "leak"),
        (MetalCompileError("k", "k: source:1:1: error: in anymetal/math.h\n"), "leak"),
        (KeyError("x"), "error"),
        (RecursionError("x"), "error"),
        (AssertionError(), "error"),
    ],
)
def test_verdicts(error: Exception, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planted(monkeypatch, error)
    verdict = check.check(PLAIN)
    assert (verdict.status, verdict.failed) == (status, status != "refused"), verdict


def test_verdicts_on_what_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = replace(PLAIN, refusal=Refusal("not in Metal", "source", (1,)))
    assert check.check(refused).status == "accepted"
    for line, text, status in (
        (1, "not in Metal", "refused"),
        (2, "not in Metal", "place"),
        (1, "what else", "other reason"),
    ):
        planted(monkeypatch, MetalCompileError("k", f"k: source:{line}:1: error: {text}\n"))
        assert check.check(refused).status == status
        assert check.check(replace(PLAIN, accepted=True)).status == "not accepted"


def _rows() -> list[tuple[str, str, str]]:
    rows = [("body", *row) for row in forbidden.STATEMENTS + forbidden.KERNEL_STATEMENTS]
    rows += [("helper", *row) for row in forbidden.HELPER_STATEMENTS]
    return rows + [("header", *row) for row in forbidden.DECLARATIONS]


@pytest.mark.parametrize(("place", "text", "pattern"), _rows())
def test_each_row_of_what_is_forbidden(place: str, text: str, pattern: str) -> None:
    if place == "helper":
        text = f"inline void f{{n}}() {{ {text} }}"
    put = forbidden._in_body if place == "body" else forbidden._in_header
    trial = put(PLAIN, random.Random(3), text, pattern, "5")
    verdict = check.check(trial)
    assert verdict.status == "refused", f"{trial.header}{trial.body}{verdict.detail}"


def test_what_is_allowed() -> None:
    body = "\n".join(forbidden.ALLOWED_STATEMENTS)
    for n, text in enumerate(forbidden.ALLOWED_STATEMENTS):
        body = body.replace(text, text.replace("{n}", str(n)))
    header = "\n".join(
        t.replace("{n}", str(n)) for n, t in enumerate(forbidden.ALLOWED_DECLARATIONS)
    )
    verdict = check.check(Trial("k", body, header, accepted=True))
    assert verdict.status == "compiled", verdict.detail


@pytest.mark.parametrize("number", range(len(hostile._LARGE)))
def test_each_kind_of_size(number: int) -> None:
    text = hostile._LARGE[number](700)
    verdict = check.check(Trial("k", f"{text}\n"))
    assert not verdict.failed, verdict.detail


def test_odd_arguments() -> None:
    for seed in range(60):
        verdict = check.check(Trial("k", "", form="call", seed=seed))
        assert not verdict.failed, verdict.detail


def test_arguments_that_cannot_be_compared_or_converted() -> None:
    making = {"name": "k", "input_names": ["x"], "output_names": ["y"], "source": "y[0] = 1;"}
    with pytest.raises(ValueError, match="`vmap` must be None"):
        calls.anymetal.metal_kernel(**making, vmap=calls.mx.float32)  # type: ignore[arg-type]
    kernel = calls.anymetal.metal_kernel(**making)  # type: ignore[arg-type]
    shape = {"output_shapes": [(1,)], "output_dtypes": [calls.mx.float32]}
    with pytest.raises(ValueError, match="Invalid type type received"):
        kernel(inputs=[int], grid=(1, 1, 1), threadgroup=(1, 1, 1), **shape)  # type: ignore[arg-type]


def test_a_dead_process_is_a_failure_and_is_reported(capfd: pytest.CaptureFixture[str]) -> None:
    worker = Worker()
    try:
        worker._child.submit([PLAIN])
        worker.left = [1]
        worker._child._process.kill()  # type: ignore[union-attr]
        while worker.left:
            verdicts = [verdict for _, _, verdict in worker.news() if verdict]
    finally:
        worker.close()
    assert [verdict.status for verdict in verdicts] == ["crash"]
    text = report(Failure(3, "tokens", "tokens", "crash", "it died", "x"), shrink=False)
    assert "python -m anymetal.testing.fire --seed 3 --count 1 --class tokens" in text


def test_failures_are_made_small() -> None:
    trial = corpus.kernels()[0].with_texts(
        "int a;\nint b;\n", "x = 1;\ny = (2 + goto) * z;\nu = 3;\n"
    )
    small = minimal(trial, lambda it: "goto" in it.body, time.monotonic() + 60)
    assert (small.header, small.body) == ("", "goto")


def _run(seed: int, count: int, jobs: int) -> None:
    options = argparse.Namespace(
        seed=seed, count=count, jobs=jobs, only="", seconds=None, max_failures=5
    )
    results = run(options)
    assert results.trials == count
    assert not results.failures, "\n".join(report(f, False) for f in results.distinct())


def test_a_short_run() -> None:
    _run(seed=0, count=60, jobs=1)


@pytest.mark.slow
def test_a_long_run() -> None:
    _run(seed=100_000, count=4000, jobs=2)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(hostile.BOMBS)))
def test_what_takes_for_ever_is_given_up(number: int) -> None:
    header, body = hostile.BOMBS[number]
    verdict = check.check(Trial("bomb", body, header, limit=4.0))
    assert not verdict.failed, verdict.detail
