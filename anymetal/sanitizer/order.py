"""Other orders of threadgroups and SIMD-groups, and the comparison of what comes out.

A launch runs once as always, then in reversed order, which turns around every pair, then in orders
that the seed draws. Whatever differs in one bit depends on the order.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple, cast

import mlx.core as mx

_DRAWN = 2  #: orders beside the reversed one
_SIMD_GROUPS = 32  #: a threadgroup has at most so many


class Order(NamedTuple):
    """An order in which a launch runs."""

    name: str
    groups: Sequence[int]  #: the numbers of all threadgroups
    simdgroups: Sequence[int]  #: the numbers of 32; a threadgroup leaves out what it has not


class Difference(NamedTuple):
    """The first element of an output in which two runs differ."""

    output: int
    element: int
    values: tuple[str, str]
    number: int  #: of elements that differ


def other_orders(groups: int, seed: int) -> list[Order]:
    """The orders to run a launch of so many threadgroups in. The same ones for the same seed."""
    draw = random.Random(seed)
    simdgroups = range(_SIMD_GROUPS)
    orders = [Order("reversed", range(groups)[::-1], simdgroups[::-1])]
    for number in range(_DRAWN):
        shuffled = draw.sample(range(groups), groups)
        orders.append(Order(f"drawn {number}", shuffled, draw.sample(simdgroups, _SIMD_GROUPS)))
    return orders


def differences(first: Sequence[mx.array], other: Sequence[mx.array]) -> list[Difference]:
    """Of each output, where the bits of two runs differ."""
    found = []
    for number, (one, two) in enumerate(zip(first, other, strict=True)):
        unequal = _bits(one) != _bits(two)
        count = cast(int, mx.sum(unequal, stream=mx.cpu).item())
        if count:
            element = cast(int, mx.argmax(unequal, stream=mx.cpu).item())
            values = (_value(one, element), _value(two, element))
            found.append(Difference(number, element, values, count))
    return found


_WORDS = {1: mx.uint8, 2: mx.uint16, 4: mx.uint32, 8: mx.uint64}


def _bits(array: mx.array) -> mx.array:
    flat = mx.reshape(array, (-1,), stream=mx.cpu)
    return mx.view(flat, _WORDS[array.itemsize], stream=mx.cpu)


def _value(array: mx.array, element: int) -> str:
    value = mx.reshape(array, (-1,), stream=mx.cpu)[element]
    return str(value.item())
