"""Products of matrices with vectors, and the stacks of matrices that all products take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.data import (
    DTYPES,
    TYPE,
    Array,
    Random,
    array,
    error,
    random,
    values,
)

_ALPHA, _BETA = 0.75, -1.5


@dataclass(frozen=True)
class Stack:
    """Matrices in memory, and their numbers in an array of NumPy: batch, rows, columns."""

    memory: mx.array
    held: Array
    leading: int  #: elements from a row to the next, or from a column if it is transposed
    batch: list[int]  #: shape
    strides: list[int]  #: of the batch, in elements; 0 where all have the same matrix


def stack(
    rng: Random,
    dtype: str,
    batch: Sequence[int],
    rows: int,
    columns: int,
    transposed: bool = False,
    padding: Sequence[int] = (0, 3),
    shared: bool = True,
) -> Stack:
    """Random matrices. The leading dimension is larger than it must be by one of `padding`."""
    kept = [1 if shared and rng.random() < 0.3 else n for n in batch]
    outer, inner = (columns, rows) if transposed else (rows, columns)
    leading = inner + int(rng.choice(padding))
    memory = random(rng, dtype, (*kept, outer, leading), -1, 1)
    held = values(memory)[..., :inner]
    held = np.swapaxes(held, -1, -2) if transposed else held
    steps = [int(np.prod(kept[axis + 1 :])) * outer * leading for axis in range(len(kept))]
    strides = [0 if n == 1 else step for n, step in zip(kept, steps, strict=True)]
    held = np.broadcast_to(held, (*batch, rows, columns))
    return Stack(memory, held, leading, list(batch), strides)


def numbers(name: str) -> dict[str, int]:
    """What a name says with a letter or two and a number: block sizes, and such."""
    return {key: int(n) for key, n in re.findall(r"_([a-z]+)(\d+)(?=_|$)", name)}


def dtype_of(name: str) -> str:
    """The first type in a name, of the matrices."""
    match = re.search(rf"_{TYPE}(?=_)", name.replace("bool_", "mask"))
    assert match, name
    return match[1]


def threads(groups: Sequence[int], group: Sequence[int]) -> dict[str, Any]:
    """Grid and threadgroup of so many threadgroups."""
    grid = tuple(n * size for n, size in zip(groups, group, strict=True))
    return {"grid": grid, "threadgroup": tuple(group)}


def compared(got: mx.array, a: Array, b: Array, dtype: str, added: Array | float = 0.0) -> float:
    """The error of `a @ b + added`, relative to the sums of sizes: numbers that are added up in
    float32 and rounded to their type in the end, and a factor in front of the sum."""
    want = a @ b + added
    scale = np.abs(a) @ np.abs(b) + np.abs(added)
    return error(got, want, dtype, 8 if dtype in ("float32", "complex64") else 1.01, scale)


def some_blocks(rng: Random, size: int, ragged: bool = True, most: int = 2) -> int:
    """A length of a few blocks, and most of the time a part of one."""
    length = size * int(rng.integers(0 if ragged else 1, most, endpoint=True))
    return length + (int(rng.integers(1, size)) if ragged and size > 1 else 0)


# --- one vector ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Blocks:
    """How a kernel for one vector divides its matrix."""

    transposed: bool
    outputs: int  #: that a threadgroup makes
    inputs: int  #: that a threadgroup takes in a step
    per_thread: int  #: outputs
    group: tuple[int, int, int]

    def sizes(self, rng: Random) -> tuple[int, int]:
        """Numbers of outputs and inputs. One output per thread means that there are under 4."""
        few = self.per_thread == 1
        outputs = int(rng.integers(1, 4)) if few else 4 + some_blocks(rng, self.outputs)
        return outputs, some_blocks(rng, self.inputs)

    def launch(self, outputs: int, batch: int) -> dict[str, Any]:
        return threads((-(-outputs // self.outputs), 1, batch), self.group)


def blocks_of(name: str) -> Blocks:
    """What the name says."""
    n = numbers(name)
    rows, columns = n["bm"] * n["sm"] * n["tm"], n["bn"] * n["sn"] * n["tn"]
    group = (32, n["bn"], n["bm"])
    if name.startswith("gemv_t_"):
        return Blocks(True, columns, rows, n["tn"], group)
    return Blocks(False, rows, columns, n["tm"], group)


def gemv(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`gemv_t_float16_bm1_bn2_sm8_sn4_tm4_tn1_nc1_axpby0`, `gemv_gather_…`, `gemv_wide_…`."""
    if "wide" in name:
        return (_wide_gathered if "gather" in name else _wide)(kernel, name, rng)
    return (_gathered if "gather" in name else _one_vector)(kernel, name, rng)


