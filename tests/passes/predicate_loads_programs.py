"""Programs with loads to move, for the tests of predicate_loads.py."""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.ir.model import Program
from anymetal.ir.spec import Stage, check
from anymetal.passes import predicate_loads
from tests.ir.programs import named, program

STORE = "store i32 1, ptr %out"
#: What a load must not pass.
WRITERS = [
    STORE,
    "store volatile i32 1, ptr %out",
    "%w = atomicrmw add ptr %out, i32 1 monotonic",
    "%w = cmpxchg ptr %out, i32 1, i32 2 monotonic monotonic",
    "fence seq_cst",
    "call void @__am_threadgroup_barrier(i32 1)",
    "call void @__am_simdgroup_barrier(i32 1)",
    "call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 1024, i1 false)",
]

#: {…} are places for other instructions.
_LOOP = """
    entry:
      {before}
      br label %loop
    loop:
      %n = phi i32 [ 0, %entry ], [ %next, %latch ]
      {head}
      %c = icmp eq i32 %n, 3
      br i1 %c, label %use, label %latch
    use:
      {use}
      br label %latch
    latch:
      {latch}
      %next = add i32 %n, 1
      %more = icmp ult i32 %next, 9
      br i1 %more, label %loop, label %exit
    exit:
      {after}
      ret void
"""


def loop(**parts: str) -> str:
    return _LOOP.format(**(dict.fromkeys("before head use latch after".split(), "") | parts))


def moved(body: str) -> Program:
    read = program(body)
    predicate_loads.run(Analyses(read))
    check(read, Stage.GUARDED)
    return read


def home(read: Program, name: str = "x") -> str:
    block = named(read, name).block
    assert block is not None
    return block.name
