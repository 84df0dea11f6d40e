"""Bounds checks: what the program looks like with them, and what it does; tests/targets/cpu has the
tests of kernels with them."""

from __future__ import annotations

import ctypes
import json

import numpy as np
import pytest

from anymetal.analysis.cache import Analyses
from anymetal.ir.calls import STRAY
from anymetal.ir.model import Program
from anymetal.ir.spec import Stage, check
from anymetal.passes import check_bounds
from anymetal.pipeline import thread
from anymetal.pipeline.driver import Compilation, run
from anymetal.pipeline.stages import Stages
from anymetal.targets.cpu.faults import Strays
from tests.ir.programs import ops, program, run_program

_LOOP = """
    entry:
      %start = load i32, ptr %a
      %bad = icmp slt i32 %start, 0
      br i1 %bad, label %other, label %loop
    other:
      br label %loop
    loop:
      %k = phi i32 [ 0, %entry ], [ 0, %other ], [ %next, %loop ]
      %p = phi ptr [ %a, %entry ], [ %own, %other ], [ %q, %loop ]
      %x = load i32, ptr %p
      %into = getelementptr i32, ptr %out, i32 %k
      store i32 %x, ptr %into
      %q = getelementptr i32, ptr %p, i64 1
      %next = add i32 %k, 1
      %again = icmp ult i32 %next, 8
      br i1 %again, label %loop, label %end
    end:
      %last = phi ptr [ %q, %loop ]
      %y = load i32, ptr %last
      store i32 %y, ptr %out
      ret void
"""
_PRIVATE = "%own = alloca [4 x i32]\n store volatile i32 7, ptr %own\n"
BODIES = {
    "loop": _LOOP.replace("%start =", f"{_PRIVATE} %start ="),
    "select": """
      %c = icmp eq ptr %a, %out
      %p = select i1 %c, ptr %a, ptr null
      %q = getelementptr i8, ptr %p, i64 8
      %x = load i32, ptr %q
      store i32 %x, ptr %out
      ret void
    """,
    "pointer out of memory": """
      %p = load ptr, ptr %a
      %x = load i32, ptr %p
      %w = atomicrmw add ptr %p, i32 %x monotonic
      store i32 %w, ptr %out
      ret void
    """,
    "copies": """
      %n = load i64, ptr %a
      call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %a, i64 %n, i1 false)
      call void @llvm.memmove.p0.p0.i64(ptr %out, ptr %a, i64 4096, i1 false)
      call void @llvm.memset.p0.i64(ptr %out, i8 1, i64 %n, i1 false)
      ret void
    """,
    "exchange": """
      %w = cmpxchg ptr %a, i32 1, i32 2 monotonic monotonic
      %x = extractvalue { i32, i1 } %w, 0
      store i32 %x, ptr %out
      ret void
    """,
    "guarded": """
      %c = icmp eq ptr %a, %out
      %x = load float, ptr %a
      %y = select i1 %c, float %x, float 1.0
      store float %y, ptr %out
      ret void
    """,
}


def guarded(body: str, top: str = "") -> tuple[Program, dict[str, list[list[object]]]]:
    """The program with its checks, and what it tells of arrays and accesses."""
    read = program(body, top=top)
    run(thread.PASSES, Compilation(Analyses(read), Stages(), ()))
    notes = json.loads(check_bounds.run(read))
    check(read, Stage.CHECKED)
    return read, notes


@pytest.mark.parametrize("name", BODIES)
def test_programs_with_checks_follow_the_grammar(name):
    read, notes = guarded(BODIES[name])
    assert ops(read).count("call") >= len(notes["sites"]) > 0
    assert [a.name for a in read.args] == ["%a", "%out", check_bounds.EXTENTS, check_bounds.RECORD]


def test_what_is_inside_for_certain_is_not_asked():
    read, notes = guarded(
        "%own = alloca [4 x i32]\n %last = getelementptr i32, ptr %own, i64 3\n"
        "%behind = getelementptr i32, ptr %own, i64 4\n"
        "store volatile i32 7, ptr %own\n store volatile i32 8, ptr %last\n"
        "store volatile i32 9, ptr %behind\n ret void"
    )
    assert [site[0] for site in notes["sites"]] == ["wrote"]
    assert sum(i.op == "call" and i.arg == STRAY for i in read.instructions()) == 1


def launch(
    body: str, a: np.ndarray, out: np.ndarray, width: int = 1, threads: int = 1
) -> tuple[Strays, list[list[object]]]:
    """Runs it on these arrays; what strayed, and the accesses of the program."""
    read, notes = guarded(body)
    strays = Strays()
    extents = np.array([0, a.nbytes, 0, out.nbytes], np.uint64)
    record = np.ctypeslib.as_array((ctypes.c_uint8 * ctypes.sizeof(strays)).from_buffer(strays))
    run_program(read, [a.view(np.uint8), out.view(np.uint8), extents.view(np.uint8), record],
                width, threads)  # fmt: skip
    return strays, notes["sites"]


@pytest.mark.parametrize("width", [1, 32])
def test_a_copy_that_does_not_fit(width):
    """None of it is done; what cannot be read is zeros."""
    copy = "call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %a, i64 {}, i1 false)\n ret void"
    a, out = np.arange(1000, dtype=np.int32), np.full(2000, 5, np.int32)
    strays, sites = launch(copy.format(4000), a, out, width)
    assert not strays and (out[:1000] == a).all() and (out[1000:] == 5).all()
    strays, sites = launch(copy.format(4001), a, out, width)
    assert (strays.reads.count, strays.writes.count) == (1, 0)
    assert sites[strays.reads.site] == ["read", 4001, ""]
    assert (out[:1000] == 0).all() and out[1000] == 0  # byte 4000 was the 5
    out[:] = 5
    strays, sites = launch(copy.format(8001), a, out, width)
    assert (strays.reads.count, strays.writes.count) == (1, 1)
    assert (out == 5).all()


@pytest.mark.parametrize("width", [1, 32])
def test_pointers_stay_in_the_array_that_they_come_from(width):
    """Out of one array into its neighbour is outside, although somebody's memory is there."""
    both = np.arange(32, dtype=np.int32)
    out = np.zeros(16, np.int32)
    body = """
      %flag = load i32, ptr %a
      %c = icmp eq i32 %flag, 0
      %p = select i1 %c, ptr %a, ptr %out
      %q = getelementptr i32, ptr %p, i64 {}
      %x = load i32, ptr %q
      store i32 %x, ptr %out
      ret void
    """
    strays, _ = launch(body.format(15), both[:16], out, width)
    assert not strays and out[0] == 15
    strays, _ = launch(body.format(16), both[:16], out, width)
    assert strays.reads.count == 1 and out[0] == 0
    assert (strays.reads.array, strays.reads.position) == (0, 64)
