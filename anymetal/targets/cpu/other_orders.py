"""Threadgroups and SIMD-groups of a sanitized launch in the order that the launch says.

The entry of such a build (entry.py) counts turns as that of any; what has its turn comes out of two
tables of the launch (observer/observer.h): `group_order`, which is null for the order of numbers,
and `gang_order`, the numbers of 32 gangs, of which a threadgroup skips those that it has not.
"""

from __future__ import annotations

from anymetal.ir.sizes import MAX_THREADS_PER_THREADGROUP, SIMD_GROUP

_AXES = ("x", "y", "z")
#: Offsets in `Launch` of observer.h, which has a static_assert for them.
GROUP_ORDER, GANG_ORDER = 0, 8
GANGS = MAX_THREADS_PER_THREADGROUP // SIMD_GROUP


def tables(record: str) -> list[str]:
    """Reads the addresses of the tables, at the start of the entry."""
    return [
        f"  %orders.at = getelementptr i8, ptr {record}, i64 {GROUP_ORDER}",
        "  %group.order = load ptr, ptr %orders.at",
        f"  %gangs.at = getelementptr i8, ptr {record}, i64 {GANG_ORDER}",
        "  %gang.order = load ptr, ptr %gangs.at",
        "  %in.order = icmp eq ptr %group.order, null",
    ]


def group() -> list[str]:
    """The position of the threadgroup that has turn number `%group`, as `%drawn.x` and so on."""
    return [
        "next.group:",
        "  br i1 %in.order, label %number.group, label %draw.group",
        "draw.group:",
        "  %drawn.at = getelementptr i64, ptr %group.order, i64 %group",
        "  %drawn.group = load i64, ptr %drawn.at",
        "  br label %number.group",
        "number.group:",
        "  %number = phi i64 [ %group, %next.group ], [ %drawn.group, %draw.group ]",
        "  %drawn.x = urem i64 %number, %groups.x.wide",
        "  %drawn.row = udiv i64 %number, %groups.x.wide",
        "  %drawn.y = urem i64 %drawn.row, %groups.y.wide",
        "  %drawn.z = udiv i64 %drawn.row, %groups.y.wide",
        "  br label %one.group",
    ]


def gangs(full: list[str], partial: list[str], behind: str) -> list[str]:
    """Calls the functions of all gangs and goes on to the block `behind`.

    `full` and `partial` call that of gang `%gang`, and of the last one if it lacks lanes; they may
    use `%turn`, which counts the calls.
    """
    lines = [
        "  br label %gangs",
        "gangs:",
        "  %draw = phi i32 [ 0, %one.group ], [ %draw.next, %drawn ]",
        "  %turn = phi i32 [ 0, %one.group ], [ %turn.next, %drawn ]",
        f"  %more = icmp ult i32 %draw, {GANGS}",
        f"  br i1 %more, label %one.draw, label %{behind}",
        "one.draw:",
        "  %gang.at = getelementptr i32, ptr %gang.order, i32 %draw",
        "  %gang = load i32, ptr %gang.at",
        "  %is.whole = icmp ult i32 %gang, %whole",
        f"  br i1 %is.whole, label %{'full.gang' if full else 'drawn'}, label %no.whole",
        "no.whole:",
        "  %is.last = icmp eq i32 %gang, %whole",
        "  %ragged = icmp ne i32 %rest, 0",
        "  %is.edge = and i1 %is.last, %ragged",
        f"  br {'i1 %is.edge, label %edge, ' if partial else ''}label %drawn",
    ]
    called = [("no.whole", "0")] + ([] if full else [("one.draw", "0")])
    for name, call in (("full.gang", full), ("edge", partial)):
        if call:
            lines += [f"{name}:", *call, "  br label %drawn"]
            called.append((name, "1"))
    steps = ", ".join(f"[ {step}, %{block} ]" for block, step in called)
    return [
        *lines,
        "drawn:",
        f"  %step = phi i32 {steps}",
        "  %turn.next = add i32 %turn, %step",
        "  %draw.next = add i32 %draw, 1",
        "  br label %gangs",
    ]