def _one_vector(kernel: LibraryFunction, name: str, rng: Random) -> float:
    dtype, blocks, flags = dtype_of(name), blocks_of(name), numbers(name)
    outputs, inputs = blocks.sizes(rng)
    batch = [2, 3] if flags["nc"] else [3]
    matrix = stack(rng, dtype, batch, outputs, inputs, blocks.transposed)
    vector = stack(rng, dtype, batch, inputs, 1, padding=[0])
    bias = stack(rng, dtype, batch, outputs, 1)
    got = kernel(
        matrix.memory,
        vector.memory,
        bias.memory,
        ((*batch, outputs, 1), DTYPES[dtype]),
        inputs,
        outputs,
        matrix.leading,
        _ALPHA,
        _BETA,
        len(batch),
        batch,
        vector.strides,
        matrix.strides,
        bias.strides,
        bias.leading,
        **blocks.launch(outputs, int(np.prod(batch))),
    )[0]
    if flags["axpby"]:
        return compared(got, _ALPHA * matrix.held, vector.held, dtype, _BETA * bias.held)
    return compared(got, matrix.held, vector.held, dtype)


@dataclass(frozen=True)
class Picked:
    """Which matrices of two stacks are multiplied, with the strides of the indices."""

    batch: list[int]
    indices: tuple[mx.array, mx.array]
    strides: list[int]
    held: tuple[Array, Array]

    @property
    def count(self) -> int:
        return int(np.prod(self.batch))


def picked(rng: Random, batch: list[int], first: Stack, second: Stack) -> Picked:
    """Indices at random: for the first stack along all of the batch, for the second as well, or
    the same ones along its first axis."""
    whole = [int(np.prod(batch[axis + 1 :])) for axis in range(len(batch))]
    indices, strides, held = [], [], []
    for one, shape in ((first, batch), (second, [1, *batch[1:]] if len(batch) > 1 else batch)):
        places = rng.integers(0, int(np.prod(one.batch)), shape)
        indices.append(array(places, "uint32"))
        strides += [0 if n == 1 else step for n, step in zip(shape, whole, strict=True)]
        flat = one.held.reshape(-1, *one.held.shape[-2:])
        held.append(flat[np.broadcast_to(places, batch)])
    return Picked(batch, (indices[0], indices[1]), strides, (held[0], held[1]))


def _described(one: Stack) -> list[Any]:
    """The batch of a stack as kernels that gather are told of it."""
    return [len(one.batch), one.batch, one.strides]


def _gathered(kernel: LibraryFunction, name: str, rng: Random) -> float:
    dtype, blocks = dtype_of(name), blocks_of(name)
    outputs, inputs = blocks.sizes(rng)
    matrix = stack(rng, dtype, _some_batch(rng), outputs, inputs, blocks.transposed)
    vector = stack(rng, dtype, _some_batch(rng), inputs, 1, padding=[0])
    pick = picked(rng, _some_batch(rng), vector, matrix)
    got = kernel(
        matrix.memory,
        vector.memory,
        vector.memory,  # no bias
        ((*pick.batch, outputs, 1), DTYPES[dtype]),
        inputs,
        outputs,
        matrix.leading,
        0.0,
        0.0,
        len(pick.batch),
        pick.batch,
        pick.strides,
        *_described(vector),
        *_described(matrix),
        *pick.indices,
        **blocks.launch(outputs, pick.count),
    )[0]
    return compared(got, pick.held[1], pick.held[0], dtype)


