"""Which accesses become tiles: a few runs of memory, known from the lane numbers."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.analysis.cache import LaunchFacts
from anymetal.simd import questions
from tests.compiling import planned
from tests.ir.programs import program
from tests.ir.short import llvm

#: Rows of eight lanes; %n is a number that all lanes have in common.
_ENTRY = """
lane = lane()
row = lane >> 3
column = lane & 7
n = shape[0]
"""
_ARGS = "ptr %a, ptr %b, ptr %shape, ptr %out, ptr %to"
FLAT = LaunchFacts(linear=True, aligned=False, flat=True)


def tiles(body: str) -> list[tuple[str, int, list[int]]]:
    """Operation, number of members and lengths of the runs."""
    kernel = program(llvm(f"{_ENTRY}{body}\nret void", {"shape": "i32", "b": "i32"}), _ARGS)
    found = dict.fromkeys(planned(kernel, FLAT)(questions.tiles).values())
    return [(x.anchor.op, len(x.members), [len(r.cells) for r in x.runs]) for x in found]


def sum_of(index: str, count: int) -> str:
    """The sum of neighbouring elements is stored."""
    terms = " + ".join(f"a[at + {k}]" for k in range(count))
    return f"at = {index}\nout[lane] = {terms}"


_LOOP = f"""
    first = thread_x()
    br label %before
    before:
    br label %loop
    loop:
    %i = phi i32 [ %first, %before ], [ %next, %loop ]
    {sum_of("(i >> 3) * n + ((i << 2) & 28)", 4)}
    next = i + 128
    more = next < 512
    br i1 %more, label %loop, label %end
    end:
"""
_BACKWARDS = """
    %wide = zext i32 %row to i64
    %size = sext i32 %n to i64
    %start = mul i64 %wide, %size
    back = 7 - column
    %far = sext i32 %back to i64
    %at = add i64 %start, %far
    %p = getelementptr float, ptr %a, i64 %at
    %v = load float, ptr %p
    out[lane] = v
"""
_WRAPS = """
    at = n + column
    %low = trunc i32 %at to i8
    %wrapped = zext i8 %low to i32
    out[lane] = a[row * n + wrapped]
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("out[lane] = a[row * n + column]", [("load", 1, [8] * 4)]),
        ("out[column * n + row] = a[lane]", [("store", 1, [4] * 8)]),
        (_BACKWARDS, [("load", 1, [8] * 4)]),
        ("out[lane] = a[row * 40 + column]", [("load", 1, [8] * 4)]),
        # Two elements a lane make a row of 16.
        (sum_of("row * n + 2 * column", 2), [("load", 2, [16] * 4)]),
        # One of them alone leaves gaps.
        ("out[lane] = a[row * n + 2 * column]", []),
        # Elements that several lanes read: alone, or in rows that several lanes have.
        ("out[lane] = a[row * n]", [("load", 1, [1] * 4)]),
        (sum_of("row * n", 2), [("load", 1, [1] * 4)] * 2),
        ("out[lane] = a[(row >> 1) * n + column]", [("load", 1, [8] * 2)]),
        ("out[row * n] = a[lane]", []),
        # Runs that are too short.
        ("out[lane] = a[(lane >> 1) * n + (lane & 1)]", []),
        # A thread's index where the first lane's is a multiple of 32.
        ("i = thread_x()\nout[i] = a[(i >> 3) * n + (i & 7)]", [("load", 1, [8] * 4)]),
        # Also in steps of the threadgroup, with four elements a lane.
        (_LOOP, [("load", 4, [32] * 4)]),
        ("i = thread_x() << 2\n" + sum_of("(i & -16) * n + (i & 15)", 4),
         [("load", 4, [16] * 8)]),
        (_WRAPS, []),
        # Nothing is known of the row.
        ("out[lane] = a[b[lane] * n + column]", []),
        # A store between the loads of a row may change the second.
        ("i = row * n + 2 * column\nto[i] = out[i]\nout[lane] = out[i + 1]", []),
    ],
)  # fmt: skip
def test_tiles(body: str, expected: list[tuple[str, int, list[int]]]) -> None:
    assert tiles(body) == expected


def test_addresses_from_an_outer_block() -> None:
    """Uniform parts of the address are computed before the loop."""
    kernel = anymetal.metal_kernel(
        name="tile_walk",
        input_names=["x", "stride"],
        output_names=["y"],
        source="""
        uint lane = thread_index_in_simdgroup, row = lane / 8, column = lane % 8;
        if (threadgroup_position_in_grid.x > 2) return;
        float sum = 0;
        const device float* from = x + row * (stride + 1) + column;
        for (uint k = 0; k < 5; k++, from += 4 * stride) {
          if (k != 3) sum += from[0];
        }
        y[thread_position_in_grid.x] = sum;
        """,
    )
    x = np.arange(2000, dtype=np.float32)
    (y,) = kernel(
        inputs=[mx.array(x), mx.array(20)],
        output_shapes=[(32,)],
        output_dtypes=[mx.float32],
        grid=(32, 1, 1),
        threadgroup=(32, 1, 1),
    )
    lane = np.arange(32)
    first = lane // 8 * 21 + lane % 8
    np.testing.assert_array_equal(np.array(y), sum(x[first + 80 * k] for k in (0, 1, 2, 4)))


def test_which_tiles_lie_side_by_side() -> None:
    """Eight columns behind each other, in rows that are as far apart."""
    texts = (f"v{k} = a[row * 48 + column + {at}]" for k, at in enumerate((0, 8, 12, 20, 36)))
    rows = (f"w{k} = a[row * {stride} + column + 8]" for k, stride in enumerate((44, 52)))
    terms = " + ".join([*(f"v{k}" for k in range(5)), "w0", "w1"])
    body = "\n".join([*texts, *rows, f"out[lane] = {terms}"])
    kernel = program(llvm(f"{_ENTRY}{body}\nret void", {"shape": "i32"}), _ARGS)
    found = [*dict.fromkeys(planned(kernel, FLAT)(questions.tiles).values())]
    assert [(i, k) for i, a in enumerate(found) for k, b in enumerate(found) if a.goes_on(b)] == [
        (0, 1),
        (2, 3),
    ]
