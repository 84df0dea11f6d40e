"""Iterations of an outer loop that share those of the inner one."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.analysis.cache import Analyses
from anymetal.ir.spec import Stage, check
from anymetal.passes import unroll_and_jam
from anymetal.pipeline.program import thread_program
from anymetal.targets.cpu.variant import gang_width
from tests.frontend.kernels import kernel_source

_HEAD = """
uint i = thread_position_in_grid.x;
float mine[40], sum[40];
#pragma clang loop unroll(disable)
for (int d = 0; d < 40; d++) { mine[d] = a[i * 40 + d]; sum[d] = 0; }
"""
_TAIL = """
float total = 0;
#pragma clang loop unroll(disable)
for (int d = 0; d < 40; d++) total += sum[d] * (d + 1) + mine[d] * (d % 3);
out[i] = total;
"""
_OUTER = "#pragma clang loop unroll(disable)\nfor (int j = 0; j < {}; j++) {{"
_INNER = "\n#pragma clang loop unroll(disable)\nfor (int d = {}; d < 40; d++) "


def _nest(body: str, count: str = "16", first: str = "0", front: str = "", back: str = "") -> str:
    inner = f"{_INNER.format(first)} {{ {body} }}"
    return f"{_HEAD}{_OUTER.format(count)} {front} {inner} {back} }}{_TAIL}"


_JAMMED = {
    "sums of products": _nest("sum[d] += w * b[j * 40 + d];", front="float w = b[j + 7];"),
    "sums weighted by exponentials": _nest(
        "sum[d] += w * b[j * 40 + d];", front="float w = exp(-abs(b[j + 7]));"
    ),
    "dot products": _nest(
        "s += mine[d] * b[j * 40 + d];", front="float s = 0;", back="sum[j] = s * 0.5f;"
    ),
    "two at a time": _nest("sum[d] = mine[d] - sum[d] * b[j + d];", count="6"),
    "a chain behind": _nest(
        "s = max(s, mine[d] * b[j * 40 + d]);", front="float s = 0;",
        back="last = last * 0.5f + s; sum[3] = last;",
    ).replace("float mine", "float last = 1; float mine"),
    "a value of the last": _nest("s += mine[d] * b[j + d];", front="s = b[j];", back="")
    .replace("float mine", "float s = 0; float mine")
    .replace("float total = 0", "float total = s"),
}  # fmt: skip
_LEFT_ALONE = {
    "odd number": _nest("sum[d] += mine[d] * b[j];", count="15"),
    "unknown number": _nest("sum[d] += mine[d] * b[j];", count="b_shape[0] / 64"),
    "other element": _nest("sum[d] += sum[39 - d] * mine[d] * b[j] * 0.01f;"),
    "an element for all": _nest("sum[5] += sum[d] * mine[d] * b[j] * 0.01f;"),
    "front reads it": _nest("sum[d] += w * mine[d];", front="float w = sum[j] * 0.1f + b[j];"),
    "back writes it": _nest("sum[d] += b[j] * mine[d];", back="sum[j] = 1;"),
    "back writes what is read": _nest("sum[d] += b[j] * mine[d];", back="mine[j] = b[j];"),
    "next needs the sum": _nest(
        "s += mine[d] * b[j + d];", front="s *= 0.5f;", back="sum[j] = s;"
    ).replace("float mine", "float s = 1; float mine"),
    "triangle": _nest("sum[d] += b[j] * mine[d];", first="j"),
    "other lanes": _nest("sum[d] += simd_shuffle_xor(mine[d], ushort(1)) * b[j];"),
}


def _products(body: str) -> tuple[int, int]:
    """How many multiplications there are in the program before, and after."""
    source = kernel_source(body, inputs={"a": mx.zeros((64, 40)), "b": mx.zeros(1024)})
    program = thread_program(source)

    def count() -> int:
        return sum(i.op == "call" and i.arg.startswith("llvm.fmul") for i in program.instructions())

    before = count()
    unroll_and_jam.run(Analyses(program))
    check(program, Stage.GUARDED)
    return before, count()


@pytest.mark.parametrize("name", _JAMMED)
def test_jammed(name: str) -> None:
    before, after = _products(_JAMMED[name])
    assert after > before


@pytest.mark.parametrize("name", _LEFT_ALONE)
def test_left_alone(name: str) -> None:
    before, after = _products(_LEFT_ALONE[name])
    assert after == before


@pytest.mark.parametrize("name", [*_JAMMED, *_LEFT_ALONE])
def test_same_results(name: str) -> None:
    """Bit by bit: no sum is added in another order."""
    kernel = anymetal.metal_kernel(
        name="nest",
        input_names=["a", "b"],
        output_names=["out"],
        source=(_JAMMED | _LEFT_ALONE)[name],
    )
    a, b = (mx.random.normal(shape, key=mx.random.key(3)) for shape in ((64, 40), (1024,)))
    results = []
    for width in (1, 32):
        with gang_width(width):
            (out,) = kernel(
                inputs=[a, b],
                output_shapes=[(64,)],
                output_dtypes=[mx.float32],
                grid=(64, 1, 1),
                threadgroup=(64, 1, 1),
            )
            results.append(np.array(out))
    np.testing.assert_array_equal(*results)
