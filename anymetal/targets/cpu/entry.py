"""The exported function `am_entry`: loops over threadgroups, and over the gangs of each.

    am_entry(buffers, launch, first_group, last_group, worker)

Without barriers the gangs of a threadgroup run one after the other. With barriers each gang is a
coroutine: all are started, then resumed in turn until every one is done. A gang whose threads have
returned is simply no longer resumed, so returned threads count as arrived.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from anymetal.ir import types as t
from anymetal.ir.model import Argument
from anymetal.machine import Machine
from anymetal.passes.check_bounds import record_of
from anymetal.passes.track_undefined import INITIAL
from anymetal.simd.access.privatised_sums import ROOM, Sums
from anymetal.simd.code.values import buffer_name
from anymetal.simd.emit.positions import CONTEXT_NAMES
from anymetal.simd.emit.private_memory import far_arrays
from anymetal.targets.cpu import other_orders
from anymetal.targets.cpu.pipeline import GangCompilation
from anymetal.targets.cpu.variant import Variant

_AXES = ("x", "y", "z")
#: Offsets in am_launch (see runtime/launch.h).
_GRID, _GROUP, _GROUPS, _CANCEL = 0, 12, 24, 40
#: Workers have own sums if a launch has at least so many threads for each.
THREADS_PER_BIN = 2
#: What adds a worker's own sums to those of all, by type (additions.cpp).
HAND_OVER = {t.I32: "am_hand_over", t.FLOAT: "am_hand_over_floats"}
SUMS_FRAME, PRIVATE_FRAME = 1024, 1025  #: behind the frames of gangs (see runtime/launch.h)
#: Makes non-temporal stores visible before anything that follows, where they are not in order.
_FENCES = {"x86_64": "call void @llvm.x86.sse.sfence()"}
#: Instead of _rounds, where threads meet in cross-lane calls: their scheduler runs them.
_MEETINGS = [
    "round:",
    "  call void @am_rendezvous(ptr %ring, i32 %threads)",
    "  br label %group.done",
]


def entry_function(
    c: GangCompilation, suspends: bool, meets: bool = False, streamed: int = 0,
    sums: Mapping[Argument, Sums] = MappingProxyType({}),
) -> str:  # fmt: skip
    """LLVM IR of am_entry.

    suspends   gangs wait for each other at barriers
    meets      they also do in cross-lane calls
    streamed   bytes of a thread's stores that may bypass the caches
    sums       the worker's own arrays, by the buffer that each stands for
    """
    buffers, machine, team = [buffer_name(a) for a in c.program.args], c.known.machine, c.team
    width, private = c.variant.width, c.known(far_arrays).bytes
    fence = _FENCES.get(machine.architecture, "")
    record = buffer_name(record_of(c.program)) if c.variant.sanitized else ""
    lines = [
        "define void @am_entry(ptr %buffers, ptr %launch, i64 %first, i64 %last, ptr %worker) #0 {",
        "start:",
    ]
    for i, name in enumerate(buffers):
        lines.append(f"  %slot.{i} = getelementptr ptr, ptr %buffers, i64 {i}")
        lines.append(f"  {name} = load ptr, ptr %slot.{i}, !invariant.load !0")
    lines += _launch_fields()
    lines += _streaming(streamed, machine)
    lines += _private_memory(private, width * team if suspends else 0)
    own = [(buffer_name(a), own) for a, own in sums.items()]
    lines += _own_sums(own, buffers, machine.caches.second)
    if suspends:
        lines.append("  %ring = alloca [1024 x ptr], align 16")
    lines += other_orders.tables(record) if record else []
    order = other_orders.group() if record else []
    lines += _group_loop(width * team, order, whole=bool(c.variant.padded))
    if c.twin:
        memory, bytes_ = c.twin
        copied = f"ptr {memory}, ptr {INITIAL}, i64 {bytes_}, i1 false"
        zeros = f"ptr %threadgroup, i8 0, i64 {bytes_}, i1 false"  # so that all runs are alike
        lines += [
            f"  call void @llvm.memcpy.p0.p0.i64({copied})",
            f"  call void @llvm.memset.p0.i64({zeros})",
        ]
    calls = _Calls(buffers, suspends, team)
    behind = "round" if suspends else "group.done"
    sole = c.alone and not suspends and not c.variant.partial
    if record and not sole and width > 1:
        full = calls.full()
        lines += other_orders.gangs(
            [*full[:-1], *calls.kept(full[-1], "gang", "turn")] if c.variant.full else [],
            calls.kept(calls.text("gang.partial", "%whole", "%rest"), "whole", "turn")
            if c.variant.partial
            else [],
            behind,
        )
    elif sole:  # one call runs a whole threadgroup, so its first gang is number 0
        lines += [f"  {calls.text('gang.full', '0', '0')}", "  br label %group.done"]
    else:
        lines += _gangs(calls, c.variant, behind)
    if suspends:
        lines += _MEETINGS if meets else _rounds()
    lines += [
        *_next_group(),
        "done:",
        *([f"  {fence}"] if streamed and fence else []),
        "  ret void",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _launch_fields() -> list[str]:
    lines = []
    for prefix, offset in (("grid", _GRID), ("full_size", _GROUP), ("groups", _GROUPS)):
        for i, axis in enumerate(_AXES):
            lines.append(
                f"  %{prefix}.{axis}.at = getelementptr i8, ptr %launch, i64 {offset + 4 * i}"
            )
            lines.append(
                f"  %{prefix}_{axis} = load i32, ptr %{prefix}.{axis}.at, !invariant.load !0"
            )
            lines.append(f"  %{prefix}.{axis}.wide = zext i32 %{prefix}_{axis} to i64")
    lines += [
        f"  %cancel.at = getelementptr i8, ptr %launch, i64 {_CANCEL}",
        "  %cancel = load ptr, ptr %cancel.at, !invariant.load !0",
        "  %threadgroup = load ptr, ptr %worker, !invariant.load !0",
        "  %locks.at = getelementptr i8, ptr %worker, i64 16",
        "  %locks = load ptr, ptr %locks.at",
    ]
    return lines


def _streaming(bytes_per_thread: int, machine: Machine) -> list[str]:
    """Results that no cache can hold go past them."""
    threads = [
        "  %plane.threads = mul i64 %grid.x.wide, %grid.y.wide",
        "  %grid.threads = mul i64 %plane.threads, %grid.z.wide",
    ]
    if not bytes_per_thread:
        return [*threads, "  %streaming = icmp ne i32 0, 0"]
    return [
        *threads,
        f"  %streaming = icmp uge i64 %grid.threads, {machine.streamed_bytes // bytes_per_thread}",
    ]


def _private_memory(bytes_per_call: int, threads: int) -> list[str]:
    """Memory of the worker for large private arrays: for one call of a gang function; or for each
    `threads` of a threadgroup, if all its gangs are suspended and resumed in turn."""
    if not bytes_per_call:
        return ["  %private = getelementptr i8, ptr null, i64 0"]
    lines = [f"  %private.bytes = add i64 {bytes_per_call}, 0"]
    if threads:
        lines = [
            "  %private.plane = mul i64 %full_size.x.wide, %full_size.y.wide",
            "  %private.threads = mul i64 %private.plane, %full_size.z.wide",
            f"  %private.more = add i64 %private.threads, {threads - 1}",
            f"  %private.calls = udiv i64 %private.more, {threads}",
            f"  %private.bytes = mul i64 %private.calls, {bytes_per_call}",
        ]
    return [
        *lines,
        "  %private.where = getelementptr i8, ptr %worker, i64 8",
        "  %private.frame = load ptr, ptr %private.where",
        "  %private = call ptr %private.frame(ptr %worker, "
        f"i32 {PRIVATE_FRAME}, i64 %private.bytes)",
    ]


def _own_sums(sums: list[tuple[str, Sums]], slots: list[str], most: int) -> list[str]:
    """The worker's own arrays, zeroed, if the launch is large enough for them to pay, and they are
    not larger than `most` bytes. When called for no threadgroups, the worker hands over its sums
    and leaves zeros behind. `slots`: all buffers, in their order."""
    if not sums:
        return [
            "  %sums = getelementptr i8, ptr null, i64 0",
            "  %sums.bytes = add i64 0, 0",
            "  br label %begin",
            "begin:",
        ]
    fixed = sum(one.bins for _, one in sums)
    sized = next((slots.index(buffer) for buffer, one in sums if not one.bins), None)
    lines = ["  %sums.held = add i64 0, 0"] if sized is None else _held_by(sized, len(slots))
    fixed += 0 if sized is None else 2 * ROOM // 4
    lines += [
        "  %sums.up = add i64 %sums.held, 63",
        "  %sums.lines = and i64 %sums.up, -64",
        "  %sums.sized = lshr i64 %sums.lines, 2",
        f"  %sums.bins = add i64 %sums.sized, {fixed}",
        "  %sums.all = shl i64 %sums.bins, 2",
        f"  %sums.cost = mul i64 %sums.bins, {THREADS_PER_BIN}",
        "  %sums.many = icmp ugt i64 %grid.threads, %sums.cost",
        f"  %sums.small = icmp ule i64 %sums.all, {most}",
        "  %sums.pay = and i1 %sums.many, %sums.small",
        "  br i1 %sums.pay, label %sums.get, label %begin",
        "sums.get:",
        "  %sums.where = getelementptr i8, ptr %worker, i64 8",
        "  %sums.frame = load ptr, ptr %sums.where",
        f"  %sums.memory = call ptr %sums.frame(ptr %worker, i32 {SUMS_FRAME}, i64 %sums.all)",
        "  %none.left = icmp eq i64 %first, %last",
        "  br i1 %none.left, label %hand.over, label %begin",
        "hand.over:",
    ]
    for number, (buffer, one) in enumerate(sums):
        lines += [
            f"  %own.{number} = getelementptr i8, ptr %sums.memory, i64 {one.offset}",
            f"  call void @{HAND_OVER[one.type]}(ptr %own.{number}, ptr {buffer}, "
            f"i64 {one.bins or '%sums.sized'}, ptr %locks, ptr %cancel)",
        ]
        if not one.bins:  # what lanes beyond the array have left
            lines += [
                f"  %before = getelementptr i8, ptr %own.{number}, i64 {-ROOM}",
                f"  %behind = getelementptr i8, ptr %own.{number}, i64 %sums.lines",
                f"  store <{ROOM} x i8> zeroinitializer, ptr %before, align 64",
                f"  store <{ROOM} x i8> zeroinitializer, ptr %behind, align 64",
            ]
    return [
        *lines,
        "  ret void",
        "begin:",
        "  %sums = phi ptr [ null, %start ], [ %sums.memory, %sums.get ]",
        "  %sums.bytes = phi i64 [ 0, %start ], [ %sums.held, %sums.get ]",
    ]


def _held_by(slot: int, buffers: int) -> list[str]:
    """The bytes of whole elements in a buffer (am_extent in runtime/launch.h)."""
    return [
        f"  %extents.at = getelementptr ptr, ptr %buffers, i64 {buffers}",
        "  %extents = load ptr, ptr %extents.at, !invariant.load !0",
        f"  %extent = getelementptr i8, ptr %extents, i64 {16 * slot + 8}",
        "  %bytes = load i64, ptr %extent, !invariant.load !0",
        "  %sums.held = and i64 %bytes, -4",
    ]


def _group_loop(width: int, position: list[str], whole: bool) -> list[str]:
    """The position and size of the next threadgroup; those at the edge are smaller, unless all are
    `whole`.

    `position`: lines that compute another one, as `%wide` has it.
    """
    wide = "drawn" if position else "wide"
    lines = [
        "  %first.x = urem i64 %first, %groups.x.wide",
        "  %first.row = udiv i64 %first, %groups.x.wide",
        "  %first.y = urem i64 %first.row, %groups.y.wide",
        "  %first.z = udiv i64 %first.row, %groups.y.wide",
        "  br label %groups",
        "groups:",
        "  %group = phi i64 [ %first, %begin ], [ %group.next, %group.done ]",
        *(
            f"  %wide.{axis} = phi i64 [ %first.{axis}, %begin ], [ %next.{axis}, %group.done ]"
            for axis in _AXES
        ),
        "  %flag = load volatile i32, ptr %cancel",
        "  %stop = icmp ne i32 %flag, 0",
        "  %end = icmp uge i64 %group, %last",
        "  %leave = or i1 %stop, %end",
        f"  br i1 %leave, label %done, label %{'next' if position else 'one'}.group",
        *position,
        "one.group:",
    ]
    for axis in _AXES:
        most = "-1" if whole else f"%left.{axis}"
        lines += [
            f"  %group_{axis} = trunc i64 %{wide}.{axis} to i32",
            f"  %begin.{axis} = mul i32 %group_{axis}, %full_size_{axis}",
            f"  %left.{axis} = sub i32 %grid_{axis}, %begin.{axis}",
            f"  %size_{axis} = call i32 @llvm.umin.i32(i32 {most}, i32 %full_size_{axis})",
        ]
    lines += [
        "  %plane = mul i32 %size_x, %size_y",
        "  %threads = mul i32 %plane, %size_z",
        f"  %whole = udiv i32 %threads, {width}",
        f"  %rest = urem i32 %threads, {width}",
    ]
    return lines


def _next_group() -> list[str]:
    """The position of the next threadgroup, by counting: divisions take long."""
    return [
        "group.done:",
        "  %group.next = add i64 %group, 1",
        "  %right = add i64 %wide.x, 1",
        "  %row.done = icmp eq i64 %right, %groups.x.wide",
        "  %next.x = select i1 %row.done, i64 0, i64 %right",
        "  %rows.done = zext i1 %row.done to i64",
        "  %below = add i64 %wide.y, %rows.done",
        "  %plane.done = icmp eq i64 %below, %groups.y.wide",
        "  %next.y = select i1 %plane.done, i64 0, i64 %below",
        "  %planes.done = zext i1 %plane.done to i64",
        "  %next.z = add i64 %wide.z, %planes.done",
        "  br label %groups",
    ]


class _Calls:
    """Calls of the gang functions."""

    def __init__(self, buffers: list[str], suspends: bool, team: int) -> None:
        self.buffers = [f"ptr {name}" for name in buffers]
        self.suspends = suspends
        self.team = team

    def full(self) -> list[str]:
        """The call of gang number %gang, or of team number %gang."""
        if self.team == 1:
            return [self.text("gang.full", "%gang", "0")]
        first = f"  %gang.first = mul i32 %gang, {self.team}"
        return [first, self.text("gang.full", "%gang.first", "0")]

    def text(self, function: str, gang: str, active: str) -> str:
        """A call."""
        values = {name: f"%{name}" for name in CONTEXT_NAMES} | {"gang": gang, "active": active}
        context = [f"i32 {values[name]}" for name in CONTEXT_NAMES]
        rest = ["i1 %streaming", "ptr %sums", "i64 %sums.bytes", "ptr %locks"]
        rest += ["ptr %private", "ptr %threadgroup", "ptr %cancel"]
        args = [*self.buffers, *context, *rest]
        if self.suspends:
            return f"call ptr @{function}({', '.join([*args, 'ptr %worker'])})"
        return f"call void @{function}({', '.join(args)})"

    def kept(self, call: str, number: str, place: str = "") -> list[str]:
        """A call; of a gang that suspends, the handle goes to its place in the ring."""
        if not self.suspends:
            return [f"  {call}"]
        return [
            f"  %{number}.handle = {call}",
            f"  %{number}.place = getelementptr ptr, ptr %ring, i32 %{place or number}",
            f"  store ptr %{number}.handle, ptr %{number}.place",
        ]


def _gangs(calls: _Calls, variant: Variant, behind: str) -> list[str]:
    """Calls the functions of all gangs, one after the other, and goes on to the block `behind`."""
    lines = ["  br label %gangs", "gangs:"]
    *first, call = calls.full()
    if variant.full:
        lines += [
            "  %gang = phi i32 [ 0, %one.group ], [ %gang.next, %one.gang ]",
            "  %more = icmp ult i32 %gang, %whole",
            "  br i1 %more, label %one.gang, label %tail",
            "one.gang:",
            *first,
            *calls.kept(call, "gang"),
            "  %gang.next = add i32 %gang, 1",
            "  br label %gangs",
            "tail:",
        ]
    if variant.partial:
        lines += [
            "  %ragged = icmp ne i32 %rest, 0",
            f"  br i1 %ragged, label %edge, label %{behind}",
            "edge:",
            *calls.kept(calls.text("gang.partial", "%whole", "%rest"), "whole"),
        ]
    return [*lines, f"  br label %{behind}"]


def _rounds() -> list[str]:
    """Resumes all gangs in turn until none waits."""
    return [
        "round:",
        "  %ragged.gang = icmp ne i32 %rest, 0",
        "  %ragged.count = zext i1 %ragged.gang to i32",
        "  %count = add i32 %whole, %ragged.count",
        "  br label %resume",
        "resume:",
        "  %at = phi i32 [ 0, %round ], [ %at.next, %resumed ]",
        "  %waiting = phi i1 [ false, %round ], [ %waiting.next, %resumed ]",
        "  %remains = icmp ult i32 %at, %count",
        "  br i1 %remains, label %look, label %round.end",
        "look:",
        "  %where = getelementptr ptr, ptr %ring, i32 %at",
        "  %coroutine = load ptr, ptr %where",
        "  %finished = call i1 @llvm.coro.done(ptr %coroutine)",
        "  br i1 %finished, label %resumed, label %wake",
        "wake:",
        "  call void @llvm.coro.resume(ptr %coroutine)",
        "  br label %resumed",
        "resumed:",
        "  %waiting.next = phi i1 [ %waiting, %look ], [ true, %wake ]",
        "  %at.next = add i32 %at, 1",
        "  br label %resume",
        "round.end:",
        "  br i1 %waiting, label %round, label %group.done",
    ]
