"""The switch: who decides, and what it says about it."""

from __future__ import annotations

import re
from pathlib import Path

import mlx.core as mx
import pytest

import anymetal
from anymetal import linalg, nn
from anymetal.tune import policies, switch, tables
from anymetal.tune.device import Device, kind_of_device
from anymetal.tune.names import OPERATIONS, SUMS
from anymetal.tune.switch import Choice, Question, choose, explain, forcing, question_of
from anymetal.tune.tables import Entry, Table

HERE = Device("cpu", "a processor", "cpu-0123")


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    """No table, no rules, no environment."""
    monkeypatch.delenv("ANYMETAL_SWITCH", raising=False)
    monkeypatch.setattr(policies, "POLICIES", {})
    monkeypatch.setattr(switch, "OPERATIONS", ("cholesky", "dot"))
    monkeypatch.setattr(tables, "shipped", lambda kind: None)
    known(monkeypatch, None)
    yield
    switch._settled.cache_clear()
    switch.parsed.cache_clear()


@pytest.fixture
def shipped(monkeypatch, tmp_path):
    """What is shipped, on a machine where nothing was measured."""
    monkeypatch.undo()
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path))
    switch.forget()
    yield
    monkeypatch.undo()
    switch.forget()


def known(monkeypatch, table):
    monkeypatch.setattr(tables, "of_this_device", lambda: table)
    switch._settled.cache_clear()


def measured(sizes, **seconds):
    table = Table(HERE)
    table.add(Entry("cholesky", "a case", sizes, "float32", seconds))
    return table


def ask(operation="cholesky", sizes=(1, 64), among=("kernel", "mlx"), **options):
    options = {"dtype": mx.float32, "default": "kernel", **options}
    return choose(operation, sizes=sizes, among=among, **options)


def test_the_default():
    assert ask() == Choice("kernel", "the default; nothing was measured here")


def test_each_may_overrule_the_next(monkeypatch):
    paths = ("default", "rule", "shipped", "table", "environment", "tuned", "caller")
    among = {"among": paths, "default": "default"}
    assert ask(**among).path == "default"
    monkeypatch.setitem(policies.POLICIES, "cholesky", lambda *_: ("rule", "says a rule"))
    known(monkeypatch, None)
    assert ask(**among) == Choice("rule", "says a rule")
    elsewhere = measured((1, 64), shipped=1.0, default=3.0)
    elsewhere.where = "on a processor"
    monkeypatch.setattr(tables, "shipped", lambda kind: elsewhere if kind == "cpu" else None)
    switch._settled.cache_clear()
    assert ask(**among) == Choice(
        "shipped", "measured on a processor at a case: default takes 3.00 times as long"
    )
    known(monkeypatch, measured((1, 64), table=1.0, default=2.0))
    assert ask(**among) == Choice(
        "table", "measured here at a case: default takes 2.00 times as long"
    )
    monkeypatch.setenv("ANYMETAL_SWITCH", "cholesky=environment")
    switch._settled.cache_clear()
    assert ask(**among) == Choice("environment", "ANYMETAL_SWITCH")
    with forcing("cholesky", "tuned"):
        assert ask(**among) == Choice("tuned", "being measured")
        assert ask(**among, forced="caller") == Choice("caller", "asked for by the caller")
    assert ask(**among).path == "environment"


def test_a_rule_whose_path_cannot_serve(monkeypatch):
    monkeypatch.setitem(policies.POLICIES, "cholesky", lambda *_: ("blocks", "large"))
    assert ask().path == "kernel"


def test_rules_are_told_sizes_dtype_and_device(monkeypatch):
    told = []
    monkeypatch.setitem(policies.POLICIES, "cholesky", lambda *all: told.append(all))
    ask(sizes=[2, 3], dtype=mx.bfloat16)
    assert told == [((2, 3), "bfloat16", kind_of_device())]


def test_shipped_rules(shipped):
    """On CPUs the routines' own defaults are right; elsewhere nothing is claimed."""
    for operation in ("qr", "matmul_av", "svd_topk"):
        for kind, path in (("cpu", None), ("apple", "full" if operation == "svd_topk" else "mlx")):
            ruled = policies.choose(operation, (1, 64), "float32", ("mlx", "full"), kind)
            assert (ruled and ruled[0]) == path
            assert policies.choose(operation, (1, 64), "float32", ("kernel",), kind) is None
        for sums in SUMS:
            ruled = policies.choose(sums, (1, 64), "float32", ("float32", "auto"), "cpu")
            assert ruled[0] == ("auto" if sums in ("dot", "norm") else "float32")


