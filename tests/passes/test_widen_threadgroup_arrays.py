"""Threadgroup arrays of narrow floats that become arrays of float, and those that must not."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.ir import types as t
from anymetal.ir.spec import Stage, check
from anymetal.passes import expand_copies, legalise_floats, widen_threadgroup_arrays
from tests.ir.programs import program
from tests.passes.semantics import assert_same

_BEFORE = [(expand_copies.run, Stage.SCALAR), (legalise_floats.run, Stage.SCALAR)]
_PASS = [*_BEFORE, (widen_threadgroup_arrays.run, Stage.GUARDED)]
_TOP = '@"threadgroup.0.tile" = global [32 x {T}] zeroinitializer, align 8'
_READ = """
    %first = load {T}, ptr %tile
    %third = getelementptr i8, ptr %tile, i64 4
    %b = load {T}, ptr %third
    %f = fpext {T} %first to float
    %g = fpext {T} %b to float
    %again = fpext {T} %b to float
    %s = fadd float %f, %g
    store float %s, ptr %out
    %p = getelementptr float, ptr %out, i64 1
    store float %again, ptr %p
    ret void
"""
_TILE = '@"threadgroup.0.tile"'


def _text(body: str, type_: str) -> str:
    return body.replace("%tile", _TILE).replace("{T}", type_)


@pytest.mark.parametrize("type_", ["half", "bfloat"])
@pytest.mark.parametrize(
    "body",
    [
        "%x = load {T}, ptr %a\nstore {T} %x, ptr %tile",
        "%n = load float, ptr %a\n%x = fptrunc float %n to {T}\nstore {T} %x, ptr %tile",
        "store {T} 1.5, ptr %tile\n%q = getelementptr i8, ptr %tile, i64 4\nstore {T} -0.0, ptr %q",
        "store i32 -1073693696, ptr %tile",
        "store i64 4611756387452796928, ptr %tile",
        "%w = load i32, ptr %a\nstore i32 %w, ptr %tile",
        "%w = load i64, ptr %a, align 1\nstore i64 %w, ptr %tile, align 1",
        "call void @llvm.memcpy.p0.p0.i64(ptr %tile, ptr %a, i64 32, i1 false)",
        "%n = load i32, ptr %a\n%i = urem i32 %n, 3\n%q = getelementptr {T}, ptr %tile, i32 %i\n"
        "store {T} 2.5, ptr %q",
        """
          br label %loop
        loop:
          %to = phi ptr [ %tile, %entry ], [ %next, %loop ]
          %from = phi ptr [ %a, %entry ], [ %on, %loop ]
          %x = load {T}, ptr %from
          store {T} %x, ptr %to
          %next = getelementptr i8, ptr %to, i64 2
          %on = getelementptr i8, ptr %from, i64 2
          %end = getelementptr [12 x {T}], ptr %tile, i64 1
          %c = icmp eq ptr %next, %end
          br i1 %c, label %done, label %loop
        done:
        """,
    ],
)
def test_arrays_that_are_read_as_float(body: str, type_: str) -> None:
    """Whatever is stored there, how, and where."""
    after = assert_same(_text(body + _READ, type_), _PASS, top=_TOP.replace("{T}", type_))
    (array,) = after.globals.values()
    assert array.value_type == t.Array(32, t.FLOAT) and array.align == 16
    assert not any(i.op == "load" and i.type == t.HALF for i in after.instructions())


@pytest.mark.parametrize(
    ("type_", "wide"),
    [
        ("[4 x [8 x half]]", t.Array(4, t.Array(8, t.FLOAT))),
        ("[4 x <4 x half>]", t.Array(4, t.Vector(4, t.FLOAT))),
        ("half", t.FLOAT),
    ],
)
def test_shapes_of_arrays(type_: str, wide: t.Type) -> None:
    top = f'@"threadgroup.0.tile" = global {type_} zeroinitializer, align 8'
    body = """
        %x = load half, ptr %a
        store half %x, ptr %tile
        %v = load half, ptr %tile
        %f = fpext half %v to float
        store float %f, ptr %out
        ret void
    """
    (array,) = assert_same(_text(body, "half"), _PASS, top=top).globals.values()
    assert array.value_type == wide


@pytest.mark.parametrize(
    "body",
    [
        "%h = load half, ptr %tile\n%d = fadd half %h, %h\nstore half %d, ptr %out",
        "%h = load half, ptr %tile\nstore half %h, ptr %out",
        "%h = load bfloat, ptr %tile\n%f = fpext bfloat %h to float\nstore float %f, ptr %out",
        "%w = load i16, ptr %tile\n%v = add i16 %w, 1\nstore i16 %v, ptr %out",
        "%w = load i32, ptr %tile\nstore i32 %w, ptr %out",
        "%h = load volatile half, ptr %tile\n%f = fpext half %h to float\nstore float %f, ptr %out",
        "store i8 7, ptr %tile",
        "store float 1.0, ptr %tile",
        "%w = load i32, ptr %a\nstore i32 %w, ptr %tile\nstore i32 %w, ptr %out",
        "%w = load i32, ptr %a\n%v = xor i32 %w, 7\nstore i32 %v, ptr %tile",
        "%n = load i64, ptr %a\ncall void @llvm.memset.p0.i64(ptr %tile, i8 0, i64 %n, i1 false)",
        "%n = ptrtoint ptr %tile to i64\nstore i64 %n, ptr %out",
        "%c = icmp eq ptr %tile, %out\n%n = zext i1 %c to i32\nstore i32 %n, ptr %out",
        "%n = load i32, ptr %a\n%c = icmp eq i32 %n, 0\n%p = select i1 %c, ptr %tile, ptr %out\n"
        "store half 1.0, ptr %p",
        "%n = atomicrmw add ptr %tile, i32 1 monotonic",
    ],
)
def test_arrays_that_something_else_needs(body: str) -> None:
    read = _text(body + "\nret void", "half")
    found = program(read, top=_TOP.replace("{T}", "half"))
    for run, stage in _PASS:
        run(Analyses(found))
        check(found, stage)
    (array,) = found.globals.values()
    assert array.value_type == t.Array(32, t.HALF)


@pytest.mark.parametrize(("count", "others", "fits"), [(8192, 0, True), (8000, 1000, False)])
def test_as_much_as_there_is_room_for(count: int, others: int, fits: bool) -> None:
    top = f'@"threadgroup.0.tile" = external global [{count} x half], align 2\n'
    top += f'@"threadgroup.1.more" = external global [{others} x float], align 4\n' * (others > 0)
    body = """
        store half 1.0, ptr %tile
        %v = load half, ptr %tile
        %f = fpext half %v to float
        store float %f, ptr %out
        ret void
    """
    found = program(_text(body, "half"), top=top)
    for run, _ in _PASS:
        run(Analyses(found))
    assert found.threadgroup_bytes == (4 if fits else 2) * count + 4 * others
