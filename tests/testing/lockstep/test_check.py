"""What the fuzzer does with results that are wrong, with errors, and with processes that die."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from unittest import mock

import pytest

from anymetal.targets.cpu import compiler
from anymetal.testing.lockstep import fired
from anymetal.testing.lockstep.__main__ import DEFAULT_BUILDS, main, run
from anymetal.testing.lockstep.builds import builds_here
from anymetal.testing.lockstep.case import Case, Output
from anymetal.testing.lockstep.check import Verdict, check, expected_of
from anymetal.testing.lockstep.generators import CLASSES, generate
from anymetal.testing.lockstep.oracle import Oracle
from anymetal.testing.lockstep.results import Results
from anymetal.testing.lockstep.shrink import minimal
from anymetal.testing.lockstep.worker import Worker

BODY = """\
uint i = thread_position_in_grid.x;
uint a = i * 7u;
uint b = a + 3u;
if (b > 40u) {
  b ^= a * a;
}
y[i] = b * 5u;
"""


def case_of(body: str, seed: int = 0) -> Case:
    outputs = (Output("y", "uint", 64),)
    return Case(f"planted_{seed}", "planted", seed, body, (), outputs, (64, 1, 1), (32, 1, 1))


def verdict_of(case: Case, folder: Path) -> Verdict:
    expected = expected_of(case, Oracle([case], folder))
    return check(case, expected, list(builds_here().values()), folder)


def test_right_results_in_all_builds(tmp_path):
    verdict = verdict_of(case_of(BODY), tmp_path)
    assert verdict.status == "ok", verdict.detail
    assert set(verdict.seconds) == set(builds_here())
    assert "simd.questions:streaming" in verdict.fired


def test_a_planted_miscompile_is_found(tmp_path):
    right = compiler.vector_ir

    def wrong(*given):
        text = right(*given)
        assert " xor " in text
        return text.replace(" xor ", " or ")

    with mock.patch.object(compiler, "vector_ir", wrong):
        verdict = verdict_of(case_of(BODY), tmp_path)
    assert verdict.status == "differs"
    assert "y: " in verdict.detail and "[6] is" in verdict.detail


def test_an_error_of_the_compiler_is_a_failure(tmp_path):
    with mock.patch.object(compiler, "vector_ir", side_effect=RuntimeError("broken")):
        verdict = verdict_of(case_of(BODY), tmp_path)
    assert verdict.status == "error" and "RuntimeError: broken" in verdict.detail


def test_more_time_to_compile_than_allowed_is_a_failure(tmp_path):
    case = case_of(BODY)
    expected = expected_of(case, Oracle([case], tmp_path))
    verdict = check(case, expected, [builds_here()["native"]], tmp_path, slow=0.0)
    assert verdict.status == "slow" and "s to compile" in verdict.detail


def test_a_store_behind_the_outputs_is_a_failure(tmp_path):
    case = case_of(BODY)
    expected = expected_of(case, Oracle([case], tmp_path))
    stray = case.with_body(BODY.replace("y[i]", "y[i + 1u]"))
    verdict = check(stray, expected, [builds_here()["scalar"]], tmp_path)
    assert verdict.status == "error" and "KernelMemoryError" in verdict.detail


def test_a_dead_process_is_a_failure_and_the_rest_goes_on():
    """A body that ends the oracle's process stands for one that ends ours."""
    cases = [case_of(BODY, 1), case_of(f"__builtin_trap();\n{BODY}", 2), case_of(BODY, 3)]
    worker = Worker(("scalar",))
    try:
        worker.submit(cases)
        verdicts = {}
        while worker.left:
            for seed, _, verdict in worker.news():
                verdicts[seed] = verdict.status
            if worker.left and not worker.running:
                left = worker.left
                worker.submit([case for case in cases if case.seed in left])
    finally:
        worker.close()
    assert verdicts == {1: "ok", 2: "crash", 3: "ok"}


def test_failures_are_made_small():
    body = BODY + "if (i > 3u) {\n  b += 1u;\n  y[i] = ((i + 2u) * b) - 7u;\n}\n"

    def fails(case: Case) -> bool:
        return "b ^= " in case.body and case.body.count("{") == case.body.count("}")

    small = minimal(case_of(body), fails, time.monotonic() + 60)
    assert small.body.strip() == "b ^= a * a;"  # neither its block nor anything around it


_LOOPS = """\
uint s = 0u;
LOOP
for (uint k = 0u; k < 3u; k++) {
  ITER
  s += k;
  LOOP
  for (uint m = 0u; m < i; m++) {
    ITER
    s += simd_sum(m);
    s ^= 3u;
  }
  END_LOOP
}
END_LOOP
y[i] = s;
"""
_SUM = "s += simd_sum(m);"


@pytest.mark.parametrize(
    ("needed", "expected"),
    [
        ((_SUM,), [_SUM]),
        (
            (_SUM, "m < i"),
            ["LOOP", "for (uint m = 0u; m < i; m++) {", "ITER", _SUM, "}", "END_LOOP"],
        ),
    ],
)
def test_loops_keep_their_marks(needed, expected):
    """Or the oracle would not know where lanes meet, and the case fail for that."""

    def fails(case: Case) -> bool:
        return all(part in case.body for part in needed)

    small = minimal(case_of(_LOOPS), fails, time.monotonic() + 60)
    assert [line.strip() for line in small.body.splitlines()] == expected


def test_results_add_up(tmp_path, capsys):
    for number, status in enumerate(("ok", "differs")):
        results = Results()
        verdict = Verdict(
            status, "detail", "key", frozenset({"pass:drop-unused"}), {"sse": 1.0 + number}
        )
        results.add(number, "", "hashes", verdict)
        results.save(tmp_path / f"{number}.json")
    assert main(["--merge", str(tmp_path / "0.json"), str(tmp_path / "1.json")]) == 1
    printed = capsys.readouterr().out
    assert "2 kernels: 1 differs, 1 ok" in printed
    assert "      2  pass:drop-unused" in printed
    assert "slowest build: 2.0 s" in printed
    assert main(["--merge", str(tmp_path / "0.json")]) == 0


def test_every_name_that_may_fire_exists():
    assert not fired.missing(), "what has taken their place?"
    assert set(fired.names()) >= fired.EXEMPT


@pytest.mark.parametrize("kind", CLASSES)
def test_a_seed_gives_one_case(kind):
    once, again = generate(5, kind), generate(5, kind)
    assert once.body == again.body and once.grid == again.grid
    for first, second in zip(once.inputs, again.inputs, strict=True):
        assert first.data.tobytes() == second.data.tobytes()


def _agree(count: int, jobs: int) -> None:
    options = argparse.Namespace(
        seed=0, count=count, jobs=jobs, only="", seconds=None, max_failures=1, progress=False
    )
    here = builds_here()
    results = run(options, tuple(name for name in DEFAULT_BUILDS if name in here))
    assert not results.failures, results.failures[0]
    assert results.kernels == count


@pytest.mark.slow
def test_many_kernels_agree():
    _agree(2000, min(2, os.cpu_count() or 1))
