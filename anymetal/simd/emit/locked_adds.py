"""Additions of floats to arrays that a launch does nothing else with.

Where nobody looks at an array while a launch adds to it, an addition need not be one atomic step:
it is enough that no other thread adds to the same elements meanwhile. While a thread is the only
one that takes part in a launch, plain additions do. Else it takes a lock, of which each page of
memory has one (several share it): one locked instruction for a run of 32 floats, where atomic
additions take one for each 16 bytes.

A launch that is stopped leaves locks behind, so those who wait look at its flag; a thread that has
lost its processor may have the lock, so they let others run.
"""

from __future__ import annotations

ADD_ONE = "am.add_one"
ADD_EXCLUSIVE = "am.add_exclusive"
ADD_SOME = "am.add_some"
#: Locks of a launch, each in a cache line of its own (see runtime/launch.h).
LOCKS, LOCK_BYTES = 256, 64
_PAGE_BITS = 12
_PATIENCE = 128  #: looks at a lock before others may run


def locking() -> dict[str, str]:
    """Declarations for whoever takes locks."""
    return {
        "am.take_lock": take_lock(),
        "sched_yield": "declare i32 @sched_yield()",
        "llvm.cttz.i32": "declare i32 @llvm.cttz.i32(i32, i1)",
    }


def take_lock() -> str:
    """LLVM IR of `i1 am.take_lock(ptr lock, ptr cancel)`: whether the lock is ours now; it is not
    if the launch is stopped."""
    return f"""\
define internal i1 @am.wait_for_lock(ptr %lock, ptr %cancel) noinline cold #0 {{
start:
  br label %wait
wait:
  %turn = phi i32 [ 0, %start ], [ 0, %try ], [ %turn.next, %again ]
  %flag = load volatile i32, ptr %cancel, align 4
  %stop = icmp ne i32 %flag, 0
  br i1 %stop, label %end, label %look
look:
  %now = load atomic i32, ptr %lock monotonic, align 4
  %free = icmp eq i32 %now, 0
  br i1 %free, label %try, label %more
try:
  %taken = atomicrmw xchg ptr %lock, i32 1 acquire, align 4
  %mine = icmp eq i32 %taken, 0
  br i1 %mine, label %end, label %wait
more:
  %turn.next = add i32 %turn, 1
  %long = icmp ugt i32 %turn, {_PATIENCE}
  br i1 %long, label %yield, label %again
yield:
  %ignored = call i32 @sched_yield()
  br label %again
again:
  br label %wait
end:
  %got = phi i1 [ true, %try ], [ false, %wait ]
  ret i1 %got
}}
define internal i1 @am.take_lock(ptr %lock, ptr %cancel) alwaysinline #0 {{
try:
  %taken = atomicrmw xchg ptr %lock, i32 1 acquire, align 4
  %mine = icmp eq i32 %taken, 0
  br i1 %mine, label %end, label %wait
wait:
  %later = call i1 @am.wait_for_lock(ptr %lock, ptr %cancel)
  br label %end
end:
  %got = phi i1 [ true, %try ], [ %later, %wait ]
  ret i1 %got
}}"""


