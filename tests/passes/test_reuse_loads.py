"""What has been loaded is not loaded again, unless it may have changed."""

from __future__ import annotations

import numpy as np
import pytest

from anymetal.analysis.cache import Analyses
from anymetal.ir.model import Program
from anymetal.ir.spec import Stage, check
from anymetal.passes import reuse_loads
from tests.ir.programs import ops, program, run_program
from tests.ir.short import llvm

_ARGS = "ptr %a, ptr %b, ptr %out"
_INTS = {"b": "i32"}
_ENTRY = """
i = thread_x() * 4
%w = zext i32 %i to i64
%p = getelementptr float, ptr %a, i64 %w
%p3 = getelementptr i8, ptr %p, i64 12
%w3 = or disjoint i64 %w, 3
%q3 = getelementptr float, ptr %a, i64 %w3
%i3 = or disjoint i32 %i, 3
"""
_FIRST, _AGAIN = "%x = load float, ptr %p3", "%y = load float, ptr %q3"
_USED = "out[i] = x\nz = x + y\nout[i3] = z"
#: What is between two loads of one place, and the loads that are left.
CASES = {
    "nothing": (f"{_FIRST}\n{_AGAIN}\n{_USED}", 1),
    "a store elsewhere": (f"{_FIRST}\nout[i] = x\n{_AGAIN}\n{_USED}", 1),
    "a store there": (f"{_FIRST}\na[i3] = 7\n{_AGAIN}\n{_USED}", 2),
    "a store to its array": (f"{_FIRST}\na[i] = 7\n{_AGAIN}\n{_USED}", 2),
    "a barrier": (
        f"{_FIRST}\ncall void @__am_threadgroup_barrier(i32 1)\n{_AGAIN}\n{_USED}", 1
    ),
    "a barrier and a store": (
        f"{_FIRST}\ncall void @__am_threadgroup_barrier(i32 1)\n{_AGAIN}\n{_USED}\na[i] = x", 2
    ),
    "another block": (f"{_FIRST}\nbr label %next\nnext:\n{_AGAIN}\n{_USED}", 2),
    "bits of a number": (
        f"{_FIRST}\n%k = load i32, ptr %q3\n%y = sitofp i32 %k to float\n{_USED}", 2
    ),
    "another place": (f"{_FIRST}\ny = a[i + 2]\n{_USED}", 2),
    "a volatile one": (f"{_FIRST}\n%y = load volatile float, ptr %q3\n{_USED}", 2),
    "places that are loaded": (
        "j = b[i]\nx = a[j]\nk = b[i]\ny = a[k]\n" + _USED, 2
    ),
}  # fmt: skip


def kernel(body: str) -> Program:
    made = program(llvm(f"{_ENTRY}{body}\nret void", _INTS), _ARGS)
    for argument in made.args:
        argument.apart = True
    made.args[2].output = True
    return made


@pytest.mark.parametrize("name", CASES)
def test_loads_that_are_left(name: str) -> None:
    body, left = CASES[name]
    made = kernel(body)
    before = ops(made).count("load")
    assert reuse_loads.run(Analyses(made)) == (left < before)
    check(made, Stage.READ)
    assert ops(made).count("load") == left
    a, b = np.arange(256, dtype=np.float32), np.arange(256, dtype=np.int32) % 50
    memory = [[array.copy().view(np.uint8) for array in (a, b, a)] for _ in range(2)]
    run_program(kernel(body), memory[0], width=32, threads=32)
    run_program(made, memory[1], width=32, threads=32)
    for expected, found in zip(*memory, strict=True):
        np.testing.assert_array_equal(found, expected)
