"""What is asked for some threadgroups ahead, compared with what those threadgroups access; and that
nothing is loaded for it that no thread loads."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.frontend.known import Extent, Known
from anymetal.ir.calls import PREFETCH
from anymetal.ir.model import Argument, Const, Instr, Program, Value
from anymetal.ir.spec import Stage, check
from anymetal.prefetch import indirect
from tests.compiling import known_of
from tests.ir.programs import program
from tests.ir.short import llvm

LINE = 64
GROUPS = 200
_ARRAYS = {
    f"%{name}": (number + 1) << 40 for number, name in enumerate(("index", "a", "sums", "out"))
}
_OPS = {
    "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "udiv": lambda a, b: a // b,
    "and": lambda a, b: a & b, "icmp": lambda a, b: int(a < b),
}  # fmt: skip


class Thread(NamedTuple):
    """A lane of a threadgroup of 32 threads, in an iteration: what values are there."""

    x: int = 0
    y: int = 0
    lane: int = 0
    iteration: int = 0

    def of(self, value: Value) -> int:
        if isinstance(value, Const):
            assert value.int_value is not None
            return value.int_value
        if isinstance(value, Argument):
            return _ARRAYS[value.name]
        assert isinstance(value, Instr)
        if value.op == "phi":
            if not self.iteration:
                return self.of(value.operands[0])
            return self._replace(iteration=self.iteration - 1).of(value.operands[1])
        if value.op == "load":  # any numbers, but always the same
            return (self.of(value.operands[0]) * 2654435761 >> 7) % 5000
        if value.op == "call" and value.arg != "llvm.umin.i32":
            return {"lane": self.lane, "group_x": self.x, "group_y": self.y}[value.arg[5:]]
        parts = [self.of(v) for v in value.operands]
        if value.op == "gep":
            scales = (1, *value.arg[:-1])
            return sum(p * s for p, s in zip(parts, scales, strict=True)) + int(value.arg[-1])
        if value.op == "call":
            return min(parts)
        return parts[0] if value.op in ("sext", "zext") else _OPS[value.op](*parts)


def requests_in(kernel: Program) -> list[Instr]:
    return [i for i in kernel.instructions() if i.op == "call" and i.arg == PREFETCH]


def asked(kernel: Program, thread: Thread) -> set[int]:
    """The lines that it asks for."""
    return {thread.of(i.operands[0]) // LINE for i in requests_in(kernel)}


def reached(kernel: Program, thread: Thread, iterations: int = 1) -> set[int]:
    """The lines of `a` and `sums` that its SIMD-group accesses."""
    places = {
        thread._replace(lane=lane, iteration=iteration).of(i.operands[0])
        for i in kernel.instructions()
        if i.op in ("load", "atomicrmw")
        for lane in range(32)
        for iteration in range(iterations)
    }
    return {p // LINE for p in places if _ARRAYS["%a"] <= p < _ARRAYS["%out"]}


def loaded(kernel: Program, thread: Thread) -> set[int]:
    """The places of `index` that its SIMD-group loads."""
    lanes = [thread._replace(lane=lane) for lane in range(32)]
    loads = [i for i in kernel.instructions() if i.op == "load"]
    places = {lane.of(i.operands[0]) for i in loads for lane in lanes}
    return {place for place in places if place < _ARRAYS["%a"]}


def kernels(text: str, grid: Extent, group: Extent = (32, 1, 1)) -> tuple[Program, Program]:
    """The program, and the same behind the pass."""
    before, kernel = (
        program(llvm(text, {"index": "i32"}), "ptr %index, ptr %a, ptr %sums, ptr %out")
        for _ in range(2)
    )
    for argument in kernel.args:
        argument.output = argument.apart = argument.name in ("%sums", "%out")
    facts = LaunchFacts(linear=True, aligned=True, flat=False, whole=True)
    changed = indirect.run(known_of(kernel, facts), Known(grid, group, ()))
    check(kernel, Stage.GANG)
    assert changed == bool(requests_in(kernel))
    return before, kernel


_HEAD = """
lane = lane()
x = group_x()
y = group_y()
"""
_STRAIGHT = (
    _HEAD
    + """
