"""The pairs of `anymetal spot`: kernels that do the same in two or more ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import mlx.core as mx

from anymetal.kernel import metal_kernel
from anymetal.metal_files import read

Extent = tuple[int, int, int]


@dataclass(frozen=True)
class Way:
    """One way to do it; `run` launches and waits."""

    name: str
    run: Callable[[], mx.array]


@dataclass(frozen=True)
class Pair:
    """Ways to the same result; the first one is what the others are compared with."""

    name: str
    ways: Sequence[Way]
    lesson: str  #: what it teaches, in a sentence


def division() -> Pair:
    """Integer division against a 2-D grid."""
    height, width = 512, 1000
    x, rows, columns = _floats(height, width), _floats(height), _floats(width)
    way = partial(_way, inputs={"x": x, "rows": rows, "columns": columns}, shape=x.shape)
    return Pair(
        "division",
        [
            way("2-D grid", "division_grid", grid=(width, height, 1), threadgroup=(256, 1, 1)),
            way("i / width, i % width", "division_flat", grid=(x.size, 1, 1)),
        ],
        "Let the grid tell rows and columns: SIMD units have no integer division, so one by a "
        "number that is not a constant takes several instructions.",
    )


def barriers() -> Pair:
    """What a barrier costs, by the memory that it orders."""
    x = _floats(1 << 16)
    way = partial(_way, file="barrier", inputs={"x": x}, shape=x.shape, grid=(x.size, 1, 1))
    scopes = ("mem_none", "mem_threadgroup", "mem_device")
    return Pair(
        "barriers",
        [
            way("no barrier", header="#define SCOPED_BARRIER"),
            *(
                way(
                    scope,
                    header=f"#define SCOPED_BARRIER threadgroup_barrier(mem_flags::{scope})",
                )
                for scope in scopes
            ),
        ],
        "On the CPU it does not matter which memory a barrier names. Waiting is free where the "
        "compiler runs SIMD-groups as one; elsewhere a barrier is a change from one to the next.",
    )


def half() -> Pair:
    """Half storage with float accumulation, beyond the caches."""
    x = mx.random.randint(0, 8, (4096, 4096), key=mx.random.key(7))
    way = partial(_way, file="row_sums", shape=(4096,), grid=(32, 4096, 1), threadgroup=(32, 1, 1))
    return Pair(
        "half",
        [
            way("float numbers", inputs={"x": x.astype(mx.float32)}),
            way("half numbers, float sums", inputs={"x": x.astype(mx.float16)}),
        ],
        "Where memory is the limit, half the bytes take down to half the time; sums stay float, so "
        "nothing is lost but the rounding of the inputs.",
    )


def private() -> Pair:
    """Private arrays with indices that are known only at run time."""
    threads = 1 << 14
    x = mx.random.randint(0, 8, (128, threads), key=mx.random.key(7))
    way = partial(_way, inputs={"x": x}, shape=(8, threads), dtype=mx.int32, grid=(threads, 1, 1))
    return Pair(
        "private arrays",
        [
            way("constant indices", "private_constant"),
            way("indices from data", "private_indexed"),
        ],
        "An array whose indices are all constants lives in registers; one with an index from data "
        "lives in memory, where every lane goes its own way.",
    )


def loads() -> Pair:
    """One address for all lanes, neighbours, and addresses far apart."""
    table = mx.random.randint(-1000, 1000, (1024,), key=mx.random.key(7))
    way = partial(
        _way,
        file="table_sums",
        inputs={"table": table},
        shape=(1 << 14,),
        dtype=mx.int32,
        grid=(1 << 14, 1, 1),
    )
    return Pair(
        "loads",
        [
            way("uniform: table[k]", header="#define PLACE k"),
            way("neighbours: table[k + i]", header="#define PLACE (k + i)"),
            way("varying: table[k + 33 * i]", header="#define PLACE (k + 33 * i)"),
        ],
        "A load of one address for the whole SIMD-group is a scalar load, one of neighbours a "
        "vector load; addresses far apart are read lane by lane.",
    )


def atomics() -> Pair:
    """Atomics against a SIMD reduction first."""
    # The same number 512 times: 16 sums for 32 threads each are then 16 sums for every 16th one.
    # They are whole, so float sums are exact in any order.
    numbers = mx.random.randint(-100, 100, (1 << 12,), key=mx.random.key(7))
    x = mx.repeat(numbers.astype(mx.float32), 512)
    way = partial(
        _way,
        inputs={"x": x},
        shape=(16,),
        grid=(x.size, 1, 1),
        init_value=0,
        atomic=True,
    )
    return Pair(
        "atomics",
        [
            way("simd_sum, one atomic", "atomic_reduced"),
            way("each thread, one sum", "atomic_each", header="#define PLACE (i / 32)"),
            way("each thread, 16 sums", "atomic_each", header="#define PLACE i"),
        ],
        "Add within the SIMD-group before you add to memory. On the CPU the compiler does so "
        "itself where all lanes have one address.",
    )


PAIRS = (division, barriers, half, private, loads, atomics)


def _floats(*shape: int) -> mx.array:
    return mx.random.uniform(shape=shape, key=mx.random.key(7))


def _way(
    name: str,
    file: str,
    *,
    inputs: dict[str, mx.array],
    shape: tuple[int, ...],
    grid: Extent,
    threadgroup: Extent = (256, 1, 1),
    dtype: mx.Dtype = mx.float32,
    header: str = "",
    init_value: float | None = None,
    atomic: bool = False,
) -> Way:
    mx.eval(list(inputs.values()))
    kernel = metal_kernel(
        name=f"spot_{file}",
        input_names=list(inputs),
        output_names=["out"],
        source=read("cli/spot", file),
        header=header,
        atomic_outputs=atomic,
    )

    def run() -> mx.array:
        (out,) = kernel(
            inputs=list(inputs.values()),
            output_shapes=[shape],
            output_dtypes=[dtype],
            grid=grid,
            threadgroup=threadgroup,
            init_value=init_value,
        )
        mx.eval(out)
        return out

    return Way(name, run)
