"""Which bytes groups of accesses touch."""

from __future__ import annotations

import re

import pytest

from anymetal.pipeline.program import thread_program
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.variant import variant_for
from tests.compiling import vector_ir
from tests.frontend.kernels import kernel_source

_PLACE = re.compile(r"(%\S+) = getelementptr (?:i8|i32), ptr (%\S+), i64 (-?\d+)$")
_LOAD = re.compile(r"load <(\d+) x \w+>, ptr (%[\w.]+),")


def touched(body: str, cpu: str) -> set[int]:
    """The bytes that a gang loads by vectors, counted from the first of them."""
    variant = variant_for((256, 1, 1), (64, 1, 1))._replace(cpu=cpu)
    program = thread_program(kernel_source(f"uint i = thread_position_in_grid.x;\n{body}"))
    offsets: dict[str, int] = {}
    found: set[int] = set()
    for line in vector_ir(program, variant, machine_for(cpu)).split("\n"):
        line = line.split(", !dbg")[0].strip()
        if match := _PLACE.match(line):
            offsets[match[1]] = offsets.get(match[2], 0) + int(match[3])
        elif match := _LOAD.search(line):
            start = offsets.get(match[2], 0)
            found.update(range(start, start + 4 * int(match[1])))
    return {byte - min(found) for byte in found}


@pytest.mark.parametrize("cpu", ["x86-64-v2", "x86-64-v3", "x86-64-v4", "neoverse-v1"])
@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_loads_of_some_of_four_end_with_the_last_one(cpu: str, first: int, count: int) -> None:
    if first + count > 4:
        return
    terms = " + ".join(f"a[4 * i + {first + k}]" for k in range(count))
    assert touched(f"out[i] = {terms};", cpu) == set(range(4 * (4 * 31 + count)))
