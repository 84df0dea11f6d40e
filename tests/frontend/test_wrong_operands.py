"""Questions in front of operations that Metal leaves undefined: where they stand, and where not.

What they find is in tests/sanitize/kernels.
"""

from __future__ import annotations

import re
from collections import Counter

import llvmlite.binding as llvm
import pytest

from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.wrong_operands import Kind, Together, with_checks
from tests.frontend.kernels import kernel_source

_CALL = re.compile(r"call void @__am_(wrong|lanes|returned)\((?:i1 \S+, )?(?:i32 (\d+), )?.*\)")
_START = "uint i = thread_position_in_grid.x;\n"


def asked(body: str, header: str = "") -> Counter[object]:
    """How many questions of each kind stand in Clang's output."""
    text = with_checks(compile_to_ir(kernel_source(_START + body, header)))
    llvm.parse_assembly(text).verify()
    made: Counter[object] = Counter()
    for what, kind in _CALL.findall(text):
        of = {"wrong": Kind, "lanes": Together}.get(what)
        made[of(int(kind)) if of else what] += 1
    return made


@pytest.mark.parametrize(
    "body, kinds",
    [
        ("out[i] = 7 / int(i);", {Kind.DIVISION_BY_ZERO, Kind.DIVISION_OVERFLOW}),
        ("out[i] = i % 3 + (i << 5) + (i >> 31) + int(i) / 5;", set()),
        ("out[i] = 7 / i;", {Kind.DIVISION_BY_ZERO}),
        ("out[i] = int(i) / -1;", {Kind.DIVISION_OVERFLOW}),
        ("out[i] = (i << i) + (long(i) >> i);", {Kind.SHIFT_COUNT}),
        ("out[i] = int(a[i]) + uchar(half(a[i])) + long(bfloat(a[i]));", {Kind.FLOAT_TO_INT}),
        ("out[i] = a[i] / 0 + int(i) * 3;", set()),
        ("out[i] = rotate(i, 3u) + clz(i) + rint(a[i]) + pow(a[i], 3);", set()),
    ],
)  # fmt: skip
def test_only_the_users_operations_are_asked_about(body, kinds):
    assert set(asked(body)) == kinds


def test_operators_and_conversions_of_vectors_are_the_users():
    made = asked("int3 v(i); out[i] = (v / int3(i)).x + (v << 3).y + int3(float3(a[i])).z;")
    assert made == {
        Kind.DIVISION_BY_ZERO: 1,
        Kind.DIVISION_OVERFLOW: 1,
        Kind.SHIFT_COUNT: 1,
        Kind.FLOAT_TO_INT: 1,
    }


def test_what_clang_computes_itself_is_asked_about_where_it_has_no_value():
    assert asked("out[i] = 1u << 33;") == {Kind.SHIFT_COUNT: 1}
    assert asked("out[i] = 7 / (3 - 3);") == {Kind.DIVISION_BY_ZERO: 1, Kind.DIVISION_OVERFLOW: 1}


def test_shuffles_tell_from_which_lane_and_what_must_be_uniform():
    assert asked("out[i] = simd_shuffle(a[i], ushort(i));") == {Together.SHUFFLE: 1}
    assert asked("out[i] = simd_shuffle_xor(a[i], 3);") == {
        Together.SHUFFLE: 1,
        Together.UNIFORM: 1,
    }
    assert asked("out[i] = simd_shuffle_and_fill_up(a[i], 0.f, 2);") == {
        Together.SHUFFLE: 1,
        Together.UNIFORM: 1,
    }
    assert asked("out[i] = quad_shuffle(a[i], 2);") == {Together.QUAD_SHUFFLE: 1}
    assert asked("out[i] = simd_sum(a[i]) + quad_max(a[i]) + simd_broadcast_first(a[i]);") == {}


def test_only_returns_of_the_kernel_count_and_not_its_end():
    header = "inline void f(thread float& x) { if (x > 3) return; x = 1; }"
    assert asked("float v = a[i]; f(v); out[i] = v;", header) == {}
    assert asked("if (i > 3) return; out[i] = 1;") == {"returned": 1}
    body = "for (int k = 0; k < 4; ++k) { float v[4] = {}; if (a[k] > v[k]) return; } out[i] = 1;"
    assert asked(body) == {"returned": 1}
