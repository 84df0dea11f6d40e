"""What is prefetched, compared with what the gang to come loads; and that results stay the same."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.analysis.cache import LaunchFacts
from anymetal.ir import types as t
from anymetal.ir.calls import APART, PREFETCH
from anymetal.ir.model import Argument, Const, Instr, Program, Value
from anymetal.ir.spec import Stage, check
from anymetal.prefetch import requests
from anymetal.targets.cpu.variant import gang_width
from tests.compiling import known_of
from tests.ir.programs import program
from tests.ir.short import llvm

LINE = 64
_ARRAYS = {"%a": 1 << 40, "%b": 1 << 41}
_OPS = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "icmp": lambda a, b: int(a < b)}


class Gang(NamedTuple):
    """One gang in an iteration: it computes what a value is in one of its lanes."""

    x: int = 3
    y: int = 5
    n: int = 1024  #: what `sizes` holds
    iteration: int = 0
    around: int = 0  #: iteration of the loop around

    def of(self, value: Value, lane: int = 0) -> int:
        if isinstance(value, Const):
            assert value.int_value is not None
            return value.int_value
        if isinstance(value, Argument):
            return _ARRAYS[value.name]
        assert isinstance(value, Instr) and value.block is not None
        if value.op == "phi":
            return self._phi(value, lane)
        if value.op == "call":
            return {"lane": lane, "group_x": self.x, "group_y": self.y}[value.arg[5:]]
        if value.op == "load":
            return self.n
        parts = [self.of(v, lane) for v in value.operands]
        if value.op == "gep":
            scales = (1, *value.arg[:-1])
            return sum(p * s for p, s in zip(parts, scales, strict=True)) + int(value.arg[-1])
        if value.op == "select":
            return parts[1] if parts[0] else parts[2]
        return parts[0] if value.op == "sext" else _OPS[value.op](*parts)

    def _phi(self, phi: Instr, lane: int) -> int:
        assert phi.block is not None
        if phi.block.name == "%loop":
            before = self._replace(iteration=self.iteration - 1)
            return (
                before.of(phi.operands[1], lane)
                if self.iteration
                else self.of(phi.operands[0], lane)
            )
        before = self._replace(around=self.around - 1)
        return before.of(phi.operands[1], lane) if self.around else self.of(phi.operands[0], lane)

    def asked(self, kernel: Program) -> set[int]:
        """The lines that it asks for."""
        return {self.of(i.operands[0]) // LINE for i in requests_in(kernel)}

    def loaded(self, kernel: Program) -> set[int]:
        """The lines that it loads from `a`."""
        loads = [i for i in kernel.instructions() if i.op == "load" and str(i.type) == "float"]
        places = {self.of(i.operands[0], lane) for i in loads for lane in range(32)}
        return {place // LINE for place in places if place < _ARRAYS["%b"]}


def requests_in(kernel: Program) -> list[Instr]:
    return [i for i in kernel.instructions() if i.op == "call" and i.arg == PREFETCH]


def prefetched(text: str, team: int = 1, sections: bool = False) -> Program:
    """The program behind the pass; the next gang is that of the next threadgroup. `sections`: each
    store begins one."""
    kernel = program(llvm(text, {"sizes": "i32"}), "ptr %a, ptr %b, ptr %sizes, ptr %out")
    for store in [i for i in kernel.instructions() if i.op == "store" and sections]:
        assert store.block is not None
        store.block.insert(store.block.instrs.index(store), [Instr(t.VOID, "call", [], APART)])
    launch = LaunchFacts(linear=True, aligned=True, flat=False, whole=True)
    steps = [{"__am_group_x": 1}, {"__am_group_y": 1}]
    changed = requests.run(known_of(kernel, launch), steps, team)
    check(kernel, Stage.GANG)
    assert changed == bool(requests_in(kernel))
    return kernel


# -------------------------------------------------------------------------------------- loops

_LOOP = """
lane = lane()
row = group_y() * 2
n = sizes[0]
br label %before
before:
br label %loop
loop:
%k = phi i32 [ 0, %before ], [ %next, %loop ]
%s = phi float [ 0.0, %before ], [ %t, %loop ]
i = k + lane
t = s + {}
next = k + 32
more = next < n
br i1 %more, label %loop, label %end
end:
%last = phi float [ %t, %loop ]
store float %last, ptr %out
ret void
"""


@pytest.mark.parametrize(
    ("loaded", "lines"),
    [
        ("a[row * n + i] * a[(row + 1) * n + i]", 4),
        ("a[row * 512 + i] * a[row * 512 + 256 + i] * b[i]", 4),
        ("a[row * n + i] * b[row * n + i]", 0),  # a run of each goes on where the last one ended
        ("a[row * n + i] * a[row * n + i + 32]", 0),  # one run
        ("a[row * n + i] * a[i]", 0),  # of which one is the same for all gangs
        ("a[i] * a[n + i]", 0),
        ("a[row * n + i * 64] * a[(row + 1) * n + i * 64]", 0),  # an element of every fourth line
        ("a[row * n + lane] * a[(row + 1) * n + lane]", 0),  # the same in all iterations
        ("a[row * n + i * n] * a[(row + 1) * n + i * n]", 0),  # lanes lie nobody knows where
    ],
)
def test_runs_beside_each_other_are_asked_for(loaded: str, lines: int) -> None:
    kernel = prefetched(_LOOP.format(loaded))
    assert len(requests_in(kernel)) == lines
    for iteration in range(3 if lines else 0):
        now, then = (Gang(y=y, iteration=iteration) for y in (5, 6))
        assert now.asked(kernel) == then.loaded(kernel)


def test_what_would_be_gone_from_the_cache_is_not_asked_for() -> None:
    kernel = prefetched(_LOOP.format("a[row * n + i] * a[(row + 1) * n + i]"))
    for n, asks in ((1 << 10, True), (1 << 20, False)):
        now, then = Gang(n=n), Gang(y=6, n=n)
        assert now.asked(kernel) == (then if asks else now).loaded(kernel)


def test_simdgroups_of_a_team_make_one_run() -> None:
    """Each has its own counter; together they go along one run."""
    text = _LOOP.format("a[row * n + i] * a[row * n + j]")
    for old, new in (
        ("%s = phi", "%l = phi i32 [ 32, %before ], [ %other, %loop ]\n%s = phi"),
        ("t = s", "j = l + lane\nt = s"),
        ("next = k + 32", "next = k + 64\nother = l + 64"),
    ):
        text = text.replace(old, new)
    assert not requests_in(prefetched(text, team=2))
    apart = prefetched(text.replace("a[row * n + j]", "a[(row + 1) * n + j]"), team=2)
    assert Gang(iteration=2).asked(apart) == Gang(y=6, iteration=2).loaded(apart)


def test_lanes_that_leave_a_loop_before_others() -> None:
    text = _LOOP.format("a[row * n + i] * a[(row + 1) * n + i]").replace(
        "i = k + lane", "i = k + 0"
    )
    text = text.replace("%k = phi i32 [ 0,", "%k = phi i32 [ %lane,")
    kernel = prefetched(text)
    assert len(requests_in(kernel)) == 4
    assert Gang(iteration=2).asked(kernel) == Gang(y=6, iteration=2).loaded(kernel)
    each_its_own = text.replace("n = sizes[0]", "n = sizes[lane]")
    assert not requests_in(prefetched(each_its_own))


def test_pointers_that_move_on() -> None:
    kernel = prefetched("""
    lane = lane()
    n = sizes[0]
    row = group_y() * 2 * n + lane
    %first = getelementptr float, ptr %a, i32 %row
    below = row + n
    %second = getelementptr float, ptr %a, i32 %below
    br label %before
    before:
    br label %loop
    loop:
    %i = phi i32 [ 0, %before ], [ %next, %loop ]
    %s = phi float [ 0.0, %before ], [ %u, %loop ]
    %p = phi ptr [ %first, %before ], [ %p1, %loop ]
    %q = phi ptr [ %second, %before ], [ %q1, %loop ]
    %v = load float, ptr %p
    %w = load float, ptr %q
    %t = fadd float %s, %v
    %u = fadd float %t, %w
    %p1 = getelementptr i8, ptr %p, i64 128
    %q1 = getelementptr i8, ptr %q, i64 128
    next = i + 32
    more = next < n
    br i1 %more, label %loop, label %end
    end:
    %last = phi float [ %u, %loop ]
    store float %last, ptr %out
    ret void
    """)
    assert len(requests_in(kernel)) == 4
    for iteration in range(3):
        now, then = (Gang(y=y, iteration=iteration) for y in (5, 6))
        assert now.asked(kernel) == then.loaded(kernel)


_NEST = """
lane = lane()
n = sizes[0]
br label %before
before:
br label %around
around:
%r = phi i32 [ 0, %before ], [ %r1, %behind ]
br label %loop
loop:
%k = phi i32 [ 0, %around ], [ %next, %loop ]
%s = phi float [ 0.0, %around ], [ %t, %loop ]
i = k + lane
t = s + {}
next = k + 32
more = next < {}
br i1 %more, label %loop, label %behind
behind:
%last = phi float [ %t, %loop ]
out[r] = last
r1 = r + {}
again = r1 < n
br i1 %again, label %around, label %end
end:
ret void
"""


@pytest.mark.parametrize("step", ["2", "n"])
@pytest.mark.parametrize(
    ("loaded", "lines"),
    [
        ("a[r * 512 + i] * a[r * 512 + 256 + i]", 4),
        ("a[i] * a[256 + i]", 0),
        ("a[r * r * 512 + i] * a[r * r * 512 + 256 + i]", 0),  # farther each time
    ],
)
def test_the_loop_around_goes_on(loaded: str, lines: int, step: str) -> None:
    kernel = prefetched(_NEST.format(loaded, "n", step))
    assert len(requests_in(kernel)) == lines
    now, then = (Gang(around=around, iteration=1) for around in (1, 2))
    assert not lines or now.asked(kernel) == then.loaded(kernel)


@pytest.mark.parametrize(
    ("rows", "stop", "instructions", "lines"),
    [
        (512, "256", 60, 2),
        (512, "n", 60, 0),  # nobody knows where the loop ends
        (512, "512", 60, 0),  # where the next iteration of the loop around begins
        (512, "256", 0, 0),  # asking would take longer than all else
    ],
)
def test_a_run_that_does_not_go_on(rows: int, stop: str, instructions: int, lines: int) -> None:
    work = "\n".join(f"s{i + 1} = s{i} * 0.5" for i in range(instructions))
    text = _NEST.format(f"s{instructions}", stop, "1")
    text = text.replace("t = s +", f"s0 = a[r * {rows} + i] * 1.0\n{work}\nt = s +")
    kernel = prefetched(text)
    assert len(requests_in(kernel)) == lines
    now, then = (Gang(around=around, iteration=1) for around in (1, 2))
    assert not lines or now.asked(kernel) == then.loaded(kernel)


# ------------------------------------------------------------------------------ straight code


def straight(index: str, rows: int, instructions: int = 0) -> str:
    """Loads `a[index]` for each `K`, and computes so long."""
    lines = ["lane = lane()", "n = sizes[0]", "x = group_x() * 32 + lane", "y = group_y()"]
    lines += [f"v{k} = a[{index.replace('K', str(k))}]" for k in range(rows)]
    lines += ["s0 = v0 + v1"]
    lines += [f"s{k} = s{k - 1} + v{k % rows}" for k in range(1, rows + instructions)]
    return "\n".join([*lines, f"out[x] = s{rows + instructions - 1}", "ret void"])


@pytest.mark.parametrize(
    ("index", "rows", "lines"),
    [
        ("K * n + x", 20, 40),
        ("(y * 20 + K) * n + lane", 20, 40),
        ("K * n + x", 16, 0),  # as many as a processor follows
        ("K * n + lane", 20, 0),  # the same for all gangs
        ("K * n + x * 64", 20, 0),  # too much
        ("K * 32 + x", 20, 0),  # one long run
        ("(K + x // 32) * n + lane", 20, 0),  # nobody knows how far on
        ("(K + y) * n + lane", 20, 0),  # the next gang loads mostly the same
    ],
)
def test_parts_of_many_runs_are_asked_for(index: str, rows: int, lines: int) -> None:
    kernel = prefetched(straight(index, rows))
    assert len(requests_in(kernel)) == lines
    then = Gang(x=5) if "x" in index else Gang(y=7)
    assert not lines or Gang().asked(kernel) == then.loaded(kernel)
    (block,) = kernel.blocks
    last = max(at for at, i in enumerate(block.instrs) if i.op == "load")
    assert all(block.instrs.index(i) > last for i in requests_in(kernel))


@pytest.mark.parametrize(
    ("index", "instructions", "lines"),
    [
        ("(y * 32 + lane) * 16 + K", 600, 32),  # 16 floats of each of 32 lanes
        ("(y * 16 + K) * 32 + lane", 600, 32),  # the same memory in another order
        ("(y * 32 + lane) * 16 + K", 100, 0),  # nothing to do meanwhile
        ("(y * 32 + lane) * n + K", 600, 0),  # lanes lie nobody knows how far apart
        ("lane * 16 + K", 600, 0),  # all gangs load the same
        ("y * 32 + lane + K", 600, 0),  # three lines
    ],
)
def test_who_computes_for_long_asks_meanwhile(index: str, instructions: int, lines: int) -> None:
    kernel = prefetched(straight(index, 16, instructions))
    assert len(requests_in(kernel)) == lines
    assert not lines or Gang().asked(kernel) == Gang(y=6).loaded(kernel)


_BODY = """
lane = lane()
n = sizes[0]
br label %before
before:
br label %loop
loop:
%k = phi i32 [ 0, %before ], [ %next, %loop ]
{}
next = k + {}
more = next < n
br i1 %more, label %loop, label %end
end:
ret void
"""


def rows_of(index: str, rows: range) -> str:
    """Loads `a[index]` for each `K`, and stores it."""
    return "\n".join(f"v{k} = a[{index.replace('K', str(k))}]\nout[lane] = v{k}" for k in rows)


@pytest.mark.parametrize(
    ("index", "rows", "step", "in_sections", "else_"),
    [
        ("(k * 16 + K) * 32 + lane", 16, "1", 32, 0),  # a processor foresees where it goes on
        ("(k * 16 + K) * 32 + lane", 16, "3", 32, 32),
        ("k * n + K * 32 + lane", 16, "1", 32, 32),
        ("(k * 16 + K) * n + lane", 16, "1", 0, 0),  # 16 short runs
        ("(k * 4 + K) * 32 + lane", 4, "3", 0, 0),  # eight lines
        ("(k * 4 + K) * 32 + lane", 16, "1", 0, 0),  # most of what this iteration loads
        ("K * 32 + lane", 16, "1", 0, 0),  # the same in each iteration
    ],
)
@pytest.mark.parametrize("sections", [True, False])
@pytest.mark.parametrize("backwards", [True, False])
def test_long_runs_of_the_next_iteration(
    index: str, rows: int, step: str, in_sections: int, else_: int, sections: bool, backwards: bool
) -> None:
    order = range(rows)[::-1] if backwards else range(rows)
    kernel = prefetched(_BODY.format(rows_of(index, order), step), sections=sections)
    lines = in_sections if sections else else_
    assert len(requests_in(kernel)) == lines
    for iteration in range(3 if lines else 0):
        now, then = (Gang(iteration=i) for i in (iteration, iteration + 1))
        assert now.asked(kernel) == then.loaded(kernel)


@pytest.mark.parametrize("sections", [True, False])
def test_sections_of_the_next_gang(sections: bool) -> None:
    head = "lane = lane()\nn = sizes[0]\ny = group_y()\n"
    kernel = prefetched(
        head + rows_of("y * n + K * 32 + lane", range(16)) + "\nret void", sections=sections
    )
    assert len(requests_in(kernel)) == (32 if sections else 0)
    assert not sections or Gang().asked(kernel) == Gang(y=6).loaded(kernel)
    asked = [i.op == "call" and i.arg == PREFETCH for i in kernel.instructions()]
    loads = [at for at, i in enumerate(kernel.instructions()) if i.op == "load"][-16:]
    assert all(sum(asked[a:b]) == 2 * sections for a, b in pairwise(loads))


def test_the_code_behind_a_branch_counts() -> None:
    """What is loaded in one block is computed with in others."""
    text = straight("(y * 32 + lane) * 16 + K", 16, 600)
    head, sum_of_all = text.split("s0 = v0 + v1")
    parts = [head, "br label %behind\nbehind:\ns0 = v0 + v1", sum_of_all]
    kernel = prefetched("\n".join(parts))
    assert len(requests_in(kernel)) == 32
    assert Gang().asked(kernel) == Gang(y=6).loaded(kernel)


def test_requests_stand_beside_loads() -> None:
    (block,) = prefetched(straight("(y * 32 + lane) * 16 + K", 16, 600)).blocks
    asked = [i.op == "call" and i.arg == PREFETCH for i in block.instrs]
    loads = [at for at, i in enumerate(block.instrs) if i.op == "load"][-16:]
    assert all(sum(asked[a:b]) == 2 for a, b in pairwise(loads))
    seen = set()
    for instr in block.instrs:
        assert not any(getattr(v, "block", None) is block and v not in seen for v in instr.operands)
        seen.add(instr)


# ------------------------------------------------------------------------------------ results

_SUM = """
    for (uint i = lane; i < n; i += 32) {
        s += a[row * n + i] * b[(row | 1) * n + i] + a[(row + 1) * n + i];
    }
