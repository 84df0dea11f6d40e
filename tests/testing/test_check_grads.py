"""`check_grads`: it finds wrong gradients, and finds nothing else."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import mlx.core as mx
import pytest

from anymetal.testing.gradients import check_grads


def normal(*shape: int, seed: int = 0, dtype: mx.Dtype = mx.float32) -> mx.array:
    return mx.random.normal(shape, key=mx.random.key(seed)).astype(dtype)


def with_rule(fun: Callable[..., Any], rule: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function of one array whose gradient is the right one, changed by `rule`."""
    function = mx.custom_function(fun)

    @function.vjp
    def vjp(x: Any, cotangent: Any, _: Any) -> Any:
        cotangents = [cotangent] if isinstance(cotangent, mx.array) else list(cotangent)
        return rule(mx.vjp(fun, [x], cotangents)[1][0])

    @function.jvp
    def jvp(primals: Any, tangents: Any) -> Any:
        x, v = (a[0] if isinstance(a, (list, tuple)) else a for a in (primals, tangents))
        changed = mx.jvp(fun, [x], [v])[1]
        return rule(changed[0]) if len(changed) == 1 else tuple(map(rule, changed))

    return function


def smooth(x: mx.array) -> mx.array:
    return mx.exp(mx.sin(x)) * x


WRONG: dict[str, Callable[[mx.array], mx.array]] = {
    "factor": lambda g: 2 * g,
    "a few percent": lambda g: 1.05 * g,
    "sign": lambda g: -g,
    "zero": lambda g: g * 0,
    "constant": lambda g: g + 1,
    "reversed": lambda g: g[::-1],
    "nan": lambda g: g * math.nan,
    "inf": lambda g: g + math.inf,
    "one element": lambda g: mx.where(mx.arange(g.size) == 17, g + 5, g),
    "last element": lambda g: mx.where(mx.arange(g.size) == g.size - 1, 0 * g, g),
}


@pytest.mark.parametrize("mode", ["vjp", "jvp"])
def test_right_gradients(mode):
    check_grads(smooth, [normal(100)], modes=[mode])
    check_grads(with_rule(smooth, lambda g: g), [normal(100)], modes=[mode])


@pytest.mark.parametrize("rule", WRONG.values(), ids=WRONG.keys())
@pytest.mark.parametrize("mode", ["vjp", "jvp"])
def test_wrong_gradients(mode, rule):
    with pytest.raises(AssertionError, match=rf"^\[check_grads\] {mode} of argument 0: "):
        check_grads(with_rule(smooth, rule), [normal(20)], modes=[mode])


@pytest.mark.parametrize("place", [0, 500, 999])
def test_one_wrong_element_of_a_thousand(place):
    wrong = with_rule(smooth, lambda g: mx.where(mx.arange(g.size) == place, g + 10, g))
    with pytest.raises(AssertionError):
        check_grads(wrong, [normal(1000)])


def test_a_missing_term():
    """x appears twice, the gradient knows one of them."""

    def half(x: mx.array) -> mx.array:
        return x * mx.stop_gradient(mx.sin(x))

    with pytest.raises(AssertionError):
        check_grads(half, [normal(50)])
    with pytest.raises(AssertionError):
        check_grads(
            lambda x: mx.softmax(x) - mx.stop_gradient(mx.softmax(x)) + x, [1.5, normal(3)][1:]
        )


def test_the_error_tells_the_argument_and_both_values():
    double = with_rule(lambda x: 3 * x, lambda g: 2 * g)
    with pytest.raises(
        AssertionError,
        match=r"^\[check_grads\] vjp of argument 1: \S+ where finite differences give \S+ "
        r"\(direction 0, allowed difference \S+\)$",
    ):
        check_grads(lambda a, b: a + double(b), [normal(5), normal(5)])


# Arguments


def test_every_argument_is_checked():
    def fun(a: mx.array, b: mx.array, c: mx.array) -> mx.array:
        return a * b + mx.stop_gradient(c)

    check_grads(lambda a, b: fun(a, b, normal(4)), [normal(4), normal(4)])
    with pytest.raises(AssertionError, match="argument 2"):
        check_grads(fun, [normal(4)] * 3)


def test_other_arguments_are_handed_on():
    def fun(x: mx.array, index: mx.array, mask: mx.array, name: str, nothing: None) -> mx.array:
        assert (name, nothing) == ("name", None)
        return mx.where(mask, x[index] ** 2, 0.0)

    index, mask = mx.array([3, 1, 1]), mx.array([True, False, True])
    check_grads(fun, [normal(5), index, mask, "name", None])


def test_numbers():
    check_grads(lambda x, n: x**3 * n, [1.5, 2])
    check_grads(lambda x, power: x**power, [mx.array([1.5, 2.5]), 3])


def test_shapes():
    check_grads(lambda x: x * x, [mx.array(3.0)])
    check_grads(lambda x, empty: x * x, [normal(2, 3, 4), mx.zeros((0, 3))])
    check_grads(lambda x: x.T @ x, [normal(3, 2)])
    check_grads(lambda x: mx.sum(x * x), [normal(7)[::2]])


