"""Undefined values on their way through programs; tests/sanitize has kernels with them."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.ir.calls import BEGIN, FOUND, is_undefined
from anymetal.ir.model import Const, Instr, Program
from anymetal.ir.spec import Stage, check
from anymetal.passes import observe, track_undefined
from anymetal.passes.track_undefined import (
    ADDRESS,
    ATOMIC,
    BRANCH,
    INITIAL,
    MISSING,
    OUTPUT,
    THREADGROUP_TWIN,
    TWIN,
    Undefined,
)
from anymetal.pipeline import thread
from anymetal.pipeline.driver import Compilation, run
from anymetal.pipeline.stages import Stages
from tests.ir.programs import program

_TILE = '@"threadgroup.0.tile" = external global [4 x float], align 4'
_PAIRS = '@"threadgroup.0.pairs" = external global [2 x { i8, i32 }], align 4'


def tracked(body: str, top: str = "", filled: bool = False) -> tuple[Program, Undefined]:
    """A program with the input `a` and the output `out`, behind the pass."""
    read = program(body, top=top)
    read.args[1].output = True
    run(thread.PASSES, Compilation(Analyses(read), Stages(), ()))
    undefined = track_undefined.run(read, observe.run(Analyses(read)), filled)
    check(read, Stage.CHECKED)
    return read, undefined


def kinds(read: Program) -> set[int]:
    """The kinds of findings of undefined values that a program may tell."""
    calls = [i for i in read.instructions() if i.op == "call" and i.arg == FOUND]
    found = {v.int_value for i in calls for v in i.operands[1:2] if isinstance(v, Const)}
    return {kind for kind in found if kind is not None and kind in range(BRANCH, MISSING + 1)}


_U = "%u = call i32 @__am_undefined_i32(i32 1)\n"
BODIES = {
    "stored": (_U + "store i32 %u, ptr %out\nret void", {OUTPUT}),
    "computed from": (_U + "%v = mul i32 %u, 3\nstore i32 %v, ptr %out\nret void", {OUTPUT}),
    "address": (
        _U + "%p = getelementptr i32, ptr %a, i32 %u\n%v = load i32, ptr %p\n"
        "store i32 %v, ptr %out\nret void",
        {ADDRESS},
    ),
    "branch": (
        _U + "%c = icmp slt i32 %u, 7\nbr i1 %c, label %yes, label %no\nyes:\n"
        "store i32 1, ptr %out\nbr label %no\nno:\nret void",
        {BRANCH},
    ),
    "atomic operand": (
        _U + "%v = atomicrmw add ptr %a, i32 %u monotonic\nret void",
        {ATOMIC},
    ),
    "atomic output": ("%v = atomicrmw add ptr %out, i32 1 monotonic\nret void", {MISSING}),
    "read output": ("%v = load i32, ptr %out\nstore i32 %v, ptr %out\nret void", {OUTPUT}),
    "selected": (
        _U + "%k = load i32, ptr %a\n%c = icmp eq i32 %k, 0\n%v = select i1 %c, i32 %u, i32 1\n"
        "store i32 %v, ptr %out\nret void",
        {OUTPUT},
    ),
    "other lanes": (
        _U + "%v = call i32 @__am_shuffle(i32 %u, i32 3)\nstore i32 %v, ptr %out\nret void",
        {OUTPUT},
    ),
    "not used": (_U + "store i32 1, ptr %out\nret void", set()),
    "overwritten": (
        "%own = alloca [4 x i32]\n%v = load i32, ptr %a\nstore volatile i32 %v, ptr %own\n"
        "%w = load volatile i32, ptr %own\nstore i32 %w, ptr %out\nret void",
        set(),
    ),
    "private array": (
        f"%own = alloca [64 x i32]\ncall void @{BEGIN}(ptr %own, i64 256, i32 1)\n"
        "%k = load i32, ptr %a\n%p = getelementptr i32, ptr %own, i32 %k\n"
        "%v = load i32, ptr %p\nstore i32 %v, ptr %out\nret void",
        {OUTPUT},
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_findings_are_where_undefined_values_matter(name):
    body, expected = BODIES[name]
    read, _ = tracked(body)
    assert kinds(read) == expected
    used = [v for i in read.instructions() for v in i.operands if isinstance(v, Instr)]
    assert not any(v.op == "call" and is_undefined(v.arg) for v in used)


def test_outputs_that_have_contents_have_no_twin():
    body = "%v = load i32, ptr %out\nstore i32 %v, ptr %out\nret void"
    read, undefined = tracked(body, filled=True)
    assert kinds(read) == set() and not undefined.outputs
    assert not any(argument.name.startswith(TWIN) for argument in read.args)


@pytest.mark.parametrize(
    ("store", "grain"),
    [("i64 0", 8), ("float 0.0", 4), ("half 0.0", 2), ("i8 0", 1)],
)
def test_a_twin_has_a_byte_for_what_accesses_are_multiples_of(store, grain):
    read, undefined = tracked(
        f"%k = load i64, ptr %a\n%p = getelementptr {store.split()[0]}, ptr %out, i64 %k\n"
        f"store {store}, ptr %p\nret void"
    )
    assert {grain for _, grain in undefined.outputs.values()} == {grain}
    stores = [i for i in read.instructions() if i.op == "store" and "-1" in texts(i)]
    assert stores and all(i.operands[0].type.size == 1 for i in stores)


def texts(instr: Instr) -> list[str]:
    """The operands that are constants."""
    return [v.text for v in instr.operands if isinstance(v, Const)]


def test_padding_of_threadgroup_memory_is_not_undefined():
    read, undefined = tracked(
        '%p = getelementptr i8, ptr @"threadgroup.0.pairs", i64 4\n%v = load i32, ptr %p\n'
        "store i32 %v, ptr %out\nret void",
        top=_PAIRS,
    )
    assert undefined.threadgroup == 16 and read.args[-1].name == THREADGROUP_TWIN
    pair = "\\FF\\00\\00\\00\\FF\\FF\\FF\\FF"
    assert read.globals[INITIAL].initializer == f'[16 x i8] c"{pair * 2}"'


def test_findings_name_what_is_undefined():
    _, undefined = tracked(
        '%v = load float, ptr @"threadgroup.0.tile"\n'
        "%total.undefined.3.float.i = call float @__am_undefined_float(i32 1)\n"
        "%s = fadd float %v, %total.undefined.3.float.i\nstore float %s, ptr %out\nret void",
        top=_TILE,
    )
    for origins in undefined.origins.values():
        assert [one[:2] for one in origins] == [("threadgroup", "tile"), ("variable", "total")]
    assert undefined.origins


def test_memory_whose_address_gets_lost_is_not_followed():
    read, undefined = tracked(
        '%own = alloca ptr\nstore volatile ptr @"threadgroup.0.tile", ptr %own\n'
        "%p = load volatile ptr, ptr %own\n%v = load float, ptr %p\n"
        "store float %v, ptr %out\nret void",
        top=_TILE,
    )
    assert kinds(read) == set() and undefined.threadgroup == 0