def test_paths_that_cannot_serve():
    with pytest.raises(ValueError, match=r"^\[cholesky\] path asks for 'x'; .* kernel, mlx\.$"):
        ask(forced="x")


def test_the_environment_names_a_path_that_cannot_serve(monkeypatch):
    monkeypatch.setenv("ANYMETAL_SWITCH", "cholesky=fast")
    with pytest.raises(ValueError, match="ANYMETAL_SWITCH asks for 'fast'"):
        ask()


def test_the_environment():
    assert switch.parsed(" cholesky = kernel ,, dot=mlx,") == {"cholesky": "kernel", "dot": "mlx"}
    assert switch.parsed("dot=mlx,dot=mlx") == {"dot": "mlx"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cholesky", "'cholesky' is no pair of an operation and a path; write "),
        ("cholesky=", "'cholesky=' is no pair"),
        ("=mlx", "'=mlx' is no pair"),
        ("cholesky=kernel=mlx", "'cholesky=kernel=mlx' is no pair"),
        ("cholesky=mlx;dot=mlx", "is no pair"),
        ("dot=mlx,cholesk=mlx", "no operation 'cholesk'; there are: cholesky, dot."),
        ("dot=mlx,dot=kernel", "dot is given two paths in 'dot=mlx,dot=kernel'"),
    ],
)
def test_a_malformed_environment(monkeypatch, text, message):
    monkeypatch.setenv("ANYMETAL_SWITCH", text)
    with pytest.raises(ValueError, match=re.escape(message)):
        ask()
    assert ask(forced="mlx").path == "mlx"


def test_explain(capsys):
    ask(sizes=(4, 64), explain=True)
    expected = "cholesky 4×64 float32: kernel (the default; nothing was measured here)\n"
    assert capsys.readouterr().err == expected
    ask()
    assert capsys.readouterr().err == ""


def test_debug_tells_each_choice_once(monkeypatch, capsys):
    switch._tell.cache_clear()
    monkeypatch.setenv("ANYMETAL_DEBUG", "1")
    for _ in range(3):
        ask(sizes=(5, 64))
        ask(sizes=(5, 64), forced="mlx")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "anymetal: cholesky 5×64 float32: kernel (the default; nothing was measured here)",
        "anymetal: cholesky 5×64 float32: mlx (asked for by the caller)",
    ]


def test_question_of():
    def routine(size, then):
        ask(sizes=[1, size], dtype=mx.float16)
        then()

    question = Question("cholesky", (1, 2), "float16", ("kernel", "mlx"), "kernel")
    with forcing("cholesky", "mlx"):
        asked = question_of(routine, 2, lambda: pytest.fail("the call went on"))
    assert asked == (question, Choice("mlx", "being measured"))
    with pytest.raises(ValueError, match="no choice"):
        question_of(lambda: None)
    assert ask().path == "kernel"


def test_explain_of_a_routine(shipped):
    """Nothing is computed, or these 4 TB would be."""
    A = mx.zeros((1 << 20, 1024, 1024))
    assert explain(linalg.cholesky, A, path="blocks") == Choice("blocks", "asked for by the caller")
    assert explain(linalg.qr, mx.zeros((1 << 30, 32))).path == "cholesky"
    assert explain(linalg.dot, A, A).path == "auto"
    assert explain(nn.grid_sample, A[None, :, :, :4], mx.zeros((1, 8, 8, 2))).path == "kernel"
    with pytest.raises(ValueError, match="no choice"):
        explain(linalg.cholesky, mx.zeros((0, 3, 3)))


def test_forcing_is_for_one_operation():
    with forcing("cholesky", "mlx"), forcing("dot", "kernel"):
        assert [ask("cholesky").path, ask("dot", default="mlx").path] == ["mlx", "kernel"]
        assert ask("svd").path == "kernel"


def test_every_routine_that_chooses_is_known():
    """An operation that is not in the list could neither be forced nor measured."""
    package = Path(anymetal.__file__).parent
    texts = [
        path.read_text() for folder in ("nn", "linalg") for path in (package / folder).glob("*.py")
    ]
    asked = {name for text in texts for name in re.findall(r'\bchoose\(\s*"(\w+)"', text)}
    assert asked <= set(OPERATIONS)


def test_rules_may_be_added(shipped, monkeypatch):
    """As the page about the switch has it."""
    rule = ("mlx", "small")
    monkeypatch.setitem(policies.POLICIES, "cholesky", lambda sizes, *_: rule)
    switch.forget()
    assert explain(linalg.cholesky, mx.zeros((4, 4))) == Choice(*rule)
