"""What generators share: data for arrays, launches, the usual frame of a kernel."""

from __future__ import annotations

import random
from math import prod

import numpy as np

from anymetal.testing.lockstep.case import ELEMENTS, Case, Data, Extent, Input, Output
from anymetal.testing.lockstep.text import BITS, Text

#: Launches of few threads: whole SIMD-groups, edges, odd sizes, several rows.
SMALL: tuple[tuple[Extent, Extent], ...] = (
    ((64, 1, 1), (32, 1, 1)),
    ((128, 1, 1), (64, 1, 1)),
    ((256, 1, 1), (256, 1, 1)),
    ((96, 1, 1), (96, 1, 1)),
    ((100, 1, 1), (32, 1, 1)),
    ((77, 1, 1), (77, 1, 1)),
    ((130, 1, 1), (64, 1, 1)),
    ((40, 1, 1), (7, 1, 1)),
    ((5, 1, 1), (5, 1, 1)),
    ((32, 4, 1), (32, 2, 1)),
    ((32, 8, 1), (16, 8, 1)),
    ((16, 16, 1), (8, 8, 1)),
    ((64, 3, 2), (32, 1, 2)),
    ((33, 6, 1), (33, 3, 1)),
    ((16, 8, 8), (8, 8, 4)),
    ((20, 5, 3), (4, 4, 2)),
    ((9, 2, 1), (1, 1, 1)),
    ((128, 2, 1), (128, 2, 1)),
)

#: The number of a thread in the grid, which every output has room for.
GID = (
    "uint gid = thread_position_in_grid.x + threads_per_grid.x * "
    "(thread_position_in_grid.y + threads_per_grid.y * thread_position_in_grid.z);"
)

#: The number of threads in the threadgroup, smaller at the edge of the grid.
THREADS = (
    "uint n = threads_per_threadgroup.x * threads_per_threadgroup.y * threads_per_threadgroup.z;"
)


def integers(rng: random.Random, element: str, size: int) -> Data:
    """Numbers of all magnitudes, and the extremes."""
    numbers = np.random.default_rng(rng.getrandbits(64))
    dtype = ELEMENTS[element]
    bits = BITS[element]
    data = numbers.integers(0, 2**63, size, dtype=np.uint64)
    data ^= data << np.uint64(1)
    shift = numbers.integers(0, bits, size, dtype=np.uint64)
    data = (data & np.uint64(2**bits - 1)) >> np.where(numbers.random(size) < 0.5, shift, 0)
    data = np.where(numbers.random(size) < 0.3, np.uint64(0) - data, data)
    extremes = np.array([2 ** (bits - 1) - 1, 2 ** (bits - 1), 0, 2**bits - 1], np.uint64)
    if size >= 8:
        data[:: size // 4][:4] = extremes
    result: Data = data.astype(dtype)
    return result


def input_of(rng: random.Random, name: str, element: str, size: int) -> Input:
    """An array of random integers."""
    return Input(name, element, integers(rng, element, size))


def launch(rng: random.Random) -> tuple[Extent, Extent]:
    """A grid and a threadgroup."""
    return rng.choice(SMALL)


def starts(text: Text, inputs: list[Input], count: int = 3) -> None:
    """The number of the thread, and variables with loaded values."""
    text.line(GID)
    for array in inputs[:count]:
        size = array.data.size
        text.declare(array.element, f"{array.name}[gid % {size}u]", "a")


def element_leaf(text: Text, inputs: list[Input]) -> None:
    """Lets expressions load elements at places that follow from data, in range."""

    def leaf(type_: str) -> str | None:
        if not inputs:
            return None
        array = text.rng.choice(inputs)
        size = array.data.size
        inner = text.variable(*BITS)
        if inner is None:
            return None
        return f"{array.name}[(uint)({inner} + {text.rng.randrange(size)}u) % {size}u]"

    text.leaves.append(leaf)


def finish(
    text: Text, inputs: list[Input], grid: Extent, threadgroup: Extent, **more: object
) -> Case:
    """Stores what there is: a mixture of everything, and a few variables as they are."""
    threads = prod(grid)
    outputs = [Output("y", "uint", threads)]
    text.line(f"y[gid] = {text.mixed()};")
    candidates = [v for v in text.variables if v.type in BITS]
    for number, variable in enumerate(text.rng.sample(candidates, min(2, len(candidates)))):
        outputs.append(Output(f"y{number}", variable.type, threads))
        text.line(f"y{number}[gid] = {variable.name};")
    return Case(
        "",
        "",
        0,
        text.body,
        tuple(inputs),
        tuple(outputs),
        grid,
        threadgroup,
        **more,  # type: ignore[arg-type]
    )