# Outputs


OUTPUTS = {
    "array": lambda a, b: a * b,
    "tuple": lambda a, b: (a * b, mx.exp(a), b.sum()),
    "list": lambda a, b: [a * b, mx.exp(a)],
    "one": lambda a, b: [a * b],
}


@pytest.mark.parametrize("outputs", OUTPUTS.values(), ids=OUTPUTS.keys())
@pytest.mark.parametrize("modes", [["vjp"], ["jvp"], ["vjp", "jvp"]], ids="-".join)
def test_outputs(outputs, modes):
    check_grads(outputs, [normal(4), normal(4, seed=1)], modes=modes)


def test_an_output_that_is_wrong_among_right_ones():
    wrong = with_rule(mx.exp, lambda g: 1.1 * g)
    with pytest.raises(AssertionError):
        check_grads(lambda x: (mx.sin(x), wrong(x), x), [normal(5)])


def test_integer_outputs_have_no_derivative():
    check_grads(lambda x: (x * x, mx.argmax(x)), [mx.array([1.0, 5.0, 2.0])], step=0.01)


# Precision


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
@pytest.mark.parametrize("mode", ["vjp", "jvp"])
def test_half_precision(dtype, mode):
    x = normal(30, dtype=dtype)
    check_grads(smooth, [x], modes=[mode], tolerance=0.05)
    with pytest.raises(AssertionError):
        check_grads(with_rule(smooth, lambda g: -g), [x], modes=[mode], tolerance=0.05)


def test_mixed_precision():
    check_grads(
        lambda a, b: a.astype(mx.float32) * b,
        [normal(9, dtype=mx.float16), normal(9)],
        tolerance=0.05,
    )


def test_results_of_less_precision_than_the_argument():
    for dtype in (mx.float16, mx.bfloat16):
        check_grads(lambda x, dtype=dtype: smooth(x).astype(dtype), [normal(30)], step=0.1)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e6])
def test_results_of_any_size(scale):
    check_grads(lambda x: scale * smooth(x), [normal(30)])
    with pytest.raises(AssertionError):
        check_grads(with_rule(lambda x: scale * smooth(x), lambda g: 1.5 * g), [normal(30)])


def test_a_large_constant_hides_what_is_below_its_rounding():
    """Differences of 1e6 + x know nothing of the last digits: no alarm."""
    check_grads(lambda x: 1e6 + mx.sin(x), [normal(5)])


def test_the_step():
    """Longer for what is noisy, shorter for what bends."""
    check_grads(lambda x: mx.sin(100 * x), [normal(5)], step=1e-3)
    with pytest.raises(AssertionError):
        check_grads(lambda x: mx.sin(100 * x), [normal(5)], step=0.5)


UNARY = [mx.sin, mx.tanh, mx.sigmoid, mx.exp, mx.erf, mx.square, mx.negative, mx.arctan, mx.softmax]
BINARY = [mx.add, mx.multiply, mx.subtract, mx.logaddexp]


@pytest.mark.parametrize("seed", range(50))
def test_no_false_alarm(seed):
    """Random compositions of smooth functions."""
    choices = mx.random.randint(0, 10**6, (8,), key=mx.random.key(seed)).tolist()
    pick = itertools.cycle(choices)

    def fun(x: mx.array, y: mx.array) -> mx.array:
        start = iter(choices)
        for _ in range(3):
            one, two = next(start), next(start)
            x = mx.tanh(BINARY[two % len(BINARY)](UNARY[one % len(UNARY)](x), y))
        return x * (1 + next(start) % 3)

    size = 1 + next(pick) % 40
    check_grads(
        fun, [normal(size, seed=seed), normal(size, seed=seed + 99)], directions=2, seed=seed
    )


def test_the_same_seed_gives_the_same_directions():
    texts = []
    for seed in (1, 1, 2):
        with pytest.raises(AssertionError) as error:
            check_grads(with_rule(smooth, lambda g: -g), [normal(9)], seed=seed)
        texts.append(str(error.value))
    assert texts[0] == texts[1] != texts[2]


# Errors


@pytest.mark.parametrize("args", [[], [mx.array([1, 2])], ["x", None], [mx.zeros((0,))]], ids=str)
def test_nothing_to_differentiate(args):
    with pytest.raises(ValueError, match=r"^\[check_grads\] No argument is an array of a floating"):
        check_grads(lambda *_: mx.array(0.0), args)


def test_unknown_modes():
    with pytest.raises(
        ValueError, match=r"^\[check_grads\] Modes are \"vjp\" and \"jvp\", got \['hvp'"
    ):
        check_grads(smooth, [normal(3)], modes=["vjp", "hvp"])


def test_errors_of_the_function_come_through():
    def fun(x: mx.array) -> mx.array:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        check_grads(fun, [normal(3)])
