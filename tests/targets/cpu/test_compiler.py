"""From a source to an object file: what is in it, and what stands in the way."""

from __future__ import annotations

import re

import pytest

from anymetal.errors import (
    CompilerError,
    KernelLoadError,
    MetalCompileError,
    UnsupportedFeatureError,
)
from anymetal.ir.problem import Problem
from anymetal.machine import Machine
from anymetal.pipeline.program import thread_program
from anymetal.targets.cpu import compiler
from anymetal.targets.cpu.assemble import optimised
from anymetal.targets.cpu.compiler import compile_kernel
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.variant import Variant, gang_width, variant_for
from tests.compiling import vector_ir
from tests.frontend.kernels import kernel_source
from tests.targets.cpu.elf import symbols

_ID = "uint i = thread_position_in_grid.x, l = thread_index_in_threadgroup;\n"
_BARRIER = (
    "threadgroup float t[64]; t[l] = a[i]; threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "out[i] = t[63 - l];"
)
Extent = tuple[int, int, int]


def variant(grid: Extent = (256, 1, 1), group: Extent = (64, 1, 1)) -> Variant:
    return variant_for(grid, group)


def module_of(body: str, variant: Variant, header: str = "") -> str:
    program = thread_program(kernel_source(_ID + body, header))
    return vector_ir(program, variant, machine_for(variant.cpu))


# ------------------------------------------------------------------------------- object files


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("", "out[i] = a[i];"),
        ("constant float t[4] = {1, 2, 3, 4};", "out[i] = t[i & 3];"),
        ("", _BARRIER),
        ("", "out[i] = simd_sum(a[i]) + exp(a[i]) + fmod(a[i], 2.0f);"),
    ],
)
@pytest.mark.parametrize("width", [32, 1])
def test_an_object_exports_what_a_launch_needs_and_nothing_else(
    header: str, body: str, width: int
) -> None:
    with gang_width(width):
        launch = variant()
    found = symbols(compile_kernel(kernel_source(_ID + body, header), launch))
    texts = "complaints declined flops launches notes order stored".split()
    assert found.exported == {"am_entry", *(f"am_{text}" for text in texts)}
    assert not any("am_" in name or "coro" in name for name in found.undefined)


_TANGLED = [
    _BARRIER,
    """
    float r = 0;
    for (int k = 0; k < int(a[i]); k++) {
      if (a[k] < 0) continue;
      if (a[k] > 9) break;
      for (int j = 0; j < k; j++) { if (a[j] == r) return; r += a[j + k]; }
    }
    out[i] = r;
    """,
    """
    switch (int(a[i])) {
      case 0: out[i] = 1;
      case 1: out[0] = 2; break;
      case 5: return;
      default: for (;;) { if (a[l] > i) break; l++; }
    }
    out[i + 1] = simd_sum(a[l]);
    """,
]


@pytest.mark.parametrize("body", _TANGLED)
def test_the_same_source_gives_the_same_code(body: str) -> None:
    """Else the cache would be of little use to compare builds by."""
    launch = variant((250, 1, 1))
    assert len({module_of(body, launch) for _ in range(4)}) == 1


# ------------------------------------------------------------------------------------ variants


@pytest.mark.parametrize(
    ("grid", "group", "functions"),
    [
        ((256, 1, 1), (64, 1, 1), ["gang.full"]),
        ((250, 1, 1), (64, 1, 1), ["gang.full", "gang.partial"]),
        ((250, 1, 1), (50, 1, 1), ["gang.full", "gang.partial"]),
        ((100, 1, 1), (20, 1, 1), ["gang.partial"]),
        ((8, 8, 1), (8, 4, 1), ["gang.full"]),
        ((8, 9, 1), (8, 4, 1), ["gang.full", "gang.partial"]),
    ],
)
def test_versions_of_the_gang(grid: Extent, group: Extent, functions: list[str]) -> None:
    text = module_of("out[i] = a[i];", variant(grid, group))
    assert re.findall(r"^define internal \w+ @([\w.]+)", text, re.M) == functions


@pytest.mark.parametrize(
    ("body", "group", "suspends"),
    [
        ("out[i] = a[i];", (64, 1, 1), False),
        (_BARRIER, (64, 1, 1), True),
        (_BARRIER, (32, 1, 1), False),  # one gang is in step with itself
        ("simdgroup_barrier(mem_flags::mem_none); out[i] = a[i];", (64, 1, 1), False),
        ("out[i] = simd_sum(a[i]);", (64, 1, 1), False),
    ],
)
def test_gangs_suspend_only_for_each_other(body: str, group: Extent, suspends: bool) -> None:
    launch = variant(group=group)._replace(team=1, sole=False)
    assert ("presplitcoroutine" in module_of(body, launch)) == suspends


def test_gangs_that_run_as_one_do_not_wait_for_each_other() -> None:
    text = module_of(_BARRIER, variant(group=(256, 1, 1)))
    assert "presplitcoroutine" not in text
    text = module_of(_BARRIER, variant((2048, 1, 1), (1024, 1, 1)))
    assert "presplitcoroutine" in text and "mul i32 %gang, 8" in text


