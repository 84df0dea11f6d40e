"""Batches of a kernel under other transformations, and without the option."""

from __future__ import annotations

import itertools

import mlx.core as mx
import pytest

from anymetal import targets
from anymetal.errors import MetalCompileError
from tests.batching.harness import INDEX, check, floats, function

# Other transformations


@pytest.mark.parametrize("axes", list(itertools.product((0, 1, 2), (0, 1))), ids=str)
def test_nested(axes):
    body = """
    uint3 p = thread_position_in_grid;
    uint at = (p.z * threads_per_grid.y + p.y) * x_shape[1] + p.x;
    out[at] = x[at] * 100 + threads_per_grid.z * 10 + threadgroup_position_in_grid.z + w;
    """
    outer, inner = axes
    run = function(body, ("x", "w"), grid=(3, 2, 1), threadgroup=(2, 2, 1))
    x, w = floats(4, 5, 2, 3), floats(5)
    x = mx.moveaxis(mx.moveaxis(x, 1, inner + 1), 0, outer)
    mapped = mx.vmap(mx.vmap(run, (inner, 0)), (outer, None))(x, w)
    for a, b in itertools.product(range(4), range(5)):
        element = mx.take(mx.take(x, a, outer), b, inner)
        assert mx.array_equal(mapped[a, b], run(element, w[b])).item()


def test_three_levels():
    run = function(INDEX + "out[i] = x[i] + x_shape[0] * threads_per_grid.z;")
    x = floats(2, 3, 4, 5)
    assert mx.array_equal(mx.vmap(mx.vmap(mx.vmap(run)))(x), x + 5).item()


def test_in_a_compiled_function():
    run = function(INDEX + "out[i] = x[i] * y[i];", ("x", "y"))
    x, y = floats(4, 3), floats(3)
    both = mx.compile(lambda x, y: mx.vmap(run, (0, None))(mx.sin(x), y).sum(1))
    assert mx.allclose(both(x, y), (mx.sin(x) * y).sum(1)).item()
    assert mx.allclose(mx.vmap(mx.compile(run), (0, None))(x, y), x * y).item()


def test_among_operations_of_mlx():
    run = function(INDEX + "out[i] = x[i] * y[i];", ("x", "y"))
    x, y = floats(4, 3), floats(4, 3)
    found = mx.vmap(lambda x, y: mx.softmax(run(x + 1, run(x, y)) @ mx.ones((3, 2))))(x, y)
    assert mx.allclose(found, mx.softmax(((x + 1) * x * y) @ mx.ones((3, 2)), 1)).item()


def test_lazy():
    """The batch is a node of the graph like any other; a body's errors come with its evaluation, or
    with the call where MLX launches the kernel on a GPU."""
    wrong = mx.vmap(function(INDEX + "out[i] = nothing;"))
    if targets.active().on_gpu:
        with pytest.raises(MetalCompileError, match="nothing"):
            wrong(floats(3, 4))
        return
    lazy = wrong(floats(3, 4))
    assert lazy.shape == (3, 4)
    with pytest.raises(MetalCompileError, match="nothing"):
        mx.eval(lazy)


def test_streams():
    stream = mx.new_stream(mx.cpu)
    run = function(INDEX + "out[i] = x[i] + 1;", stream=stream)
    check(run, [floats(3, 4)])


# Kernels without the option: as MLX has them


def test_without_the_option():
    run = function(INDEX + "out[i] = x[i];", vmap=None)
    mapped = mx.vmap(run)(floats(3, 4))
    assert mapped.shape == (3, 4)
    with pytest.raises(ValueError, match=r"^\[Primitive::vmap\] Not implemented for CustomKernel"):
        mx.eval(mapped)
    with pytest.raises(ValueError, match=r"^\[Primitive::vmap\] Not implemented for CustomKernel"):
        mx.eval(mx.compile(mx.vmap(run))(floats(3, 4)))
    constant = floats(4)
    assert mx.allclose(
        mx.vmap(lambda x: x + run(constant))(floats(3, 4) * 0), mx.broadcast_to(constant, (3, 4))
    ).item()


@pytest.mark.parametrize("out_axis", [0, 1])
def test_a_rule_of_ones_own(out_axis):
    doubled = function(INDEX + "out[i] = 2 * x[i];", vmap=None)
    run = mx.custom_function(doubled)
    seen = []

    @run.vmap
    def rule(x, axis):
        seen.append(axis)
        return doubled(x), axis

    x = floats(3, 4)
    assert mx.array_equal(mx.vmap(run, 1, out_axis)(x), 2 * (x if out_axis else x.T)).item()
    assert seen == [1]
