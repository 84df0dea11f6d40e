"""Lanes that walk along rows: a piece of each row is loaded at once, and pieces are transposed."""

from __future__ import annotations

import numpy as np
import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.simd import questions
from tests.compiling import planned
from tests.ir.programs import program, run_program
from tests.ir.short import llvm

_ARGS = "ptr %a, ptr %b, ptr %out"
_LAUNCH = LaunchFacts(linear=True, aligned=True, flat=True)
#: Each lane's row begins where b says, and is added up piece by piece in lanes below %most.
_PROGRAM = """
lane = thread_x()
at = b[lane]
most = b[64]
%wide = sext i32 %at to i64
%row = getelementptr TYPE, ptr %a, i64 %wide
br label %loop
loop:
%k = phi i64 [ 0, %entry ], [ %k_next, %again ]
%s = phi TYPE [ ZERO, %entry ], [ %t, %again ]
some = lane < most
br i1 %some, label %inside, label %again
inside:
PIECE
br label %again
again:
%t = phi TYPE [ %s, %loop ], [ %sLAST, %inside ]
k_next = k + 1
%more = icmp slt i64 %k_next, 3
br i1 %more, label %loop, label %end
end:
%sum = phi TYPE [ %t, %again ]
%place = getelementptr TYPE, ptr %out, i32 %lane
store TYPE %sum, ptr %place
ret void
"""


def _text(count: int, type_: str) -> str:
    """With pieces of `count` elements, each of which counts another number of times."""
    real = type_ == "float"
    lines = []
    for i in range(count):
        before = "s" if not i else f"s{i - 1}"
        factor = f"{i + 1}.0" if real else f"{i + 1}"
        lines += [
            f"%p{i} = getelementptr [{count} x {type_}], ptr %row, i64 %k, i64 {i}",
            f"%v{i} = load {type_}, ptr %p{i}, align 4",
            f"%w{i} = {'fmul' if real else 'mul'} {type_} %v{i}, {factor}",
            f"%s{i} = {'fadd' if real else 'add'} {type_} %{before}, %w{i}",
        ]
    parts = {"PIECE": "\n".join(lines), "LAST": str(count - 1), "TYPE": type_,
             "ZERO": "0.0" if real else "0"}  # fmt: skip
    text = _PROGRAM
    for name, part in parts.items():
        text = text.replace(name, part)
    return llvm(text, {"b": "i32"})


@pytest.mark.parametrize(("count", "type_"), [(4, "float"), (8, "float"), (4, "i32"), (4, "i64")])
@pytest.mark.parametrize("threads", [32, 27])
@pytest.mark.parametrize("most", [32, 20, 1, 0])
def test_rows(count: int, type_: str, threads: int, most: int) -> None:
    rng = np.random.default_rng(5)
    dtype = {"float": np.float32, "i32": np.int32, "i64": np.int64}[type_]
    a = rng.integers(-50, 50, 800).astype(dtype)
    b = np.full(65, 1 << 30, np.int32)  # lanes that are inactive have no row
    b[:most], b[64] = rng.integers(0, 800 - 3 * count, most), most
    out = np.full(64, 77, dtype)
    text = _text(count, type_)
    found = set(planned(program(text, _ARGS), _LAUNCH)(questions.groups).values())
    assert [len(group.members) for group in found if group.row] == [count]
    run_program(program(text, _ARGS), [x.view(np.uint8) for x in (a, b, out)], 32, threads)
    weights = np.tile(np.arange(1, count + 1), 3)
    rows = [a[at : at + 3 * count] if at < 800 else 0 * weights for at in b[:threads]]
    expected = [int((row * weights).sum()) for row in rows]
    np.testing.assert_array_equal(out, expected + [77] * (64 - threads))
