"""Which accesses become tiles: a few runs of memory, known from the lane numbers."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.analysis.lane_numbers import LaneNumbers
from anymetal.ir import types as t
from anymetal.ir.model import Const, Instr, Value
from anymetal.simd import questions
from tests.analysis.shapes import analyse

_PLACE = "uint lane = thread_index_in_simdgroup, row = lane / 8, column = lane % 8;"


def tiles(body: str) -> list[tuple[str, int, list[int]]]:
    """Operation, number of members and lengths of the runs."""
    found = dict.fromkeys(analyse(_PLACE + body)(questions.tiles).values())
    return [(x.anchor.op, len(x.members), [len(r.cells) for r in x.runs]) for x in found]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("out[lane] = a[row * n + column];", [("load", 1, [8] * 4)]),
        ("out[column * n + row] = a[lane];", [("store", 1, [4] * 8)]),
        ("out[lane] = a[(ulong)row * n + (7 - column)];", [("load", 1, [8] * 4)]),
        ("out[lane] = a[row * 40 + column];", [("load", 1, [8] * 4)]),
        # Two elements a lane make a row of 16.
        (
            "uint i = row * n + 2 * column; out[lane] = a[i] + a[i + 1];",
            [("load", 2, [16] * 4)],
        ),
        # One of them alone leaves gaps.
        ("out[lane] = a[row * n + 2 * column];", []),
        # Elements that several lanes read: alone, or in rows that several lanes have.
        ("out[lane] = a[row * n];", [("load", 1, [1] * 4)]),
        ("out[lane] = a[row * n] + a[row * n + 1];", [("load", 1, [1] * 4)] * 2),
        ("out[lane] = a[row / 2 * n + column];", [("load", 1, [8] * 2)]),
        ("out[row * n] = a[lane];", []),
        # Runs that are too short.
        ("out[lane] = a[lane / 2 * n + lane % 2];", []),
        # A thread's index where the first lane's is a multiple of 32.
        (
            "uint i = thread_position_in_threadgroup.x; out[i] = a[i / 8 * n + i % 8];",
            [("load", 1, [8] * 4)],
        ),
        # Also in steps of the threadgroup, with four elements a lane.
        (
            "for (uint i = thread_index_in_threadgroup; i < 512; i += 128) { float4 v = "
            "((const device float4*)(a + i / 8 * n + i % 8 * 4))[0]; out[i] = dot(v, v); }",
            [("load", 4, [32] * 4)],
        ),
        (
            "uint i = 4 * thread_position_in_threadgroup.x; float4 v = "
            "((const device float4*)(a + (i & ~15) * n + i % 16))[0]; out[i] = dot(v, v);",
            [("load", 4, [16] * 8)],
        ),
        # A place that may wrap at 256.
        ("out[lane] = a[row * n + uchar(n + column)];", []),
        # Nothing is known of the row.
        ("out[lane] = a[b[lane] * n + column];", []),
    ],
)
def test_tiles(body: str, expected: list[tuple[str, int, list[int]]]) -> None:
    assert tiles(body) == expected


def test_a_store_in_between_separates() -> None:
    body = "uint i = row * n + 2 * column; float x = out[i]; a_[i] = x; out[lane] = out[i + 1];"
    assert tiles(body.replace("a_", "to")) == []


def test_addresses_from_an_outer_block() -> None:
    """Uniform parts of the address are computed before the loop."""
    kernel = anymetal.metal_kernel(
        name="tile_walk",
        input_names=["x", "stride"],
        output_names=["y"],
        source=f"""
        {_PLACE}
        if (threadgroup_position_in_grid.x > 2) return;
        float sum = 0;
        const device float* from = x + row * (stride + 1) + column;
        for (uint k = 0; k < 5; k++, from += 4 * stride) {{
          if (k != 3) sum += from[0];
        }}
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


@pytest.mark.parametrize(
    ("op", "operands", "type_", "expected"),
    [
        ("sub", (0, 1), t.I32, 2**32 - 1),
        ("zext", (0,), t.I64, 5),
        ("sext", (-3,), t.I64, 2**64 - 3),
        ("trunc", (300,), t.I8, 44),
        ("shl", (3, 31), t.I32, 2**31),
    ],
)
def test_lane_numbers(op: str, operands: tuple[int, ...], type_: t.Type, expected: int) -> None:
    source = t.I32
    values: list[Value] = [Const(source, str(n if op != "zext" else 5)) for n in operands]
    instr = Instr(type_, op, values)
    assert LaneNumbers([instr], 32)(instr) == (expected,) * 32
