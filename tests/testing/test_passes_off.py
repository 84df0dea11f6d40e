"""Random subsets of passes, and the search for the one that a failure comes from."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pytest

from anymetal.pipeline import thread
from anymetal.targets.cpu import code_lookup
from anymetal.targets.cpu import pipeline as gang
from anymetal.testing.fuzz import __main__ as fuzz
from anymetal.testing.fuzz import check as fuzz_check
from anymetal.testing.fuzz.report import report
from anymetal.testing.fuzz.tree import Binary, Load
from anymetal.testing.fuzz.types import INT
from anymetal.testing.lockstep import __main__ as lockstep
from anymetal.testing.lockstep.builds import builds_here
from anymetal.testing.lockstep.case import Case, Output
from anymetal.testing.lockstep.check import check, expected_of
from anymetal.testing.lockstep.oracle import Oracle
from anymetal.testing.lockstep.results import Failure, Results
from anymetal.testing.passes_off import Off, culprit, drawn, optional, setting
from tests.fuzz.builder import TID, case, integer, out

NAMES = optional()

# ------------------------------------------------------------------------------ what is drawn


def test_a_seed_draws_one_subset() -> None:
    assert drawn(7) == drawn(7)
    assert all(name in NAMES for seed in range(50) for name in drawn(seed))


def test_subsets_are_of_all_sizes() -> None:
    sizes = {len(drawn(seed)) for seed in range(500)}
    assert sizes == set(range(len(NAMES) + 1))


def test_setting_is_what_the_environment_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    from anymetal.targets.cpu.variant import switched_off

    off = NAMES[1:4]
    monkeypatch.setenv("ANYMETAL_PASSES", setting(off).strip().removeprefix("ANYMETAL_PASSES="))
    assert set(switched_off()) == set(off)
    assert setting(()) == ""


# ------------------------------------------------------------------------------ the search

A, B, C = NAMES[1], NAMES[4], NAMES[-1]


@pytest.mark.parametrize(
    ("fails", "off", "said"),
    [
        (lambda off: B not in off, (), f"it comes out right without {B}"),
        # Both have a part in it; the first is named.
        (lambda off: B not in off and C not in off, (), f"it comes out right without {B}"),
        # Each does it alone.
        (
            lambda off: B not in off or C not in off,
            (),
            f"no single pass is to blame; with those up to {B} it fails",
        ),
        (lambda off: True, (), "no pass that can be switched off is to blame: it fails without"),
        (lambda off: False, (A,), "it comes out right when it runs again"),
        # One does harm if another does not prevent it.
        (
            lambda off: A in off and B not in off,
            (A, C),
            f"it comes out right without {B}, with {A} off (else it comes out right)",
        ),
        # What is off has no part in it.
        (lambda off: B not in off, (A, C), f"it comes out right without {B}"),
    ],
)
def test_the_culprit(fails: Callable[[Off], bool], off: Off, said: str) -> None:
    found = culprit(fails, off)
    assert found.startswith(said) and "\n" not in found
    assert ("off" in found) == ("off" in said)


# ------------------------------------------------------------------------------ planted defects


def _planted(name: str, change: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a pass do something wrong behind what it does."""
    one: Any = next(one for one in (*thread.PASSES, *gang.PASSES) if one.name == name)
    right = one.run

    def run(c: Any) -> bool:
        right(c)
        change(c.program)
        return True

    monkeypatch.setattr(one, "run", run)


def _miscompile(program: Any) -> None:
    for instr in program.instructions():
        if instr.op == "xor":
            instr.op = "or"


def _break(program: Any) -> None:
    """The first instruction goes, though others use it."""
    block = program.blocks[0]
    used = {value for instr in program.instructions() for value in instr.operands}
    block.instrs.remove(next(instr for instr in block.instrs if instr in used))


BODY = "uint i = thread_position_in_grid.x;\ny[i] = (i * 7u) ^ 5u;\n"


@pytest.fixture
def lockstep_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Case:
    """A case; who asks a worker for a verdict gets one of this process, with what is planted."""
    outputs = (Output("y", "uint", 64),)
    planted = Case("planted", "planted", 1, BODY, (), outputs, (64, 1, 1), (32, 1, 1))
    expected = expected_of(planted, Oracle([planted], tmp_path))

    class Here:
        def __init__(self, names: tuple[str, ...]) -> None:
            self.builds = [builds_here()[name] for name in names]

        def verdict(self, case: Case) -> Any:
            return check(case, expected, self.builds, tmp_path)

        def close(self) -> None:
            pass

    monkeypatch.setattr(lockstep, "Worker", Here)
    monkeypatch.setattr(lockstep, "generate", lambda seed, only: planted)
    return planted