n = {}
s = a[{}]
out[x * 32 + lane] = s
ret void
"""
)
_LOOP = (
    _HEAD
    + """
n = index[x]
br label %before
before:
br label %loop
loop:
%k = phi i32 [ 0, %before ], [ %next, %loop ]
%s = phi float [ 0.0, %before ], [ %t, %loop ]
t = s + a[{} + k + lane]
next = k + 32
more = next < {}
br i1 %more, label %loop, label %end
end:
%last = phi float [ %t, %loop ]
out[x * 32 + lane] = last
ret void
"""
)
_BRANCH = (
    _HEAD
    + """
n = index[x]
some = n < 2500
br i1 %some, label %then, label %end
then:
place = {}
v = a[place + lane]
out[x * 32 + lane] = v
br label %end
end:
ret void
"""
)
_GUARD = (
    _HEAD
    + """
i = x * 32 + lane
{}
br i1 %some, label %then, label %end
then:
n = index[x]
s = a[n * 64 + lane]
out[i] = s
br label %end
end:
ret void
"""
)
_SUM = (
    _HEAD
    + """
n = index[x] * 64 + lane
%p = getelementptr float, ptr %sums, i32 %n
%old = atomicrmw fadd ptr %p, float 1.0 monotonic, align 4
ret void
"""
)
_WIDE: Extent = (32 * 200, 3, 1)
_ROWS: Extent = (64, 300, 1)


@pytest.mark.parametrize(
    ("text", "iterations", "grid", "far"),
    [
        (_STRAIGHT.format("index[x]", "n * 64 + lane"), 1, _WIDE, (16, 0)),
        (_STRAIGHT.format("index[x]", "n * 64"), 1, _WIDE, (16, 0)),  # the same for all lanes
        (_STRAIGHT.format("index[x * 32]", "n * 64 + lane"), 1, _WIDE, (16, 0)),
        (_STRAIGHT.format("index[x // 4 + 3]", "n * 64 + lane"), 1, _WIDE, (16, 0)),
        (_STRAIGHT.format("index[index[x] + 1]", "n * 64 + lane"), 1, _WIDE, (16, 0)),
        (_STRAIGHT.format("index[y]", "n * 64 + x * 32 + lane"), 1, _ROWS, (0, 8)),
        (_LOOP.format("n * 64", "64"), 2, _WIDE, (16, 0)),
        (_LOOP.format("n * 1024", "1024"), 4, _WIDE, (16, 0)),  # the rest a processor foresees
        (_LOOP.format("n * 64", "n"), 1, _WIDE, (16, 0)),  # nobody knows where it ends
        (_BRANCH.format("n * 64"), 1, _WIDE, (16, 0)),  # whether it is loaded or not
        (_BRANCH.format("n // 5 * 64"), 1, _WIDE, (16, 0)),
        (_SUM, 1, _WIDE, (16, 0)),
    ],
)  # fmt: skip
def test_what_a_later_threadgroup_accesses(
    text: str, iterations: int, grid: Extent, far: tuple[int, int]
) -> None:
    before, kernel = kernels(text, grid)
    width, height = grid[0] // 32, grid[1]
    everything = {
        p for x in range(width) for y in range(height) for p in loaded(before, Thread(x, y))
    }
    for x in (*range(0, width, 7), width - 1):
        for y in range(height):
            later = Thread(min(x + far[0], width - 1), min(y + far[1], height - 1))
            assert asked(kernel, Thread(x, y)) == reached(before, later, iterations)
            assert loaded(kernel, Thread(x, y)) <= everything


def test_threadgroups_at_the_edge() -> None:
    """The last one may lack threads; what it asks for is that of the last whole one."""
    text = _STRAIGHT.format("index[x * 32 + lane]", "index[x] * 64 + lane")
    before, kernel = kernels(text, (32 * GROUPS + 1, 1, 1))
    whole = {p for x in range(GROUPS) for p in loaded(before, Thread(x))}
    for x in range(GROUPS + 1):
        more = loaded(kernel, Thread(x)) - loaded(before, Thread(x))
        assert more <= whole
        assert asked(kernel, Thread(x)) == reached(before, Thread(min(x + 16, GROUPS - 1)))


@pytest.mark.parametrize(
    ("guard", "groups", "last"),
    [
        ("some = i < 6400", 201, 199),  # a grid that is rounded up
        ("some = i < 6400", 200, 199),
        ("some = i < 6390", 200, 198),
        ("some = i < 3200", 200, 0),  # half of the grid does nothing
        ("first = i < 6400\nsome = first & (i < 7000)", 201, 199),
        ("first = i < 6400\nsome = first & (lane < 32)", 201, 199),
        ("first = i < 6400\nsome = first & (lane < 31)", 201, 0),
        ("first = i < 6400\nsome = first | (lane < 31)", 201, 0),
        ("other = i < 6400\n%some = select i1 %other, i1 true, i1 false", 201, 199),
        ("other = i < 6400\n%some = select i1 true, i1 %other, i1 false", 201, 199),
        ("m = index[0]\nsome = i < m", 201, 0),
    ],
)
def test_guards(guard: str, groups: int, last: int) -> None:
    """Threads beyond what there is to do load nothing, nor is anything loaded for them."""
    before, kernel = kernels(_GUARD.format(guard), (32 * groups, 1, 1))
    assert bool(requests_in(kernel)) == bool(last)
    everything = {place for x in range(last + 1) for place in loaded(before, Thread(x))}
    for x in range(last + 1 if last else 0):
        later = Thread(min(x + 16, last))
        assert asked(kernel, Thread(x)) == reached(before, later)
        assert loaded(kernel, Thread(x)) <= everything


@pytest.mark.parametrize(
    ("text", "grid"),
    [
        (_STRAIGHT.format("index[x]", "x * 64 + lane"), _WIDE),  # processors see that coming
        (_STRAIGHT.format("index[x * 32 + lane]", "n"), _WIDE),  # a line for each lane
        (_STRAIGHT.format("index[lane]", "n * 64"), _WIDE),  # the same for all threadgroups
        (_STRAIGHT.format("index[x]", "n * 64 + lane"), (32 * 64, 1, 1)),  # too few of them
        (_BRANCH.format("64 // n"), _WIDE),  # n may be zero
        (_LOOP.format("index[k] * 64", "n"), _WIDE),
        (_SUM.replace("index[x]", "index[x] * 64 + index[lane]"), _WIDE),
    ],
)
def test_nothing_to_ask_for(text: str, grid: Extent) -> None:
    before, kernel = kernels(text, grid)
    assert [i.op for i in kernel.instructions()] == [i.op for i in before.instructions()]


def test_what_only_some_load_is_asked_for() -> None:
    """What it leads to is not: that number may lie outside of the array."""
    before, kernel = kernels(_BRANCH.format("index[n] * 64"), _WIDE)
    for x in range(GROUPS):
        first, *_ = [i for i in before.instructions() if i.op == "load"]
        number = Thread(min(x + 16, GROUPS - 1)).of(first)
        assert asked(kernel, Thread(x)) == {(_ARRAYS["%index"] + 4 * number) // LINE}


def test_what_threads_write_is_not_loaded_early() -> None:
    text = _STRAIGHT.format("index[x]", "n * 64 + lane").replace("ret", "index[x] = n\nret")
    _, kernel = kernels(text, _WIDE)
    assert not requests_in(kernel)
