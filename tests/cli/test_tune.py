"""`anymetal tune`: what it prints and keeps, for made-up operations and a real one."""

from __future__ import annotations

import io
import sys

import mlx.core as mx
import pytest
from rich.console import Console
from typer.testing import CliRunner

import anymetal
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


_PACKAGE = """
import mlx.core as mx
from anymetal import tune

def cube(x, path=None):
    chosen = tune.choose("shapes.cube", sizes=(x.size,), dtype=x.dtype,
                         among=("power", "products"), default="power", forced=path)
    return x**3 if chosen.path == "power" else x * x * x

def check(arguments, result):
    (x,) = arguments
    return "" if mx.allclose(result, x * x * x).item() else "is no cube"

case = tune.Case("100 numbers", lambda: (mx.arange(100) / 100,), quick=True)
tune.register(tune.Operation("shapes.cube", cube, check, [case]))
"""


def test_an_operation_of_another_package(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(listed, "_registered", {})
    (tmp_path / "shapes_of_mine.py").write_text(_PACKAGE)
    command = ["tune", "--import", "shapes_of_mine", "--only", "shapes.cube", "--quick"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    (entry,) = tables.read(device()).of("shapes.cube")
    assert set(entry.seconds) == {"power", "products"}
    x = mx.ones(100)
    cube = sys.modules["shapes_of_mine"].cube
    assert "measured here at 100 numbers" in anymetal.tune.explain(cube, x).reason
    monkeypatch.setenv("ANYMETAL_SWITCH", "shapes.cube=power")
    switch.forget()
    assert anymetal.tune.explain(cube, x) == ("power", "ANYMETAL_SWITCH")


def test_a_module_that_is_not_there():
    done = CliRunner().invoke(app, ["tune", "--import", "no_such_module"])
    assert done.exit_code == 2
    assert "no_such_module cannot be imported" in done.output


@pytest.mark.parametrize(
    "name, cases, message", [("cube", 1, "package.routine"), ("a.b", 0, "cases")]
)
def test_what_cannot_be_registered(name, cases, message):
    case = Case("c", lambda: ())
    with pytest.raises(ValueError, match=message):
        listed.register(Operation(name, print, lambda *_: "", [case] * cases))
    with pytest.raises(ValueError, match="a name of its own"):
        listed.register(Operation("a.b", print, lambda *_: "", [case, case]))
