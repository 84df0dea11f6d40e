"""The same results with the instructions of other processors, and code for processors elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from anymetal import targets
from anymetal.ir.calls import LIBM
from anymetal.pipeline.program import thread_program
from anymetal.targets.cpu import CpuTarget
from anymetal.targets.cpu.assemble import assemble, assembly
from anymetal.targets.cpu.llvm_target import Machine, machine_for
from tests.compiling import vector_ir
from tests.ir.corpus import CorpusCase, corpus
from tests.targets.cpu.elf import symbols

#: Levels of x86-64: without FMA, AVX, conversions of half, gathers or masked accesses; without
#: scatters, mask registers and 16-bit accesses under a mask; with all of these.
LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")

#: Cases that every level runs by default: one or two of each thing that features decide. Those that
#: take LLVM long without masked instructions are slow ones.
_TYPICAL = (
    "casts/float_to_half_and_bfloat",
    "casts/float_to_narrow_integer",
    "control/break_and_continue",
    "elementwise/exp",
    "half/bfloat_rounds_after_each_operation",
    "half/min_max_with_nan",
    "half/rounds_after_each_operation",
    "integer/bit_functions",
    "integer/divide_by_uniform",
    "integer/divide_by_varying",
    "integer/divide_64_bit.",
    "math/common_functions",
    "math/under_divergence",
    "simd/ballot",
    "simd/shuffle_by_data",
    "simd/sum_under_divergence",
    "strided/gather",
    "strided/scatter",
    "strided/interleave",
)
#: More that code for other machines is made of, but not run.
_ELSEWHERE = (
    *_TYPICAL,
    "atomics/histogram",
    "algorithms/softmax_row",
    "elementwise/complex",
    "language/constant_table",
    "simd/scan_under_divergence",
    "strided/elem_to_loc",
    "threadgroup/block_sum",
    "vec/half_vectors",
)


def _cases(typical: tuple[str, ...]) -> list[Any]:
    """All cases; those that are not typical count as slow."""
    return [
        pytest.param(
            case, id=case.name, marks=() if case.name.startswith(typical) else pytest.mark.slow
        )
        for case in corpus()
    ]


@pytest.fixture
def fresh_target() -> Iterator[None]:
    """A target that has no plans for the processor of other tests."""
    targets.select(CpuTarget())
    yield
    targets.select(None)


def _runs_here(machine: Machine) -> bool:
    here = machine_for("")
    return here.triple.startswith("x86_64") and machine.enabled <= here.enabled


# What the highest level has, nearly all tests run on a machine that has it.
@pytest.mark.usefixtures("fresh_target")
@pytest.mark.parametrize("level", [*LEVELS[:-1], pytest.param(LEVELS[-1], marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", _cases(_TYPICAL))
def test_results(case: CorpusCase, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not _runs_here(machine_for(level)):
        pytest.skip(f"this processor is not {level}")
    monkeypatch.setenv("ANYMETAL_CPU", level)
    case.run()


# ------------------------------------------------------------------------------ object files

#: What LLVM turns loops and copies into, and what prints lines of os_log.
_C_LIBRARY = {"memset", "memcpy", "memmove", "sched_yield", "snprintf", "write"}
_C_LIBRARY |= {"__errno_location", "getpid", "poll"}  # of what kernels print (targets/cpu/log.cpp)
#: Pairs of functions that share their work.
_PAIRS = {"sincosf"}


def _object_file(case: CorpusCase, cpu: str) -> bytes:
    source, variant = case.source()
    machine = machine_for(cpu)
    program = thread_program(source)
    return assemble(vector_ir(program, variant._replace(cpu=cpu), machine), machine)


def _expected(symbol: str) -> bool:
    """Whether every machine has the function: no compiler's own library is needed."""
    return symbol in LIBM | _C_LIBRARY | _PAIRS or symbol.startswith("_ZGV")


@pytest.mark.parametrize("case", _cases(_ELSEWHERE))
def test_aarch64(case: CorpusCase) -> None:
    found = symbols(_object_file(case, "aarch64"))
    assert (found.machine, found.exported) == ("aarch64", {"am_entry"})
    assert not {name for name in found.undefined if not _expected(name)}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "case",
    [c for c in _cases(_TYPICAL) if c.id.startswith(("half/", "integer/divide_64", "math/common"))],
)
def test_needs_no_library_of_the_compiler(case: CorpusCase, level: str) -> None:
    """Such as __truncsfhf2, which no library that a process is sure to have offers."""
    found = symbols(_object_file(case, level))
    assert (found.machine, found.exported) == ("x86-64", {"am_entry"})
    assert not {name for name in found.undefined if not _expected(name)}


@pytest.mark.parametrize("level", LEVELS[1:])
def test_half_is_not_computed_lane_by_lane(level: str) -> None:
    """Neither by the C library's functions nor by instructions for one float."""
    name = "half/rounds_and_compares_in_float.metal float16"
    case = next(c for c in corpus() if c.name == name)
    source, variant = case.source()
    machine = machine_for(level)
    text = assembly(
        vector_ir(thread_program(source), variant._replace(cpu=level), machine), machine
    )
    assert re.search(r"\bvr(?:ound|ndscale)ps\b", text)
    assert not re.search(r"\bvr(?:ound|ndscale)ss\b|\bcall.*\bf(?:max|min)f\b", text)
