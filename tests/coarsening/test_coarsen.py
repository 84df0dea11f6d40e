"""SIMD-groups that run as one: what they share, what each has for itself, where they part."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.coarsening import coarsen, teams
from anymetal.coarsening.divergence import Divergence
from anymetal.ir.cfg import find_loops
from anymetal.ir.model import Program
from anymetal.ir.spec import Stage, check
from anymetal.machine import Machine
from anymetal.passes import place_in_rows, version_by_bounds
from tests.compiling import known_of
from tests.ir.programs import ops, program
from tests.ir.short import llvm

LAUNCH = LaunchFacts(linear=True, aligned=True, flat=False, whole=True)
_STEPS = {"__am_gang": 1, "__am_thread_x": 32}
WIDE, _NARROW = Machine("", "", "+avx512f,+avx2"), Machine("", "", "+avx2")
_NEON = Machine("aarch64-linux-gnu", "", "+neon")


def jammed(body: str, count: int) -> tuple[Program, Divergence]:
    kernel = program(body)
    divergence = Divergence(Analyses(kernel), frozenset(_STEPS), lambda instr: False)
    assert divergence.possible
    coarsen.run(kernel, divergence, _STEPS, count)
    check(kernel, Stage.GANG)
    return kernel, divergence


def count_of(kernel: Program, op: str) -> int:
    return ops(kernel).count(op)


def test_what_is_the_same_is_there_once() -> None:
    kernel, _ = jammed(
        """
        %lane = call i32 @__am_lane()
        %gang = call i32 @__am_gang()
        %from = getelementptr i32, ptr %a, i32 %lane
        %shared = load i32, ptr %from
        %own = add i32 %shared, %gang
        %to = getelementptr i32, ptr %out, i32 %gang
        store i32 %own, ptr %to
        ret void
        """,
        3,
    )
    assert count_of(kernel, "load") == 1
    assert count_of(kernel, "store") == 3
    calls = [i.arg for i in kernel.instructions() if i.op == "call"]
    assert calls == ["__am_lane", "__am_gang"]  # the positions of the others follow from it


def test_different_ways_are_taken_one_after_the_other() -> None:
    kernel, divergence = jammed(
        """
        %gang = call i32 @__am_gang()
        %odd = and i32 %gang, 1
        %is = icmp eq i32 %odd, 0
        br i1 %is, label %then, label %join
        then:
        %x = load i32, ptr %a
        br label %join
        join:
        %v = phi i32 [ %x, %then ], [ 7, %entry ]
        %to = getelementptr i32, ptr %out, i32 %gang
        store i32 %v, ptr %to
        ret void
        """,
        2,
    )
    assert len(divergence.parts) == 1
    assert [len(b.successors) for b in kernel.blocks].count(2) == 2
    assert count_of(kernel, "load") == 2


def test_a_loop_of_different_lengths_is_apart_as_a_whole() -> None:
    kernel, divergence = jammed(
        """
        %gang = call i32 @__am_gang()
        br label %loop
        loop:
        %i = phi i32 [ 0, %entry ], [ %next, %loop ]
        %next = add i32 %i, 1
        %more = icmp ult i32 %next, %gang
        br i1 %more, label %loop, label %end
        end:
        %last = phi i32 [ %next, %loop ]
        %to = getelementptr i32, ptr %out, i32 %gang
        store i32 %last, ptr %to
        ret void
        """,
        2,
    )
    assert len(divergence.parts) == 1
    headers = {loop.header for loop in find_loops(kernel.blocks)}
    assert len(headers) == 2


def test_no_barrier_where_simdgroups_are_apart() -> None:
    kernel = program(
        """
        %gang = call i32 @__am_gang()
        %is = icmp eq i32 %gang, 0
        br i1 %is, label %then, label %join
        then:
        call void @__am_threadgroup_barrier(i32 1)
        br label %join
        join:
        ret void
        """
    )
    assert not Divergence(Analyses(kernel), frozenset(_STEPS), lambda instr: False).possible


#: %l is the index in the threadgroup.
_ENTRY = "g = gang()\nlane = lane()\nl = g * 32 + lane\n"
_BARRIER = "call void @__am_threadgroup_barrier(i32 0)\n"
_COPY = "out[l] = a[l]\nret void"


def loop(body: str, sums: int = 1) -> str:
    """50 iterations of a body that computes new sums `t0`, `t1`, … from `s0`, `s1`, …"""
    phis = [f"%s{i} = phi float [ 0.0, %before ], [ %t{i}, %loop ]" for i in range(sums)]
    lasts = [f"%last{i} = phi float [ %t{i}, %loop ]" for i in range(sums)]
    lines = [
        "br label %before",
        "before:",
        "br label %loop",
        "loop:",
        "%k = phi i32 [ 0, %before ], [ %next, %loop ]",
        *phis,
        body,
        "next = k + 1",
        "more = next < 50",
        "br i1 %more, label %loop, label %end",
        "end:",
        *lasts,
        f"out[l] = {' + '.join(f'last{i}' for i in range(sums))}",
        "ret void",
    ]
    return "\n".join(lines)


#: The second factor is the same for all SIMD-groups.
_SUM = loop("t0 = s0 + a[g * 50 + k] * a[k * 32 + lane]")
_SPIN = """br label %wait
wait:
%old = atomicrmw xchg ptr %out, i32 1 monotonic
%taken = icmp ne i32 %old, 0
br i1 %taken, label %wait, label %free
free:
"""


def size_of_team(body: str, machine: Machine = WIDE) -> int:
    """Of a threadgroup of eight SIMD-groups."""
    kernel = program(llvm(_ENTRY + body))
    size = teams.form(known_of(kernel, LAUNCH, machine=machine), 8, True)
    check(kernel, Stage.GANG)
    return size


@pytest.mark.parametrize(
    ("body", "size"),
    [
        (_SUM, 8),
        (_COPY, 1),
        (_BARRIER + _COPY, 8),
        (_BARRIER + _SUM, 8),
        (_SPIN + _BARRIER + _COPY, 1),
    ],
)
def test_how_many_run_as_one(body: str, size: int) -> None:
    assert size_of_team(body) == size


def test_fewer_where_registers_are_few() -> None:
    assert 1 < size_of_team(_SUM, _NARROW) < 8


@pytest.mark.parametrize(("machine", "most"), [(_NARROW, 8), (_NEON, 1)])
def test_registers_are_too_few_for_one(machine: Machine, most: int) -> None:
    """Twelve vectors for all take three times the registers of AVX2, which adds out of memory."""
    lines = [f"v{i} = a[k * 384 + lane + {32 * i}]" for i in range(12)]
    lines += [f"x{i} = a[g * 50 + k + {i}]" for i in range(12)]
    first = " + ".join(f"v{i} * x{i}" for i in range(12))
    again = " * ".join(f"(v{i} + x{11 - i})" for i in range(12))
    shared = loop("\n".join([*lines, f"t0 = s0 + ({first}) * {again}"]))
    assert size_of_team(shared, machine) == most


def test_registers_of_a_section_are_used_again() -> None:
    """What a SIMD-group needs during its section only is there once for all sections."""
    count = 12
    lines = ["v = a[k * 32 + lane]"]
    lines += [f"p{i} = v * a[g * 50 + k + {i}]" for i in range(count)]
    products = " + ".join(f"p{i} * p{(i * 5 + 1) % count}" for i in range(count))
    assert size_of_team(loop("\n".join([*lines, f"t0 = s0 + {products}"]))) == 8


@pytest.mark.parametrize(("terms", "size"), [(2, 2), (6, 8)])
def test_what_is_kept_for_long_sections_may_wait_in_memory(terms: int, size: int) -> None:
    """Eight sums of eight SIMD-groups are four times the registers."""
    lines = ["v = a[k * 32 + lane]"]
    for i in range(8):
        factors = " * ".join(f"(v + a[at{i} + {n}])" for n in range(terms))
        lines += [f"at{i} = g * 4000 + k * {terms} + {500 * i}", f"t{i} = s{i} + v * {factors}"]
    assert size_of_team(loop("\n".join(lines), sums=8)) == size


def test_a_bound_is_nothing_to_share() -> None:
    """SIMD-groups with rows of their own stay apart, though all look at the same length."""
    text = """
        lane = lane()
        row = thread_y()
        n = shape[0]
        first = rows[row]
        low = first >= 0
        high = first < n
        %both = and i1 %low, %high
        br i1 %both, label %inside, label %end
        inside:
        some = lane < n
        br i1 %some, label %before, label %end
        before:
        br label %loop
        loop:
        %i = phi i32 [ %lane, %before ], [ %next, %loop ]
        out[row * n + i] = a[first + i]
        next = i + 32
        more = next < n
        br i1 %more, label %loop, label %end
        end:
        ret void
    """
    kernel = program(
        llvm(text, {"shape": "i32", "rows": "i32"}), "ptr %a, ptr %rows, ptr %shape, ptr %out"
    )
    kernel.args[2].describes = True
    place_in_rows.run(Analyses(kernel), 32)
    assert version_by_bounds.run(known_of(kernel, LAUNCH))
    assert teams.form(known_of(kernel, LAUNCH, machine=WIDE), 8, False) == 1


def points(channels: int) -> str:
    """Loads a bound for each point, and its channels if they are inside."""
    return f"""
        %group = call i32 @__am_group_x()
        %size = call i32 @__am_full_size_x()
        %thread = call i32 @__am_thread_x()
        %first = mul i32 %group, %size
        %i = add i32 %first, %thread
        %point = udiv i32 %i, {channels}
        %channel = urem i32 %i, {channels}
        %at = getelementptr i32, ptr %a, i32 %point
        %bits = load i32, ptr %at
        %moved = xor i32 %bits, 5
        %spread = mul i32 %moved, %moved
        %high = lshr i32 %spread, 7
        %row = and i32 %high, 511
        %scaled = mul i32 %row, {channels}
        %element = add i32 %scaled, %channel
        %from = getelementptr i32, ptr %a, i32 %element
        %inside = icmp ult i32 %row, 50
        br i1 %inside, label %then, label %end
        then:
        %x = load i32, ptr %from
        %to = getelementptr i32, ptr %out, i32 %i
        store i32 %x, ptr %to
        br label %end
        end:
        ret void
    """


@pytest.mark.parametrize(
    ("channels", "size", "bounds"),
    [(32, 1, 1), (64, 2, 1), (96, 1, 1), (128, 4, 1), (192, 2, 1), (1024, 4, 1)],
)
def test_a_team_has_its_points_in_common(channels: int, size: int, bounds: int) -> None:
    known = known_of(program(points(channels)), LAUNCH, machine=WIDE)
    version_by_bounds.run(known)
    known.forget()
    team = teams.form(known, 8, True)
    check(known.program, Stage.GANG)
    copies = [i for i in known.program.instructions() if i.op == "load"]
    stores = count_of(known.program, "store")
    assert (team, stores) == (size, 2 * size)
    assert len(copies) == bounds + 2 * size


@pytest.mark.parametrize(("asked", "loads"), [("thread", 2), ("group", 1)])
def test_a_bound_is_in_common_where_all_load_it(asked: str, loads: int) -> None:
    kernel = program(
        f"""
        %thread = call i32 @__am_thread_x()
        %group = call i32 @__am_group_x()
        call void @__am_threadgroup_barrier(i32 0)
        %asks = icmp ugt i32 %{asked}, 50
        %bound = load i32, ptr %a
        %to = getelementptr i32, ptr %out, i32 %thread
        store i32 %bound, ptr %to
        ret void
        """
    )
    load = next(i for i in kernel.instructions() if i.op == "load")
    asks = next(i for i in kernel.instructions() if i.op == "icmp")
    load.op, load.operands = "guarded_load", [load.operands[0], asks]
    assert teams.form(known_of(kernel, LAUNCH, machine=WIDE), 2, True) == 2
    check(kernel, Stage.GANG)
    assert count_of(kernel, "guarded_load") == loads


@pytest.mark.parametrize(("rows", "team"), [((0, 1, 2), 4), ((0, 2), 1), ((0, 0), 1)])
def test_neighbouring_rows_are_loaded_once(rows: tuple[int, ...], team: int) -> None:
    """SIMD-groups are rows; each loads some around its own, and most of these the next one, too.
    Single numbers that all of them load make no team."""
    loads = "".join(
        f"%r{k} = add i32 %row, {row}\n%s{k} = mul i32 %r{k}, 512\n%e{k} = add i32 %s{k}, %c\n"
        f"%p{k} = getelementptr float, ptr %a, i32 %e{k}\n%v{k} = load float, ptr %p{k}\n"
        f"%w{k} = getelementptr i8, ptr %a, i64 {4 * k}\n%f{k} = load float, ptr %w{k}\n"
        f"%m{k} = fmul float %v{k}, %f{k}\n"
        for k, row in enumerate(rows)
    )
    kernel = program(
        f"""
        %lane = call i32 @__am_lane()
        %row = call i32 @__am_gang()
        %group = call i32 @__am_group_x()
        %first = shl i32 %group, 5
        %c = add i32 %first, %lane
        %o = shl i32 %row, 9
        %e = add i32 %o, %c
        %to = getelementptr float, ptr %out, i32 %e
        %n = load i32, ptr %shape
        %inside = icmp slt i32 %c, %n
        br i1 %inside, label %then, label %end
        then:
        {loads}
        %sum = fadd float %m0, %m1
        store float %sum, ptr %to
        br label %end
        end:
        ret void
        """,
        "ptr %a, ptr %shape, ptr %out",
    )
    kernel.args[1].describes = True
    for argument in kernel.args:
        argument.apart = True
    assert version_by_bounds.run(known_of(kernel, LAUNCH))
    assert teams.form(known_of(kernel, LAUNCH, machine=WIDE), 8, False) == team