"""
#: Each SIMD-group has two rows beside each other.
_SIDE_BY_SIDE = f"""
uint lane = thread_index_in_simdgroup, row = thread_position_in_grid.y * 2;
float s = 0;
{_SUM}
float sum = simd_sum(s);
out[row] = sum;
out[row + 1] = -sum;
"""
#: The same, by one threadgroup whose SIMD-groups take pairs of rows in turn.
_IN_TURN = f"""
uint lane = thread_index_in_simdgroup, count = simdgroups_per_threadgroup;
for (uint r = 0; r < 8; r += count) {{
    uint row = (r + simdgroup_index_in_threadgroup) * 2;
    float s = 0;
    {_SUM}
    float sum = simd_sum(s);
    if (lane == 0) out[row] = sum, out[row + 1] = -sum;
}}
"""


@pytest.mark.parametrize("columns", [64, 100, 70_000])
@pytest.mark.parametrize("rows_in_turn", [False, True])
@pytest.mark.parametrize("group", [(32, 4, 1), (64, 2, 1), (32, 1, 1)])
def test_results(columns: int, rows_in_turn: bool, group: tuple[int, int, int]) -> None:
    kernel = anymetal.metal_kernel(
        name="rows_side_by_side",
        input_names=["a", "b", "n"],
        output_names=["out"],
        source=_IN_TURN if rows_in_turn else _SIDE_BY_SIDE,
    )
    random = np.random.default_rng(3)
    a, b = (random.integers(-4, 5, (16, columns)).astype(np.float32) for _ in range(2))

    def run() -> np.ndarray:
        (result,) = kernel(
            inputs=[mx.array(a), mx.array(b), mx.array(columns, mx.uint32)],
            grid=(group[0], group[1] if rows_in_turn else 8, 1), threadgroup=group,
            output_shapes=[(16,)], output_dtypes=[mx.float32],
        )  # fmt: skip
        return np.array(result)

    with gang_width(1):
        expected = run()
    np.testing.assert_array_equal(run(), expected)
    np.testing.assert_array_equal(expected[::2], (a[::2] * b[1::2] + a[1::2]).sum(1))
