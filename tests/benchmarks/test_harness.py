"""Rounds, checks and tables of the benchmark, without running any of its rows."""

from __future__ import annotations

import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from anymetal.timing import Timing
from benchmarks import harness, report, results
from benchmarks.harness import CXX, FLOORS, OURS, TORCH, Race, Result, Rival, Row
from benchmarks.rows import all_rows

RIGHT = np.arange(4.0)


def _result(name: str, **seconds: tuple[float, ...]) -> Result:
    names = {"ours": OURS, "cxx": CXX, "torch": TORCH, "floor": FLOORS[0]}
    timings = [Timing(names[who], taken) for who, taken in seconds.items()]
    return Result(name, "a row", {OURS: "kernel", CXX: "vectors"}, timings, bytes=1 << 30)


def _slowly() -> harness.Array:
    time.sleep(0.005)
    return RIGHT


def _run(rivals: list[Rival], expected: list[harness.Array], **more: float) -> Result:
    race = Race(lambda: np.arange(4, dtype=np.float32), rivals, expected, **more)  # type: ignore[arg-type]
    return harness.run(Row("row", "a row", lambda random: race), seconds=0.01)


def test_contenders_take_turns_and_are_compared_within_a_round() -> None:
    result = _result("row", ours=(1.0, 2.0, 4.0), cxx=(0.5, 1.0, 2.0))
    assert result.ratio(CXX) == 0.5
    assert result.ratio(TORCH) is None


def test_names_of_rows_and_groups_are_not_mixed_up() -> None:
    groups = all_rows()
    names = [row.name for rows in groups.values() for row in rows] + list(groups)
    assert len(set(names)) == len(names)


def test_a_slow_contender_leaves_after_a_few_rounds() -> None:
    slow = Rival(TORCH, "sleeps", _slowly)
    timings = {t.name: t.seconds for t in _run([slow], [RIGHT]).timings}
    assert len(timings[TORCH]) == 5 < len(timings[OURS])


def test_nobody_always_follows_the_same_contender(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "_SLOW", 1e9)  # nobody leaves, however busy the machine is
    monkeypatch.setattr(harness, "_FEW", 100)
    turns: list[str] = []

    def taking_part(name: str) -> Rival:
        return Rival(name, "takes note", lambda: turns.append(name) or RIGHT)  # type: ignore[func-returns-value]

    names = [CXX, TORCH, "NumPy"]
    _run([taking_part(name) for name in names], [RIGHT])
    follows = Counter(pairwise(turns))
    others = [follows[a, b] for a in names for b in names if a != b]
    assert 0 < max(others) < 2 * min(others)


def test_everything_is_made_anew_in_several_places() -> None:
    made: list[list[float]] = []

    def prepare(random: np.random.Generator) -> Race:
        own = random.standard_normal(4)
        made.append(own.tolist())
        return Race(lambda: own, [Rival(CXX, "the same", lambda: own)], [own])

    result = harness.run(Row("row", "a row", prepare), seconds=0.01)
    assert len(made) == len({tuple(numbers) for numbers in made}) == 3
    ours, theirs = (timing.seconds for timing in result.timings)
    assert len(ours) == len(theirs) >= 15


def test_wrong_results_are_found_whoever_returns_them() -> None:
    with pytest.raises(AssertionError, match=r"1 of 4 elements of result 0 of C\+\+ .* \[2\] is 9"):
        _run([Rival(CXX, "wrong", lambda: np.array([0, 1, 9, 3.0]))], [RIGHT])
    with pytest.raises(AssertionError, match="result 0 of AnyMetal has shape"):
        _run([], [np.arange(5.0)])
    _run([Rival(CXX, "rarely wrong", lambda: np.array([0, 1, 9, 3.0]))], [RIGHT], outliers=0.25)


def test_a_contender_may_bring_its_own_check() -> None:
    seen: list[harness.Array] = []
    _run([Rival(TORCH, "random", lambda: RIGHT + 1, lambda arrays: seen.extend(arrays))], [RIGHT])
    assert [a.tolist() for a in seen] == [[1, 2, 3, 4]] * 3


def test_integers_must_be_equal_and_floats_close() -> None:
    assert harness.wrong(np.array([1, 2]), np.array([1, 3]), 1, 1).tolist() == [False, True]
    assert not harness.wrong(np.array([1.001]), np.array([1.0]), 1e-2, 0).any()


def test_the_summary_has_means_of_the_rows_in_which_a_rival_takes_part() -> None:
    both = _result("both", ours=(1.0, 1.0), cxx=(4.0, 4.0), torch=(2.0, 2.0), floor=(0.5, 0.5))
    one = _result("one", ours=(1.0, 1.0), cxx=(1.0, 1.0))
    _, headings, lines = report.summary([both, one])
    means = dict(zip(headings, lines[-1], strict=True))
    assert (means["floor"], means[CXX], means[TORCH], means["MLX"]) == ("0.50", "2.00", "2.00", "")


def test_rows_stand_in_one_table_only_if_measured_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    here, there = {"processor": "a"}, {"processor": "b"}
    for name, conditions in (("one", here), ("two", there), ("three", here)):
        result = _result(name, ours=(1.0, 1.0), cxx=(2.0, 2.0))
        results.save(results.Measured(result, conditions, "2026-01-01 12:00", "0.1, 0.1, 0.1"))
    kept = list(results.load(["three", "two", "one", "none"], here))
    assert [m.result.name for m in kept] == ["three", "one"]
    assert kept[0].result.ratio(CXX) == 2.0

    report.write(
        tmp_path / "RESULTS.md", kept, [("more", ("a", "b"), [("1", "2")])], {"one": "why"}
    )
    text = (tmp_path / "RESULTS.md").read_text()
    assert "| three | 1.00 s |" in text and "## more" in text and "| processor | a |" in text
    assert "* **one**: why" in text
