"""Iterations of an outer loop that share those of the inner one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from anymetal.analysis.cache import Analyses
from anymetal.ir.model import Block, Program
from anymetal.ir.printer import print_program
from anymetal.ir.spec import Stage, check
from anymetal.machine import Machine
from anymetal.passes import unroll_and_jam
from tests.ir.programs import program, run_program
from tests.ir.short import llvm

_ARGS = "ptr %a, ptr %b, ptr %shape, ptr %out"
#: Two private arrays are filled, changed by a nest of two loops, and summed up.
_PROGRAM = """
%mine = alloca [40 x float]
%sum = alloca [40 x float]
limit = shape[0]
br label %fill
fill:
%f = phi i64 [ 0, %entry ], [ %f_next, %fill ]
mine[f] = a[f]
sum[f] = 0
f_next = f + 1
f_more = f_next < 40
br i1 %f_more, label %fill, label %start
start:
br label %front
front:
%j = phi i64 [ 0, %start ], [ %j_next, %back ]
%carried = phi float [ 1.0, %start ], [ %kept, %back ]
FRONT
br label %inner
inner:
%d = phi i64 [ FIRST, %front ], [ %d_next, %inner ]
%s = phi float [ START, %front ], [ %t, %inner ]
BODY
d_next = d + 1
d_more = d_next < 40
br i1 %d_more, label %inner, label %back
back:
%last = phi float [ %t, %inner ]
BACK
j_next = j + 1
j_more = j_next < COUNT
br i1 %j_more, label %front, label %behind
behind:
%result = phi float [ %kept, %back ]
br label %add
add:
%k = phi i64 [ 0, %behind ], [ %k_next, %add ]
%total = phi float [ %result, %behind ], [ %total_next, %add ]
total_next = fmuladd(sum[k], b[k], fmuladd(mine[k], b[k + 100], total))
k_next = k + 1
k_more = k_next < 40
br i1 %k_more, label %add, label %end
end:
%all = phi float [ %total_next, %add ]
out[0] = all
ret void
"""


class Nest(NamedTuple):
    """Parts of the two loops: the inner one makes `t` of `s`, the outer one `kept` of `carried`."""

    body: str
    front: str = ""
    back: str = ""
    count: str = "16"
    first: str = "0"
    start: str = "0.0"

    def program(self) -> Program:
        text = _PROGRAM
        body = self.body if self.body.startswith("t = ") else f"{self.body}\nt = s + 0"
        back = self.back if "kept = " in self.back else f"{self.back}\nkept = carried + last"
        parts = {"FRONT": self.front, "FIRST": self.first, "START": self.start, "BODY": body,
                 "BACK": back, "COUNT": self.count}  # fmt: skip
        for name, part in parts.items():
            text = text.replace(name, part)
        return program(llvm(text, {"shape": "i64"}), _ARGS)


_SUMS = "sum[d] = fmuladd(b[j], mine[d], sum[d])"
_DOT = "t = fmuladd(mine[d], b[j * 40 + d], s)"
_JOINED = {
    "sums of products": (Nest("sum[d] = fmuladd(w, b[j * 40 + d], sum[d])", "w = b[j + 7]"), 4),
    "sums weighted by exponentials": (
        Nest("sum[d] = fmuladd(w, b[j * 40 + d], sum[d])", "w = exp(b[j + 7])"),
        4,
    ),
    "dot products": (Nest(_DOT, back="sum[j] = last * 0.5"), 4),
    "two at a time": (Nest("sum[d] = fmuladd(sum[d], b[j + d], mine[d])", count="6"), 2),
    "a chain behind": (Nest(_DOT, back="kept = carried * 0.5 + last\nsum[3] = kept"), 4),
    "a value of the last": (Nest(_DOT, "v = b[j]", "kept = last + 0", start="%v"), 4),
}
_LEFT_ALONE = {
    "odd number": Nest(_SUMS, count="15"),
    "unknown number": Nest(_SUMS, count="limit"),
    "other element": Nest("at = 39 - d\nsum[d] = fmuladd(sum[at], mine[d], sum[d])"),
    "an element for all": Nest("sum[5] = fmuladd(sum[d], mine[d], sum[5])"),
    "front reads it": Nest("sum[d] = fmuladd(w, mine[d], sum[d])", "w = sum[j] * 0.125 + b[j]"),
    "front writes what is read": Nest(_SUMS, "out[j] = 1"),
    "back writes it": Nest(_SUMS, back="sum[j] = 1"),
    "back writes what is read": Nest(_SUMS, back="mine[j] = b[j]"),
    "next needs the sum": Nest(_DOT, "v = carried * 0.5", "kept = last + 0", start="%v"),
    "triangle": Nest(_SUMS, first="%j"),
    "other lanes": Nest(
        "%m = call i32 @__am_shuffle(i32 7, i32 1)\n%x = sitofp i32 %m to float\n" + _SUMS
    ),
    "nothing is shared": Nest("t = fmuladd(b[j * 40 + d], b[j * 50 + d], s)"),
}


def products(kernel: Program) -> int:
    """The multiplications in an iteration of the inner loop."""
    inner = next(block for block in kernel.blocks if _name(block) == "inner")
    return sum(i.op == "call" and i.arg.startswith("llvm.fmul") for i in inner.instrs)


def _name(block: Block) -> str:
    return block.name.strip("%")


@pytest.mark.parametrize("name", _JOINED)
def test_joined(name: str) -> None:
    """Results are the same bit by bit: no sum is added in another order."""
    nest, factor = _JOINED[name]
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(1024).astype(np.float32) for _ in range(2))
    results = []
    for joins in (False, True):
        kernel = nest.program()
        before = products(kernel)
        if joins:
            assert unroll_and_jam.run(Analyses(kernel))
            check(kernel, Stage.GUARDED)
            assert products(kernel) == factor * before
        out, shape = np.zeros(8, np.float32), np.full(8, 16, np.int64)
        run_program(kernel, [array.view(np.uint8) for array in (a, b, shape, out)])
        results.append(out)
    assert results[0][0] != 0 and results[0].tobytes() == results[1].tobytes()


@pytest.mark.parametrize("name", _LEFT_ALONE)
def test_left_alone(name: str) -> None:
    kernel = _LEFT_ALONE[name].program()
    before = print_program(kernel)
    assert not unroll_and_jam.run(Analyses(kernel))
    assert print_program(kernel) == before


_LANE = "%lane = call i32 @__am_lane()\n%l = sext i32 %lane to i64"
_OF_LANES = {
    "weights": Nest("sum[d] = fmuladd(w, b[j * 40 + d], sum[d])", _LANE + "\nw = b[j + l]"),
    "sums": Nest("t = fmuladd(mine[d], b[at + d], s)", _LANE + "\nat = j * 40 + l"),
}


@pytest.mark.parametrize("name", _OF_LANES)
@pytest.mark.parametrize(
    ("machine", "factor"),
    [
        (Machine("x86_64-unknown-linux-gnu", "", ""), 4),  # no room for two
        (Machine("x86_64-unknown-linux-gnu", "", "+avx2"), 2),
        (Machine("x86_64-unknown-linux-gnu", "", "+avx512f,+avx2"), 4),
        (Machine("aarch64-unknown-linux-gnu", "", "+neon"), 2),
    ],
    ids=lambda value: value.features or "sse" if isinstance(value, Machine) else "",
)
def test_as_many_as_registers_hold(name: str, machine: Machine, factor: int) -> None:
    kernel = _OF_LANES[name].program()
    assert unroll_and_jam.run(Analyses(kernel, width=32, machine=machine))
    assert products(kernel) == factor
