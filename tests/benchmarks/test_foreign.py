"""Rows of foreign kernels: how they are made, and their part of RESULTS.md. No row runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import mlx.core as mx

from anymetal.timing import Timing
from benchmarks import foreign, harness, report, results, rows
from benchmarks.foreign.row import row, row_of
from benchmarks.harness import COMPOSED, FLOORS, LIBRARY, OURS, TORCH, Result
from benchmarks.others import mlx, texts


def _made(random: np.random.Generator) -> tuple[object, dict[str, mx.array], int]:
    x = mx.array(random.standard_normal(64, np.float32))
    return lambda: [mx.exp(x)], {"x": x}, x.nbytes


def test_names_differ_from_those_of_the_first_benchmark() -> None:
    """Results of both lie in one folder."""
    groups = {**foreign.all_rows(), **rows.all_rows()}
    names = [one.name for group in groups.values() for one in group] + list(groups)
    assert len(set(names)) == len(names)


def test_every_row_names_a_kernel() -> None:
    known = {*texts(), *(f"mlx_{case.name}" for case in [*mlx.CASES, *mlx.MORE])}
    assert {one.name for group in foreign.all_rows().values() for one in group} <= known


def test_formulas_are_rivals_and_the_oracle_has_double_precision() -> None:
    made = row_of("exp", "64 float32", _made, operation="torch.exp(x)", mlx="mx.exp(x)")  # type: ignore[arg-type]
    race = made.prepare(np.random.default_rng(7))
    assert [(rival.who, rival.what) for rival in race.rivals] == [
        (TORCH, "torch.exp(x)"),
        ("MLX", "mx.exp(x)"),
    ]
    assert race.expected[0].dtype == np.float64 and race.bytes == 2 * 64 * 4
    result = harness.run(made, seconds=0.01)
    assert result.ratio(TORCH) and result.ratio("MLX") and result.ratio(FLOORS[0])


def test_a_row_takes_its_launch_from_the_text() -> None:
    made = row("complex_multiply", "", oracle="a", touched={"b": 8})
    race = made.prepare(np.random.default_rng(7))
    assert race.bytes == 2 * 4 * 2 * 131072 + 8
    (out,) = race.ours()
    assert out.shape == race.expected[0].shape == (131072, 2)


def _result(name: str, **seconds: float) -> Result:
    names = {"ours": OURS, "torch": TORCH, "composed": COMPOSED, "library": LIBRARY}
    timings = [Timing({**names, "floor": FLOORS[0]}[who], (s, s)) for who, s in seconds.items()]
    return Result(name, "a row", {}, timings, bytes=1 << 30)


def test_operations_and_what_is_composed_have_means_of_their_own() -> None:
    found = [
        _result("gather", ours=1.0, torch=2.0, floor=0.5),
        _result("exp", ours=1.0, torch=8.0, floor=0.125, library=1.0),
        _result("nbody", ours=1.0, composed=9.0),
    ]
    _, headings, lines = report.foreign_summary(found, {"gather"})
    means = dict(zip(headings, lines[-2], strict=True))
    assert (means["floor"], means[TORCH], means[COMPOSED]) == ("0.25", "4.00", "9.00")
    assert lines[-1][headings.index("floor")] == "0.50"


def test_the_worst_come_first() -> None:
    """Beside PyTorch, in one operation or several; who stands beside nobody comes last."""
    found = [
        _result("alone", ours=1.0, floor=0.5),
        _result("good", ours=1.0, torch=3.0),
        _result("bad", ours=1.0, torch=0.5),
        _result("fair", ours=1.0, composed=1.0),
    ]
    _, _, lines = report.foreign_summary(found, set())
    assert [line[0] for line in lines[:-2]] == ["bad", "fair", "good", "alone"]


def test_a_text_that_is_not_here_is_said_to_be_not_available(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mlx, "sources", None)
    made = {one.name: one for one in foreign.all_rows()["mlx_kernels"]}["mlx_layer_norm"]
    with pytest.raises(mlx.NotAvailable, match=r"layer_norm\.metal is in MLX's repository only"):
        made.prepare(np.random.default_rng(7))


def test_each_part_of_the_results_is_written_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "RESULTS.md"

    def measured(name: str) -> list[results.Measured]:
        one = _result(name, ours=1.0, torch=2.0)
        return [results.Measured(one, {"processor": name}, "2026-01-01 12:00", "0.1, 0.1, 0.1")]

    report.write_foreign(path, measured("theirs"), {}, {})
    report.write(path, measured("ours"), [], {})
    report.write_foreign(path, measured("again"), {}, {"again": "why"})
    text = path.read_text()
    assert "| processor | ours |" in text and "| processor | again |" in text
    assert "theirs" not in text and text.count("\n# ") == 1 and "* **again**: why" in text
    assert text.index("| processor | ours |") < text.index(f"\n{report.FOREIGN}\n")
