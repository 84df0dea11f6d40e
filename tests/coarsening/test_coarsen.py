"""SIMD-groups that run as one: what they share, what each has for itself, where they part."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.coarsening import coarsen, teams
from anymetal.coarsening.divergence import Differ
from anymetal.ir.cfg import find_loops
from anymetal.ir.model import Program
from anymetal.ir.spec import Stage, check
from anymetal.machine import Machine
from anymetal.passes import place_in_rows, version_by_bounds
from anymetal.pipeline.program import thread_program
from tests.compiling import known_of
from tests.frontend.kernels import kernel_source
from tests.ir.programs import ops, program

LAUNCH = LaunchFacts(linear=True, aligned=True, flat=False, whole=True)
_STEPS = {"__am_gang": 1, "__am_thread_x": 32}
_WIDE, _NARROW = Machine("", "", "+avx512f,+avx2"), Machine("", "", "+avx2")
_SUM = """
float sum = 0;
for (uint k = 0; k < 50; ++k) sum += a[g * 50 + k] * a[k * 32 + l % 32];
out[g * 32 + l % 32] = sum;
"""
_ID = "uint l = thread_index_in_threadgroup, g = simdgroup_index_in_threadgroup;\n"


def jammed(body: str, count: int) -> tuple[Program, Differ]:
    kernel = program(body)
    differ = Differ(Analyses(kernel), frozenset(_STEPS), lambda instr: False)
    assert differ.possible
    coarsen.run(kernel, differ, _STEPS, count)
    check(kernel, Stage.GANG)
    return kernel, differ


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
    kernel, differ = jammed(
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
    assert len(differ.parts) == 1
    assert [len(b.successors) for b in kernel.blocks].count(2) == 2
    assert count_of(kernel, "load") == 2


def test_a_loop_of_different_lengths_is_apart_as_a_whole() -> None:
    kernel, differ = jammed(
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
    assert len(differ.parts) == 1
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
    assert not Differ(Analyses(kernel), frozenset(_STEPS), lambda instr: False).possible


@pytest.mark.parametrize(
    ("body", "size"),
    [
        (_SUM, 8),  # the second factor is the same for all
        ("out[l] = a[l];", 1),
        (f"threadgroup_barrier(mem_flags::mem_none); {_SUM}", 8),
        ("device atomic_int* n = (device atomic_int*)out; int old = 1;\n"
         "while (old) old = atomic_exchange_explicit(n, 1, memory_order_relaxed);\n"
         "threadgroup_barrier(mem_flags::mem_none); out[l] = a[l];", 1),
    ],
)  # fmt: skip
def test_how_many_run_as_one(body: str, size: int) -> None:
    kernel = thread_program(kernel_source(_ID + body))
    assert teams.form(known_of(kernel, LAUNCH, machine=_WIDE), 8, True) == size
    check(kernel, Stage.GANG)


def test_fewer_where_registers_are_few() -> None:
    kernel = thread_program(kernel_source(_ID + _SUM))
    assert 1 < teams.form(known_of(kernel, LAUNCH, machine=_NARROW), 8, True) < 8


def test_registers_of_a_section_are_used_again() -> None:
    """What a SIMD-group needs during its section only is there once for all sections."""
    parts = [f"t{i} = v * a[g * 50 + k + {i}]" for i in range(12)]
    products = " + ".join(f"(t{i} * t{(i * 5 + 1) % 12})" for i in range(12))
    body = f"""
    float sum = 0;
    for (uint k = 0; k < 50; ++k) {{
        float v = a[k * 32 + l % 32], {", ".join(parts)};
        sum += {products};
    }}
    out[l] = sum;
    """
    kernel = thread_program(kernel_source(_ID + body))
    assert teams.form(known_of(kernel, LAUNCH, machine=_WIDE), 8, True) == 8


@pytest.mark.parametrize(("terms", "size"), [(2, 2), (12, 8)])
def test_what_is_kept_for_long_turns_may_wait_in_memory(terms: int, size: int) -> None:
    """Eight sums of eight SIMD-groups are four times the registers."""
    sums = range(8)
    body = f"""
    float {", ".join(f"s{i} = 0" for i in sums)};
    for (uint k = 0; k < 50; ++k) {{
        float v = a[k * 32 + l % 32];
        {"".join(f"s{i} += {_product_of_sums(i, terms)};" for i in sums)}
    }}
    out[g * 32 + l % 32] = {" + ".join(f"s{i}" for i in sums)};
    """
    kernel = thread_program(kernel_source(_ID + body))
    assert teams.form(known_of(kernel, LAUNCH, machine=_WIDE), 8, True) == size


def _product_of_sums(row: int, terms: int) -> str:
    start = f"g * 4000 + {row} * 500 + k * {terms}"
    return "v * " + " * ".join(f"(v + a[{start} + {i}])" for i in range(terms))


def test_a_bound_is_nothing_to_share() -> None:
    """SIMD-groups with rows of their own stay apart, though all look at the same length."""
    kernel = thread_program(
        kernel_source("""
    uint lane = thread_index_in_simdgroup, row = thread_position_in_grid.y, n = a_shape[0];
    int from = int(a[row]);
    if (from < 0 || from >= int(n)) return;
    for (uint i = lane; i < n; i += 32) out[row * n + i] = a[from + i];
    """)
    )
    place_in_rows.run(Analyses(kernel), 32)
    version_by_bounds.run(known_of(kernel, LAUNCH))
    assert teams.form(known_of(kernel, LAUNCH, machine=_WIDE), 8, False) == 1
