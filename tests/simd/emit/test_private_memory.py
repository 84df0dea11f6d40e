"""Private arrays: how their elements are reached."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from anymetal import targets
from anymetal.pipeline.program import thread_program
from anymetal.targets.cpu.launch import CpuTarget
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.variant import Variant
from anymetal.testing.metal_case import parse, run
from tests.compiling import vector_ir
from tests.frontend.kernels import kernel_source

_MIXED = Path(__file__).parents[2] / "kernels" / "private" / "structs_of_mixed_fields.metal"
_LEVELS = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]


@pytest.fixture(autouse=True)
def fresh_target() -> Iterator[None]:
    """A target that has no plans for the processor of other tests."""
    targets.select(CpuTarget())
    yield
    targets.select(None)


@pytest.mark.parametrize("level", _LEVELS)
def test_structs_of_mixed_fields(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = machine_for("")
    if not (here.triple.startswith("x86_64") and machine_for(level).enabled <= here.enabled):
        pytest.skip(f"this processor is not {level}")
    monkeypatch.setenv("ANYMETAL_CPU", level)
    run(parse(_MIXED))


def _text(body: str, level: str, partial: bool = False) -> str:
    """What LLVM is given for a kernel."""
    header = "struct Mixed { char a; short b; int c; float d; long e; half h; };"
    variant = Variant(
        flat=True, linear=True, aligned=True, full=not partial, partial=partial, single=False
    )
    return vector_ir(thread_program(kernel_source(body, header)), variant, machine_for(level))


_FIELDS = """
uint i = thread_position_in_grid.x;
float x = a[i];
Mixed m[40];
for (int k = 0; k < 40; k++) { m[k].b = short(i); m[k].d = x + k; m[k].e = k; m[k].a = 1; }
float sum = 0;
for (int k = 0; k < 40; k++)
    if (x > k) sum += m[k].d + float(m[k].e) + m[k].b + m[k].a;
out[i] = sum;
"""


@pytest.mark.parametrize("level", _LEVELS)
def test_fields_at_one_index_are_no_gathers(level: str) -> None:
    """Nor scatters; also where lanes are inactive, whatever instructions there are. (Without masked
    ones, those at the edge read `a` and write `out` so.)"""
    text = _text(_FIELDS, level, partial=True)
    calls = re.findall(r"call .*?(gather|scatter)", text)
    assert calls == ([] if level == "x86-64-v4" else ["gather", "scatter"][: len(calls)])


def test_fields_that_cross_a_unit_are_no_parts() -> None:
    """Such an array keeps a copy a lane."""
    body = """
    uint i = thread_position_in_grid.x;
    uchar m[64];
    for (int k = 0; k < 64; k++) m[k] = uchar(a[i + k]);
    uint word; __builtin_memcpy(&word, m + 3 + i % 4, 4);
    out[i] = word + m[i % 64];
    """
    assert "gather" in _text(body, "x86-64-v4")
