"""How many bytes of its outputs a launch is certain to store, from what the compiler wrote down
(analysis/must_store.py). An output that is covered need not be filled first."""

from __future__ import annotations

import json
from itertools import pairwise
from math import prod

from anymetal.targets.base import Extent

#: Larger outputs do not count: an address computed in 32 bits might wrap.
_MOST_BYTES = 1 << 31


def covered_bytes(text: str, grid: Extent, group: Extent) -> dict[int, int]:
    """For covered parameters, by number: how many bytes from 0 on are stored."""
    if any(threads % size for threads, size in zip(grid, group, strict=True)):
        return {}  # smaller threadgroups at the edge
    names: dict[str, int] = {}  #: how many values each name takes on
    factors: dict[str, int] = {}
    for axis, threads, size in zip("xyz", grid, group, strict=True):
        names |= {f"thread_{axis}": size, f"group_{axis}": threads // size}
        factors |= {f"full_size_{axis}": size, f"grid_{axis}": threads}
    result = {}
    for argument, size, offsets, address, iterations in json.loads(text):
        steps = _steps(address, names | iterations, factors)
        if steps is not None and offsets[0] == 0:
            result[argument] = _covered(size, offsets, steps)
    return result


def _steps(
    address: list[tuple[int, list[str]]], names: dict[str, int], factors: dict[str, int]
) -> list[tuple[int, int]] | None:
    """How names move the address, and how many values each has; None if it is no such sum."""
    step = dict.fromkeys(names, 0)
    for factor, product in address:
        moving = [name for name in product if name in names]
        if len(moving) != 1:
            return None
        step[moving[0]] += factor * prod(factors[name] for name in product if name in factors)
    return [(step[name], names[name]) for name in names if step[name] and names[name] > 1]


def _covered(size: int, offsets: list[int], steps: list[tuple[int, int]]) -> int:
    """How many bytes from 0 on are covered by elements at all sums of steps; 0: gaps."""
    distances = {b - a for a, b in pairwise(offsets)}
    if len(distances) > 1:
        return 0
    steps = sorted([*steps, *((distance, len(offsets)) for distance in distances)])
    for step, count in steps:
        if step < 0 or step > size:
            return 0
        size = step * (count - 1) + size
    return size if size < _MOST_BYTES else 0
