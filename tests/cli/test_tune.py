"""`anymetal tune`: what it prints and keeps, for made-up operations and a real one."""

from __future__ import annotations

import io

import mlx.core as mx
import pytest
from rich.console import Console
from typer.testing import CliRunner

from anymetal.cli.app import app
from anymetal.cli.tune import tune
from anymetal.linalg.cholesky import cholesky
from anymetal.tune import operations as listed
from anymetal.tune import switch, tables
from anymetal.tune.checks import of_cholesky
from anymetal.tune.device import device
from anymetal.tune.operations import Case, Operation


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.delenv("ANYMETAL_SWITCH", raising=False)
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path))
    switch.forget()
    yield tmp_path
    switch.forget()


def operation(paths, cases=2):
    """Sums with these ways to compute them."""

    def run(x):
        names = tuple(paths)
        choice = switch.choose(
            "cholesky", sizes=(x.size,), dtype=x.dtype, among=names, default=names[-1]
        )
        return paths[choice.path](x)

    def check(arguments, result):
        return "" if result.item() == arguments[0].size else "is another sum"

    made = [
        Case(f"{size} numbers", lambda size=size: (mx.ones(size),), quick=size == 4)
        for size in (4, 128, 4096)[:cases]
    ]
    return Operation("cholesky", run, check, made)


def slow(x):
    for _ in range(200):
        x = mx.maximum(x + 1 - 1, x)
    return mx.sum(x)


def run(operations, only=(), quick=False, fresh=False):
    """Status and text of a run; many rounds are for machines, not for tests."""
    console = Console(file=io.StringIO(), width=120, highlight=False)
    status = tune(only, quick, fresh, operations, console)
    return status, console.file.getvalue()


def test_who_won_where():
    status, text = run([operation({"slow": slow, "sum": mx.sum})], quick=True)
    assert status == 0
    assert device().name in text
    (row,) = (line for line in text.splitlines() if "4 numbers" in line)
    assert row.split()[2] == "sum"
    assert "slow" in row
    assert "never the fastest: slow" in text
    assert "Kept in" in text
    choice = switch.choose(
        "cholesky", sizes=[5], dtype=mx.float32, among=["slow", "sum"], default="slow"
    )
    assert choice.path == "sum"
    assert choice.reason.startswith("measured here at 4 numbers: slow takes ")


def test_wrong_paths_are_told_and_never_win():
    status, text = run([operation({"sum": mx.sum, "half": lambda x: mx.sum(x) / 2}, cases=1)])
    assert status == 1
    assert "half is wrong: is another sum" in text
    assert "1 results were wrong" in text
    entries = tables.read(device()).of("cholesky")
    assert [list(entry.seconds) for entry in entries] == [["sum"]]
    status, text = run([operation({"half": lambda x: mx.sum(x) / 2}, cases=1)], fresh=True)
    assert status == 1
    assert "none" in text


def test_interrupted_and_continued():
    left = [2]

    def interrupted(x):
        left[0] -= x.size == 128
        if left[0] == 0:
            raise KeyboardInterrupt
        return mx.sum(x)

    operations = [operation({"sum": interrupted})]
    status, text = run(operations)
    assert status == 130
    assert "Interrupted. What is measured is kept; anymetal tune continues" in text
    assert "4 numbers" in text
    assert "128 numbers" not in text
    assert len(tables.read(device()).of("cholesky")) == 1
    status, text = run(operations)
    assert status == 0
    assert len(tables.read(device()).of("cholesky")) == 2
    assert "Everything is measured already; --fresh measures again." in run(operations)[1]
    assert "Everything" not in run(operations, fresh=True)[1]


def test_an_unknown_operation():
    done = CliRunner().invoke(app, ["tune", "--only", "choleski"])
    assert done.exit_code == 2
    assert "choleski" in done.output
    assert all(name in done.output for name in ("cholesky", "grid_sample"))


def test_a_real_operation(capsys):
    """All paths of a small factorisation, right and timed; afterwards the routine knows."""
    case = Case("2 × 5×5 float32", lambda: listed._positive_definite(2, 5), quick=True)
    real = Operation("cholesky", cholesky, of_cholesky, [case])
    status, text = run([real], quick=True)
    assert status == 0, text
    (entry,) = tables.read(device()).of("cholesky")
    assert entry.sizes == (2, 5)
    assert {"thread", "mlx"} <= set(entry.seconds)
    cholesky(*case.arguments(), explain=True)
    assert "measured here at 2 × 5×5 float32" in capsys.readouterr().err
