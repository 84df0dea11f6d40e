"""Calls that add floats to arrays in device memory to which other threads add, too.

The additions are C++ (targets/cpu/additions.cpp). Only a run of 32 floats that is added under one
lock is written here, since it needs the vectors in registers.
"""

from __future__ import annotations

from anymetal.emission.writer import Writer

_ONE, _RUN, _EXCLUSIVE, _SOME = "am.add", "am.add_run", "am.add_exclusive", "am.add_some"
_PAGE = 4096  #: bytes; each has a lock (as in additions.cpp)
_DECLARED = """\
declare hidden ptr @am_hold_page(ptr, ptr, ptr, ptr)
declare hidden void @am_let_go(ptr)
declare hidden void @am_add_one(ptr, ptr, ptr, float)
declare hidden void @am_add_atomically(ptr, float)
declare hidden void @am_add_some(ptr, ptr, ptr, ptr, i32)
declare hidden void @am_add_run(ptr, ptr, i32)"""

#: The only thread of a launch adds right here: a call would cost it its vector registers.
_ADD = f"""\
define internal void @{_ONE}(ptr %locks, ptr %address, float %add) alwaysinline #0 {{
  %alone = icmp eq ptr %locks, null
  br i1 %alone, label %plain, label %shared
plain:
  %old = load float, ptr %address, align 4
  %new = fadd float %old, %add
  store float %new, ptr %address, align 4
  ret void
shared:
  call void @am_add_atomically(ptr %address, float %add)
  ret void
}}"""
#: A function, so that LLVM sees how long the memory for values is needed: that of a coroutine would
#: be in its frame.
_ADD_RUN = f"""\
define internal void @{_RUN}(ptr %address, <32 x float> %add, i32 %active) alwaysinline #0 {{
  %values = alloca <32 x float>, align 128
  store <32 x float> %add, ptr %values, align 128
  call void @am_add_run(ptr %address, ptr %values, i32 %active)
  ret void
}}"""
#: If all lanes are active and the run lies in one page, it is added right here: the call would take
#: half of the time. The lock is kept for the next run, which may lie in the same page.
_ADD_EXCLUSIVE = f"""\
define internal void @{_SOME}(ptr %locks, ptr %cancel, ptr %address, <32 x float> %add, \
i32 %active) noinline cold #0 {{
  %values = alloca <32 x float>, align 128
  store <32 x float> %add, ptr %values, align 128
  call void @am_add_some(ptr %locks, ptr %cancel, ptr %address, ptr %values, i32 %active)
  ret void
}}
define internal ptr @{_EXCLUSIVE}(ptr %locks, ptr %cancel, ptr %held, ptr %address, \
<32 x float> %add, i32 %active) alwaysinline #0 {{
  %number = ptrtoint ptr %address to i64
  %inside = and i64 %number, {_PAGE - 1}
  %one.page = icmp ule i64 %inside, {_PAGE - 128}
  %all = icmp eq i32 %active, -1
  %easy = and i1 %one.page, %all
  br i1 %easy, label %take, label %hard
take:
  %lock = call ptr @am_hold_page(ptr %locks, ptr %cancel, ptr %held, ptr %address)
  %got = icmp ne ptr %lock, null
  br i1 %got, label %add.all, label %end
add.all:
  %old = load <32 x float>, ptr %address, align 4
  %new = fadd <32 x float> %old, %add
  store <32 x float> %new, ptr %address, align 4
  br label %end
hard:
  call void @am_let_go(ptr %held)
  call void @{_SOME}(ptr %locks, ptr %cancel, ptr %address, <32 x float> %add, i32 %active)
  br label %end
end:
  %holding = phi ptr [ %lock, %take ], [ %lock, %add.all ], [ null, %hard ]
  ret ptr %holding
}}"""


def add_one(w: Writer, address: str, value: str, under_lock: bool) -> None:
    """Adds a float; if other threads take part in the launch, under a lock, or as the processor
    does."""
    w.declarations["am_add_one"] = _DECLARED
    if under_lock:
        w.do(f"call void @am_add_one(ptr %locks, ptr %cancel, ptr {address}, float {value})")
    else:
        w.declarations[_ONE] = _ADD
        w.do(f"call void @{_ONE}(ptr %locks, ptr {address}, float {value})")


def add_run(w: Writer, address: str, vector: str, active: str) -> None:
    """Adds active lanes' floats (a bit for each) to a run of elements, 16 bytes at a time."""
    w.declarations |= {"am_add_one": _DECLARED, _RUN: _ADD_RUN}
    w.do(f"call void @{_RUN}(ptr {address}, <32 x float> {vector}, i32 {active})")


def add_exclusive(w: Writer, runs: list[tuple[str, str]], active: str) -> None:
    """Adds active lanes' floats to runs of elements under locks, one lock after the other: for each
    run the address of the first lane's element, and the vector."""
    w.declarations |= {"am_add_one": _DECLARED, _EXCLUSIVE: _ADD_EXCLUSIVE}
    held = "null"
    for address, vector in runs:
        where = f"ptr %locks, ptr %cancel, ptr {held}, ptr {address}"
        held = w.value(f"call ptr @{_EXCLUSIVE}({where}, <32 x float> {vector}, i32 {active})")
    w.do(f"call void @am_let_go(ptr {held})")