def add_exclusive() -> str:
    """LLVM IR of `void am.add_one(ptr locks, ptr cancel, ptr address, float value)` and of
    `void am.add_exclusive(ptr locks, ptr cancel, ptr address, <32 x float>, <32 x i1>)`.

    The second adds the active lanes' values to consecutive floats. Where all lanes are active and
    the run stays within a page, that is done in place, or half of the time would go into the call;
    else those of one page are added, then those of the next.
    """
    return f"""\
define internal ptr @am.lock_of(ptr %locks, ptr %address) alwaysinline #0 {{
  %number = ptrtoint ptr %address to i64
  %page = lshr i64 %number, {_PAGE_BITS}
  %which = and i64 %page, {LOCKS - 1}
  %lock = getelementptr [{LOCK_BYTES} x i8], ptr %locks, i64 %which
  ret ptr %lock
}}
define internal void @{ADD_ONE}(ptr %locks, ptr %cancel, ptr %address, float %value) noinline #0 {{
start:
  %alone = icmp eq ptr %locks, null
  br i1 %alone, label %add, label %take
take:
  %lock = call ptr @am.lock_of(ptr %locks, ptr %address)
  %got = call i1 @am.take_lock(ptr %lock, ptr %cancel)
  br i1 %got, label %add, label %end
add:
  %held = phi ptr [ null, %start ], [ %lock, %take ]
  %old = load float, ptr %address, align 4
  %new = fadd float %old, %value
  store float %new, ptr %address, align 4
  br i1 %alone, label %end, label %give
give:
  store atomic i32 0, ptr %held release, align 4
  br label %end
end:
  ret void
}}
define internal void @am.add_part(ptr %locks, ptr %cancel, ptr %address, ptr %values, i32 %bits) \
alwaysinline #0 {{
start:
  %some = icmp ne i32 %bits, 0
  br i1 %some, label %take, label %end
take:
  %first = call i32 @llvm.cttz.i32(i32 %bits, i1 true)
  %there = getelementptr float, ptr %address, i32 %first
  %lock = call ptr @am.lock_of(ptr %locks, ptr %there)
  %got = call i1 @am.take_lock(ptr %lock, ptr %cancel)
  br i1 %got, label %lane, label %end
lane:
  %left = phi i32 [ %bits, %take ], [ %rest, %lane ]
  %i = call i32 @llvm.cttz.i32(i32 %left, i1 true)
  %place = getelementptr float, ptr %address, i32 %i
  %value.at = getelementptr float, ptr %values, i32 %i
  %one.old = load float, ptr %place, align 4
  %value = load float, ptr %value.at, align 4
  %one.new = fadd float %one.old, %value
  store float %one.new, ptr %place, align 4
  %below = sub i32 %left, 1
  %rest = and i32 %left, %below
  %again = icmp ne i32 %rest, 0
  br i1 %again, label %lane, label %give
give:
  store atomic i32 0, ptr %lock release, align 4
  br label %end
end:
  ret void
}}
define internal void @{ADD_SOME}(ptr %locks, ptr %cancel, ptr %address, <32 x float> %add, \
<32 x i1> %mask) noinline cold #0 {{
  %values = alloca <32 x float>, align 128
  store <32 x float> %add, ptr %values, align 128
  %bits = bitcast <32 x i1> %mask to i32
  %number = ptrtoint ptr %address to i64
  %inside = and i64 %number, {(1 << _PAGE_BITS) - 1}
  %behind = sub i64 {1 << _PAGE_BITS}, %inside
  %here = lshr i64 %behind, 2
  %few = icmp ult i64 %here, 32
  br i1 %few, label %two, label %one
one:
  call void @am.add_part(ptr %locks, ptr %cancel, ptr %address, ptr %values, i32 %bits)
  ret void
two:
  %count = trunc i64 %here to i32
  %next.page = shl i32 -1, %count
  %this.page = xor i32 %next.page, -1
  %low = and i32 %bits, %this.page
  %high = and i32 %bits, %next.page
  call void @am.add_part(ptr %locks, ptr %cancel, ptr %address, ptr %values, i32 %low)
  call void @am.add_part(ptr %locks, ptr %cancel, ptr %address, ptr %values, i32 %high)
  ret void
}}
define internal void @{ADD_EXCLUSIVE}(ptr %locks, ptr %cancel, ptr %address, <32 x float> %add, \
<32 x i1> %mask) alwaysinline #0 {{
  %number = ptrtoint ptr %address to i64
  %inside = and i64 %number, {(1 << _PAGE_BITS) - 1}
  %one.page = icmp ule i64 %inside, {(1 << _PAGE_BITS) - 128}
  %bits = bitcast <32 x i1> %mask to i32
  %all = icmp eq i32 %bits, -1
  %easy = and i1 %one.page, %all
  br i1 %easy, label %take, label %hard
take:
  %lock = call ptr @am.lock_of(ptr %locks, ptr %address)
  %got = call i1 @am.take_lock(ptr %lock, ptr %cancel)
  br i1 %got, label %add.all, label %end
add.all:
  %old = load <32 x float>, ptr %address, align 4
  %new = fadd <32 x float> %old, %add
  store <32 x float> %new, ptr %address, align 4
  store atomic i32 0, ptr %lock release, align 4
  br label %end
hard:
  call void @{ADD_SOME}(ptr %locks, ptr %cancel, ptr %address, <32 x float> %add, <32 x i1> %mask)
  br label %end
end:
  ret void
}}"""
