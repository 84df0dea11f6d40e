"""Names in the place of literals without a suffix."""

from __future__ import annotations

import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anymetal
from anymetal.frontend import literals

_DIGITS = st.from_regex(r"[0-9]{1,4}('[0-9]{1,3})?", fullmatch=True)
_EXPONENT = st.from_regex(r"[eE][+-]?[0-9]{1,3}", fullmatch=True)
_HEX = st.from_regex(
    r"0[xX]([0-9a-fA-F]{1,4}(\.[0-9a-fA-F]{0,3})?|\.[0-9a-fA-F]{1,3})[pP][+-]?[0-9]{1,3}",
    fullmatch=True,
)
_POINT = st.builds(
    "{}.{}{}".format, _DIGITS, st.one_of(st.just(""), _DIGITS), st.one_of(st.just(""), _EXPONENT)
)
_FRACTION = st.builds(".{}{}".format, _DIGITS, st.one_of(st.just(""), _EXPONENT))
_POWER = st.builds("{}{}".format, _DIGITS, _EXPONENT)
NUMBERS = st.one_of(_POINT, _FRACTION, _POWER, _HEX)


@given(
    st.lists(
        st.tuples(NUMBERS, st.sampled_from(["*", " + x1 ", ";", ",.5f,", ")/(", "\n"])), max_size=6
    )
)
def test_names_are_as_long_and_stand_for_one_number(parts):
    text = "".join(number + behind for number, behind in parts)
    made = literals.named(text)
    assert len(made) == len(text)
    assert literals.as_numbers(made) == text
    for number, _ in parts:
        name = literals.named(number)
        assert name != number and f"#define {name} {number}f\n" in literals.definitions([made])


@pytest.mark.parametrize(
    "text",
    [
        *("0.5f", "1.5h", "2.F", "1e5f", "1.0_b", "0x1.8p3f", "15", "1u", "0x1e5", "0xep", "1'000"),
        *(
            "a.x1",
            "v.x",
            "x1.5",
            "f(a)...",
            "'1.5'",
            '"1.5"',
            '"a\\"1.5"',
            'R"(1.5)"',
            "// 1.5 and 2.5",
        ),
        *(
            "/* 1.5\n2.5 */",
            '#include "v1.5/a.h"',
            "#include <a/2.5.h>",
            "#pragma METAL 1.5",
            "#error 1.5",
        ),
    ],
)
def test_what_is_no_literal_without_a_suffix(text):
    assert literals.named(text) == text


def test_definitions_of_macros_have_names():
    assert literals.named("#define HALF 0.5\n#if X\n").startswith("#define HALF G$5\n")


@pytest.mark.parametrize(
    "text",
    [
        *("a$b", "goo$bar", "$name", "x + G$5y", "i$", "k$", "pa$", "p$5 * o$_", "x$", "y$1f"),
        *("G$5$", "R$", "Gx$", "M$a", "hx$1", "r$e5", "Ix$3", "gx$", "H$5_3"),
    ],
)
def test_other_names_with_a_dollar_stay(text):
    assert literals.as_numbers(text) == text
    assert not literals.definitions([text])
    assert not literals.is_name(text.encode(), 0)


def test_names_of_the_user_have_their_own_values():
    source = "float x$ = 3; float i$ = 0.5; float R$ = x$ + i$; out[0] = R$ + 2e1;"
    kernel = anymetal.metal_kernel("k", [], ["out"], source)
    (out,) = kernel(
        inputs=[],
        output_shapes=[(1,)],
        output_dtypes=[mx.float32],
        grid=(1, 1, 1),
        threadgroup=(1, 1, 1),
    )
    assert out.item() == 23.5
