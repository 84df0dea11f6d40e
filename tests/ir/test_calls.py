"""The functions that programs may call."""

from __future__ import annotations

import re

import pytest

from anymetal.frontend.clang import INCLUDE
from anymetal.ir import types as t
from anymetal.ir.calls import (
    ALL,
    APART,
    BEGIN,
    EVENTS,
    FORGET,
    IN_ORDER,
    INSIDE,
    INTRINSICS,
    MARKERS,
    PREFETCH,
    STRAY,
    TRACE,
    UNDEFINED,
    UNDEFINED_TYPES,
    has_effect,
    is_known,
    is_long,
    plain_name,
)

_TYPES = {
    "unsigned": t.I32,
    "unsigned long": t.I64,
    "int": t.I32,
    "float": t.FLOAT,
    "bool": t.I1,
    "void": t.VOID,
}
_TYPE = re.compile("|".join(sorted(_TYPES, reverse=True)))


def test_the_header_declares_the_same_intrinsics() -> None:
    text = (INCLUDE / "anymetal" / "intrinsics.h").read_text()
    declared = {
        name: (
            _TYPES[result],
            tuple(t.PTR if "*" in p else _type(p) for p in parameters.split(",") if p),
        )
        for result, name, parameters in re.findall(r"^([\w ]+) (__am_\w+)\((.*?)\)", text, re.M)
    }
    by_passes = [APART, IN_ORDER, FORGET, ALL, PREFETCH, STRAY, BEGIN, INSIDE, TRACE]
    by_passes += [*MARKERS, *EVENTS]
    by_passes += [f"{UNDEFINED}{name}" for name in UNDEFINED_TYPES]
    made_by_passes = {name: INTRINSICS[name] for name in by_passes}
    assert declared | made_by_passes == INTRINSICS


def _type(parameter: str) -> t.Type:
    found = _TYPE.match(parameter.strip())
    assert found
    return _TYPES[found[0]]


@pytest.mark.parametrize(
    ("callee", "known", "effect"),
    [
        ("llvm.exp.f32", True, False),
        ("llvm.memcpy.p0.p0.i64", True, True),
        ("llvm.memset.p0.i64", True, True),
        ("asinhf", True, False),
        ("erff", True, False),
        ("tan", True, False),
        ("__am_lane", True, False),
        ("__am_shuffle", True, False),
        ("__am_reduce_add_f32", True, False),
        ("__am_threadgroup_barrier", True, True),
        ("__am_simdgroup_barrier", True, True),
        (STRAY, True, True),
        ("__am_unheard_of", False, True),
        ("_Z3foov", False, True),
        ("exit", False, True),
        ("modff", False, True),  # writes through a pointer
    ],
)
def test_known_functions_and_effects(callee: str, known: bool, effect: bool) -> None:
    assert (is_known(callee), has_effect(callee)) == (known, effect)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("main", "main"),
        ("_Z3fooi", "foo"),
        ("_ZL3foof", "foo"),
        ("_ZN1a2bcEv", "a::bc"),
        ("_ZNK6matrix4rowsEv", "matrix::rows"),
        ("_Z4sizeI5helloEvT_", "size"),
        ("_ZZL20custom_kernel_k_kindPKfE7counter", "counter"),
        ("_ZZN1a1fEiE5table", "table"),
        ('"_Z1g1ti"', "g"),
        ("_Zeven", "_Zeven"),
    ],
)
def test_names_that_users_know(symbol: str, name: str) -> None:
    assert plain_name(symbol) == name


@pytest.mark.parametrize(
    ("callee", "long"),
    [
        ("llvm.sin.f32", True),
        ("asinhf", True),
        ("tan", True),
        ("llvm.sqrt.f32", False),
        ("llvm.fma.f32", False),
        ("floorf", False),
        ("llvm.umin.i32", False),
        ("__am_lane", False),
    ],
)
def test_long_calls(callee: str, long: bool) -> None:
    assert is_long(callee) == long