@pytest.mark.parametrize("name", ["drop-unused", "split-divisions"])
def test_lockstep_names_the_pass_that_miscompiles(
    name: str, lockstep_here: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    _planted(name, _miscompile, monkeypatch)
    builds = ("native", "scalar")
    verdict = lockstep.Worker(builds).verdict(lockstep_here)
    assert verdict.status == "differs"
    failure = Failure(1, "", "planted", verdict.status, verdict.detail, verdict.key, (NAMES[3],))
    said = lockstep.bisected(failure, builds)
    assert said == f"bisected: seed 1: it comes out right without {name}"


def test_lockstep_names_the_pass_that_breaks_a_rule(
    lockstep_here: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    _planted("split-divisions", _break, monkeypatch)
    verdict = lockstep.Worker(("native",)).verdict(lockstep_here)
    assert verdict.status == "error" and "behind split-divisions: " in verdict.detail


def test_a_failure_of_lockstep_says_what_was_off(lockstep_here: Case, tmp_path: Path) -> None:
    failure = Failure(1, "", "planted", "differs", "y: ", "native ", (A, B))
    assert f"ANYMETAL_PASSES=-{A},-{B} --seed 1" in failure.line
    text = lockstep.report(failure, ("native",), shrink=False)
    assert f"ANYMETAL_PASSES=-{A},-{B} python -m anymetal.testing.lockstep --seed 1" in text
    results = Results(failures=[failure])
    results.save(tmp_path / "results.json")
    assert Results.load(tmp_path / "results.json").failures == [failure]


@pytest.fixture
def fuzz_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_helpers: None
) -> Iterator[Callable[[Any], Any]]:
    """Verdicts of this process, with what is planted; what is compiled is not kept."""
    for name in ("ANYMETAL_CACHE_DIR", "ANYMETAL_BRIDGE", "ANYMETAL_CHECK"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # what the child sets ends with the test
    monkeypatch.setattr(code_lookup, "_loaded", WeakValueDictionary())
    monkeypatch.setattr(code_lookup, "_recent", OrderedDict())

    class Pipe:
        def __init__(self, work: Any) -> None:
            self.work, self.sent = [work, None], []

        def recv(self) -> Any:
            return self.work.pop(0)

        def send(self, verdict: Any) -> None:
            self.sent.append(verdict)

    class Here:
        def __init__(self, widths: tuple[int, ...], *_: object) -> None:
            self.widths = widths

        def __enter__(self) -> Here:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def __call__(self, work: Any) -> Any:
            pipe: Any = Pipe(work)
            fuzz_check._serve(pipe, self.widths, str(tmp_path), False)
            return pipe.sent[0]

    monkeypatch.setattr(fuzz, "Checker", Here)
    yield Here((32,))


def _fuzz_case() -> Any:
    value = Binary(INT, "^", Load(INT, "x", TID), integer(5))
    return case(out(value), threads=32, group=32, inputs={"x": np.arange(32) * 7})


def test_fuzz_names_the_pass_that_miscompiles(
    fuzz_here: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _planted("split-divisions", _miscompile, monkeypatch)
    verdict = fuzz_here(_fuzz_case())
    assert verdict.status == "mismatch"
    said = fuzz.bisected(_fuzz_case(), verdict, (32,))
    assert said.strip() == "bisected: seed 0: it comes out right without split-divisions"


def test_fuzz_names_the_pass_that_breaks_a_rule(
    fuzz_here: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _planted("split-divisions", _break, monkeypatch)
    verdict = fuzz_here(_fuzz_case())
    assert verdict.status == "error" and "behind split-divisions: " in verdict.detail


def test_a_failure_of_fuzz_says_what_was_off() -> None:
    failed = fuzz_check.case_of(3, draw=True)
    assert failed.off == drawn(3) != ()
    text = report(failed, fuzz_check.Verdict("mismatch"))
    assert f"{setting(drawn(3))}python -m anymetal.testing.fuzz --seed 3" in text


def test_a_case_is_drawn_with_what_the_environment_switches_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANYMETAL_PASSES", f"-{A}")
    assert fuzz_check.case_of(3, draw=False).off == (A,)