_BYTES = "if (l % 3 == 0) ((device uchar*)out)[(l * 7) % 100] = ((const device uchar*)a)[l];"
_SHUFFLE = "out[i] = simd_shuffle(a[i], ushort(a[i]));"


@pytest.mark.parametrize("cpu", ["", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "threadgroup float u[64]; if (l % 3 == 0) u[(l * 7) % 64] = a[i];",
            "if (l % 3 == 0) out[i] = u[(l * 7) % 64];",
        ),
        (_BYTES, _BYTES),
        (_SHUFFLE, _SHUFFLE),
        ("float p[50]; p[l % 50] = a[i]; p[l % 7] = 1;", "out[i] = p[(l * 3) % 50];"),
        (
            "struct { float x; uchar n[80]; } p; p.n[l % 80] = 1; p.x = a[i];",
            "out[i] = p.n[l % 7] + p.x;",
        ),
    ],
)
def test_what_a_gang_needs_when_it_goes_on_is_in_its_frame(
    before: str, after: str, cpu: str
) -> None:
    """Behind a barrier it is another call that runs it: am_entry's stack is not its own."""
    text = module_of(
        f"{before} {_BARRIER} {after}", variant()._replace(team=1, sole=False, cpu=cpu)
    )
    module = optimised(text, machine_for(cpu))
    entry = module[module.index("@am_entry(") :]
    assert re.findall(r"(%\S+) = alloca", entry[: entry.index("\n}")]) == ["%ring"]


def test_an_aligned_launch_knows_more() -> None:
    """An index in rows of 32 threads cannot wrap inside a gang: no vector of it is needed."""
    body = "out[i] = a[i >> 5];"
    aligned = module_of(body, variant((256, 1, 1), (64, 1, 1)))
    other = module_of(body, variant((250, 1, 1), (50, 1, 1)))
    assert "lshr i32" in aligned and "lshr <32 x i32>" not in aligned
    assert "lshr <32 x i32>" in other


# -------------------------------------------------------------------------------------- errors


def test_too_much_threadgroup_memory() -> None:
    body = _ID + "threadgroup float t[{}]; t[l] = a[i]; out[i] = t[l ^ 1];"
    compile_kernel(kernel_source(body.format(8192)), variant())
    with pytest.raises(KernelLoadError) as error:
        compile_kernel(kernel_source(body.format(8193)), variant())
    assert "memory size (32772) exceeds the maximum threadgroup memory allowed (32768)" in str(
        error.value
    )


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("out[0] = b[0];", MetalCompileError),
        ("out[0] = f(3);", UnsupportedFeatureError),
    ],
)
def test_errors_of_the_text_pass_through(body: str, kind: type[Exception]) -> None:
    header = "int f(int n) { return n ? f(n - 1) + f(n / 2) : 0; }"
    with pytest.raises(kind):
        compile_kernel(kernel_source(body, header), variant())


def test_defects_of_ours_name_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise Problem("no rule for this")

    monkeypatch.setattr(compiler, "vector_ir", fail)
    with pytest.raises(CompilerError, match="failed on kernel `mine`: no rule for this"):
        compile_kernel(kernel_source("out[0] = 1;", name="mine"), variant())


@pytest.mark.parametrize(
    "text",
    [
        "define void @am_entry() {\n  ret i32 %nothing\n}",
        "define void @am_entry() {\n  br label %a\na:\n  %x = add i32 %y, 1\n  %y = add i32 %x, 1\n"
        "  ret void\n}",
    ],
)
def test_invalid_code_is_a_problem(text: str) -> None:
    with pytest.raises(Problem, match="generated code is invalid"):
        compiler.assemble(text, machine_for(""))


# ------------------------------------------------------------------------------------ machines


def test_this_machine() -> None:
    here = machine_for("")
    assert here.enabled and here.cpu
    assert machine_for("") is here


def test_a_processor_that_llvm_does_not_know() -> None:
    here = machine_for("")
    unknown = Machine(here.triple, "generic", "")
    assert compiler.assemble("define void @am_entry() {\n  ret void\n}", unknown)


def test_levels_of_x86_64() -> None:
    levels = [machine_for(f"x86-64-v{n}").enabled for n in (2, 3, 4)]
    assert "avx2" in levels[1] - levels[0]
    assert "avx512f" in levels[2] - levels[1]


def test_a_machine_elsewhere() -> None:
    launch = variant()._replace(cpu="aarch64")
    found = symbols(compile_kernel(kernel_source(_ID + _BARRIER), launch))
    assert found.machine == "aarch64"


@pytest.mark.parametrize(("group", "sole"), [(64, True), (256, True), (512, False)])
def test_a_threadgroup_that_runs_as_one_has_no_loop_over_gangs(group: int, sole: bool) -> None:
    body = _BARRIER.replace("63", f"{group - 1}").replace("t[64]", f"t[{group}]")
    text = module_of(body, variant((4 * group, 1, 1), (group, 1, 1)))
    assert ("%gang = phi" not in text) is sole
