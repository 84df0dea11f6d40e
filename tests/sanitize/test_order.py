"""Other orders: what they are, and how outputs are compared."""

from __future__ import annotations

import mlx.core as mx
import pytest

import anymetal
from anymetal.sanitizer.order import differences, other_orders
from tests.sanitize.fake import finding, raw, twice


def test_orders_are_permutations_and_follow_from_the_seed() -> None:
    orders = other_orders(100, 7)
    for order in orders:
        assert sorted(order.groups) == list(range(100))
        assert sorted(order.simdgroups) == list(range(32))
    assert list(orders[0].groups) == list(range(100))[::-1]
    assert [list(one.groups) for one in other_orders(100, 7)] == [list(o.groups) for o in orders]
    assert [list(one.groups) for one in other_orders(100, 8)] != [list(o.groups) for o in orders]


@pytest.mark.parametrize(
    "dtype",
    [mx.bool_, mx.uint8, mx.int16, mx.float16, mx.bfloat16, mx.float32, mx.int64, mx.complex64],
)
def test_differences(dtype: mx.Dtype) -> None:
    one = mx.zeros((3, 4), dtype)
    two = mx.array([0] * 5 + [1, 0, 1] + [0] * 4).astype(dtype).reshape(3, 4)
    assert differences([one], [mx.array(one)]) == []
    (found,) = differences([one, one], [one, two])
    assert (found.output, found.element, found.number) == (1, 5, 2)
    assert found.values[0] != found.values[1]


def test_bits_count_and_not_values() -> None:
    nan, zero = mx.array(float("nan")), mx.array([0.0])
    assert not differences([nan], [mx.array(nan)])
    assert differences([zero], [-zero])
    assert not differences([mx.zeros((0,))], [mx.zeros((0,))])


def test_launches_run_again_in_other_orders() -> None:
    x = mx.arange(100.0)
    with finding() as plans, anymetal.sanitize(order="shuffle", seed=3) as found:
        y = twice()(x)
    (plan,) = plans
    expected = other_orders(4, 3)
    assert plan.runs == [None, *((one.groups, one.simdgroups) for one in expected)]
    assert y.tolist() == (2 * x).tolist() and not found.findings and found.seed == 3
    assert "seed 3" in found.text()


def test_seeds_are_drawn_and_told() -> None:
    with finding(), anymetal.sanitize(order="shuffle") as one:
        pass
    with finding(), anymetal.sanitize(order="shuffle") as two:
        pass
    assert one.seed != two.seed and f"seed {one.seed}" in one.text()


APPEND = """
    uint i = thread_position_in_grid.x;
    int slot = atomic_fetch_add_explicit((device atomic_int*)n, 1, memory_order_relaxed);
    y[slot] = i;
"""


def test_a_seed_gives_the_same_orders_and_values_again() -> None:
    kernel = anymetal.metal_kernel(
        name="append", input_names=[], output_names=["n", "y"], source=APPEND
    )

    def values(seed: int) -> list[object]:
        with anymetal.sanitize("report", order="shuffle", seed=seed) as found:
            kernel(
                inputs=[], grid=(256, 1, 1), threadgroup=(64, 1, 1), output_shapes=[(1,), (256,)],
                output_dtypes=[mx.int32] * 2, init_value=0,
            )  # fmt: skip
        assert {one.code for one in found.findings} == {"order-dependent"}
        return [(one.details["values"], one.details["index"]) for one in found.findings]

    assert values(1) == values(1)


def test_what_other_orders_find_again_does_not_count() -> None:
    with finding(raw("shift-count")), anymetal.sanitize("report", order="shuffle") as found:
        twice()(mx.arange(8.0))
    assert [one.count for one in found.findings] == [1]
