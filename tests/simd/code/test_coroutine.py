"""Gangs that wait at barriers: what their loops keep in registers."""

from __future__ import annotations

import re

import pytest

from anymetal.pipeline.program import thread_program
from anymetal.targets.cpu.assemble import assembly
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.variant import variant_for
from tests.compiling import vector_ir
from tests.frontend.kernels import kernel_source

_BETWEEN_BARRIERS = """
uint l = thread_position_in_threadgroup.x;
threadgroup KIND part[256];
KIND first = 0, second = 0;
for (int t = 0; t < 9; t++) {
    part[l] = KIND(a[t * 256 + l]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma clang loop unroll(disable)
    for (int k = 0; k < 40; k++) {
        KIND v = KIND(a[k * 256 + l]);
        first += v;
        second += v * part[k];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
}
out[l] = first + second;
"""


#: A label, and all up to a jump back to it.
_LOOP = re.compile(r"^(\.LBB\w+):.*\n((?:\t.*\n|#.*\n)*?\tj\w+\t\1)$", re.M)
_STORED = re.compile(r"\tvmov\w+\t%[yz]mm\d+, .*\(")


@pytest.mark.parametrize("kind", ["float", "half", "int", "short", "long"])
def test_sums_are_stored_behind_their_loop(kind: str) -> None:
    """They live across the barrier behind it, so they lie in the coroutine's frame then."""
    text = _BETWEEN_BARRIERS.replace("KIND", kind)
    machine = machine_for("x86-64-v4")
    program = thread_program(kernel_source(text))
    variant = variant_for((256, 1, 1), (256, 1, 1))._replace(team=1, sole=False)
    code = assembly(vector_ir(program, variant, machine), machine)
    resumed = re.search(r"^[\w.]*\.resume:\n(.*?)^\.Lfunc_end", code, re.M | re.S)
    assert resumed
    loops = [loop[2] for loop in _LOOP.finditer(resumed[1]) if "zmm" in loop[2]]
    assert loops
    for loop in loops:
        assert not _STORED.search(loop), loop