def _some_batch(rng: Random) -> list[int]:
    return [2, 3] if rng.random() < 0.5 else [int(rng.integers(1, 5))]


# --- a few vectors -------------------------------------------------------------------------------


def _wide_sizes(name: str, rng: Random) -> tuple[int, int, int, dict[str, Any]]:
    """Vectors, outputs, inputs, and the launch for so many matrices: up to 15 vectors are divided
    into passes of 5 and less, with 32 threads for a sum if there is one pass, or few outputs."""
    n = numbers(name)
    passes = int(rng.integers(1, 4)) if n["kl"] == 32 else int(rng.integers(2, 4))
    vectors = max(2, passes * n["nv"] - int(rng.integers(passes)))
    few = n["kl"] == 32 and passes > 1
    outputs = int(rng.integers(2, 64)) if few else int(rng.integers(65, 90))
    inputs = 4 * int(rng.integers(3, 2 * 8 * n["kl"]))
    group = (32, n["kl"] // 8, 1)
    return vectors, outputs, inputs, {"groups": (passes, -(-outputs // 4)), "group": group}


def _wide(kernel: LibraryFunction, name: str, rng: Random) -> float:
    dtype = dtype_of(name)
    vectors, outputs, inputs, sizes = _wide_sizes(name, rng)
    many, added = rng.random(2) < 0.5
    batch = [2, 3] if many else [3]
    matrix = stack(rng, dtype, batch, outputs, inputs, padding=[0, 4])
    x = stack(rng, dtype, batch, vectors, inputs, padding=[0, 4])
    bias = stack(rng, dtype, batch, vectors, outputs)
    got = kernel(
        matrix.memory,
        x.memory,
        bias.memory if added else None,
        ((*batch, vectors, outputs), DTYPES[dtype]),
        inputs,
        outputs,
        vectors,
        matrix.leading,
        x.leading,
        *([_ALPHA, _BETA] if added else [None] * 2),
        len(batch),
        batch,
        x.strides,
        matrix.strides,
        *([bias.strides, bias.leading, 1] if added else [None] * 3),
        constants={"gemv_wide_has_batch": bool(many), "gemv_wide_do_axpby": bool(added)},
        **threads((*sizes["groups"], int(np.prod(batch))), sizes["group"]),
    )[0]
    second = np.swapaxes(matrix.held, -1, -2)
    if added:
        return compared(got, _ALPHA * x.held, second, dtype, _BETA * bias.held)
    return compared(got, x.held, second, dtype)


def _wide_gathered(kernel: LibraryFunction, name: str, rng: Random) -> float:
    dtype = dtype_of(name)
    vectors, outputs, inputs, sizes = _wide_sizes(name, rng)
    matrix = stack(rng, dtype, _some_batch(rng), outputs, inputs, padding=[0, 4])
    x = stack(rng, dtype, _some_batch(rng), vectors, inputs, padding=[0, 4])
    pick = picked(rng, _some_batch(rng), x, matrix)
    got = kernel(
        matrix.memory,
        x.memory,
        x.memory,  # no bias
        ((*pick.batch, vectors, outputs), DTYPES[dtype]),
        inputs,
        outputs,
        vectors,
        matrix.leading,
        x.leading,
        len(pick.batch),
        pick.batch,
        pick.strides,
        *_described(x),
        *_described(matrix),
        *pick.indices,
        constants={"gemv_wide_do_axpby": False},
        **threads((*sizes["groups"], pick.count), sizes["group"]),
    )[0]
    return compared(got, pick.held[0], np.swapaxes(pick.held[1], -1, -2), dtype)
