"""`custom_function`: a plain call where nobody transforms, else MLX's custom_function."""

from __future__ import annotations

import mlx.core as mx
import pytest

import anymetal
from anymetal.transforms import is_transformed
from tests.graph.kernels import answer, double


def make(log: list[str], rules: str = "vjp jvp vmap"):
    """2 x by a kernel, with rules that take notes; -1 for derivatives, so that they are seen."""

    @anymetal.custom_function
    def twice(x):
        """Twice as much."""
        log.append("transformed" if is_transformed([x]) else "plain")
        return double(x)

    def vjp(x, cotangent, output):
        log.append("vjp")
        return -cotangent

    def jvp(x, tangent):
        log.append("jvp")
        return -tangent

    def vmap(x, axis):
        log.append("vmap")
        return double(mx.moveaxis(x, axis, 0)), 0

    for rule in (vjp, jvp, vmap):
        if rule.__name__ in rules:
            assert getattr(twice, rule.__name__)(rule) is twice
    return twice


X = mx.array([1.0, 2.0, 3.0])


def test_a_plain_call_makes_one_node(tmp_path):
    log = []
    twice = make(log)
    assert twice(X).tolist() == [2, 4, 6]
    assert log == ["plain"]
    mx.export_to_dot(str(tmp_path / "graph.dot"), twice(X))
    graph = (tmp_path / "graph.dot").read_text()
    assert "MetalKernel" in graph and "CustomTransforms" not in graph
    assert (twice.__name__, twice.__doc__) == ("twice", "Twice as much.")


@pytest.mark.parametrize(
    ("transform", "expected", "rule"),
    [
        (lambda f: mx.grad(lambda x: f(x).sum())(X), [-1, -1, -1], "vjp"),
        (lambda f: mx.grad(mx.compile(lambda x: f(x).sum()))(X), [-1, -1, -1], "vjp"),
        (lambda f: mx.compile(mx.grad(lambda x: f(x).sum()))(X), [-1, -1, -1], "vjp"),
        (lambda f: mx.grad(mx.checkpoint(lambda x: f(x).sum()))(X), [-1, -1, -1], "vjp"),
        (lambda f: mx.vmap(f)(X[:, None]), [[2], [4], [6]], "vmap"),
    ],
)
def test_rules(transform, expected, rule):
    log = []
    twice = make(log)
    assert twice(X).tolist() == [2, 4, 6]
    assert transform(twice).tolist() == expected
    assert log[0] == "plain" and rule in log[1:]
    assert twice(X).tolist() == [2, 4, 6]


def test_forward_derivatives():
    log = []
    _, (tangent,) = mx.jvp(make(log), [X], [mx.ones(3)])
    assert tangent.tolist() == [-1, -1, -1] and "jvp" in log


def test_a_rule_that_comes_later():
    log = []
    twice = make(log, rules="")
    with pytest.raises(ValueError, match=r"\[Primitive::vjp\] Not implemented"):
        mx.grad(lambda x: twice(x).sum())(X)
    twice.vjp(lambda x, cotangent, output: 5 * cotangent)
    assert mx.grad(lambda x: twice(x).sum())(X).tolist() == [5, 5, 5]


def test_trees_and_keywords_are_left_to_mlx():
    """MLX's takes any tree of arrays."""

    @anymetal.custom_function
    def total(tree, scale=1):
        return scale * (tree["a"] + tree["b"][0])

    @total.vjp
    def gradient(primals, cotangent, output):
        return {"a": -cotangent, "b": [cotangent]}

    tree = {"a": X, "b": [X]}
    assert total(tree).tolist() == [2, 4, 6]
    assert total(tree, scale=3).tolist() == [6, 12, 18]
    got = mx.grad(lambda tree: total(tree).sum())(tree)
    assert (got["a"].tolist(), got["b"][0].tolist()) == ([-1] * 3, [1] * 3)


def test_several_arguments_and_results():
    both = anymetal.custom_function(lambda x, y: (double(x), double(y)))
    both.vjp(lambda primals, cotangents, outputs: (cotangents[1], cotangents[0]))
    first, second = both(X, X + 1)
    assert (first.tolist(), second.tolist()) == ([2, 4, 6], [4, 6, 8])

    def loss(y):
        first, second = both(X, y)
        return first.sum() + 10 * second.sum()

    assert mx.grad(loss)(X).tolist() == [1, 1, 1]


def test_without_the_bridge():
    text = """
twice = anymetal.custom_function(double)
twice.vjp(lambda x, cotangent, output: -cotangent)
print(twice(x).tolist(), mx.grad(lambda x: twice(x).sum())(x).tolist())
"""
    assert answer(text, ANYMETAL_BRIDGE="0") == [f"{[2.0] * 8} {[-1.0] * 8}"]
