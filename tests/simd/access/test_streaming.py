"""Results larger than the caches: right wherever they begin, whatever takes part."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.analysis.cache import LaunchFacts
from anymetal.simd import questions
from anymetal.targets.cpu.llvm_target import machine_for
from tests.compiling import known_of
from tests.ir.programs import program

_STORES = {
    "float": ("y[i] = float(i);", 1),
    "float2": ("((device float2*)y)[i] = float2(i, -float(i));", 2),
    "packed_float3": ("((device packed_float3*)y)[i] = packed_float3(i, 1, 2);", 3),
    "float4": ("((device float4*)y)[i] = float4(i, 1, 2, -float(i));", 4),
}


def _expected(name: str, count: int) -> Any:
    i = np.arange(count, dtype=np.float32)
    one = np.ones_like(i)
    columns = {
        "float": [i],
        "float2": [i, -i],
        "packed_float3": [i, one, 2 * one],
        "float4": [i, one, 2 * one, -i],
    }
    return np.stack(columns[name], 1).reshape(-1)


@pytest.mark.parametrize("name", _STORES)
def test_large_results(name: str) -> None:
    body, size = _STORES[name]
    results = machine_for("").streamed_bytes
    count = results // (4 * size) + 77  # just so many that it goes past the caches, with an edge
    kernel = anymetal.metal_kernel(
        name=f"streamed_{name}",
        input_names=[],
        output_names=["y"],
        source="uint i = thread_position_in_grid.x; " + body,
    )
    (y,) = kernel(
        inputs=[],
        grid=(count, 1, 1),
        threadgroup=(96, 1, 1),
        output_shapes=[(count * size,)],
        output_dtypes=[mx.float32],
    )
    assert np.array_equal(np.array(y), _expected(name, count))


_LAUNCH = LaunchFacts(linear=True, aligned=True, flat=False, whole=True)
_NEST = """
    entry:
      %x = call i32 @__am_thread_x()
      %n = load i32, ptr %a
      br label %outer
    outer:
      %o = phi i32 [ 0, %entry ], [ %o.next, %end ]
      br label %inner
    inner:
      %i = phi i32 [ 0, %outer ], [ %i.next, %last ]
      %rows = INDEX
      %at = shl i32 %rows, 10
      %place = add i32 %at, %x
      %here = getelementptr float, ptr %out, i32 %place
      %if = icmp WHERE
      br i1 %if, label %stores, label %last
    stores:
      store float 1.0, ptr %here
      br label %last
    last:
      %i.next = add nuw nsw i32 %i, 1
      %i.again = icmp ult i32 %i.next, 8
      br i1 %i.again, label %inner, label %end
    end:
      %o.next = add nuw nsw i32 %o, 1
      %o.again = icmp ult i32 %o.next, BOUND
      br i1 %o.again, label %outer, label %done
    done:
      store float 2.0, ptr %a
      ret void
"""


@pytest.mark.parametrize(
    ("index", "bound", "where", "times"),
    [
        ("add i32 %i, %o", "10", "eq i32 0, 0", 80),
        ("add i32 %i, 1", "10", "eq i32 0, 0", 8),  # the outer loop stores to the same rows again
        ("add i32 %i, %o", "%n", "eq i32 0, 0", 1),  # nobody knows how often
        ("add i32 %i, %o", "10", "eq i32 %n, 0", 1),  # perhaps never
    ],
)
def test_how_much_a_thread_stores(index: str, bound: str, where: str, times: int) -> None:
    text = _NEST.replace("INDEX", index).replace("BOUND", bound).replace("WHERE", where)
    if where.startswith("eq i32 0"):  # as LLVM would have it
        text = text.replace("br i1 %if, label %stores, label %last", "br label %stores")
    known = known_of(program(text), _LAUNCH, machine=machine_for(""))
    assert [store.name for store in known(questions.streaming)] == [""]
    assert known(questions.streamed_bytes) == 4 * times


def test_rows_that_threads_store_in_a_loop() -> None:
    rows = machine_for("").streamed_bytes // (4 * 1024) // 32 + 1
    kernel = anymetal.metal_kernel(
        name="streamed_rows",
        input_names=[],
        output_names=["y"],
        source="""
            uint x = thread_position_in_threadgroup.x, group = threadgroup_position_in_grid.x;
            for (uint k = 0; k < 32; ++k) {
                uint row = 32 * group + k;
                ((device float4*)y)[row * 256 + x] = float4(row, x, 1, -float(row));
            }
        """,
    )
    (y,) = kernel(
        inputs=[],
        grid=(256 * rows, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[(32 * rows, 256, 4)],
        output_dtypes=[mx.float32],
    )
    row, x = (one[:, :, None] for one in np.mgrid[: 32 * rows, :256].astype(np.float32))
    expected = np.concatenate([row, x, np.ones_like(row), -row], 2)
    assert np.array_equal(np.array(y), expected)
