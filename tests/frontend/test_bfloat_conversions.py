"""Floats that become bfloat by themselves; test_refused.py has the pairs."""

from __future__ import annotations

import mlx.core as mx
import pytest

from anymetal.frontend import bfloat_conversions
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.complaints import Complaint
from tests.frontend.kernels import kernel_source

HEADER = """
#define HALF 0.5f
bfloat same(bfloat x) { return x; }
struct Pair { bfloat first, second; };
"""


def found(body: str) -> list[tuple[int, int, str]]:
    """Line, column, and what should be written, of each."""
    heard: list[Complaint] = []
    body = f"bfloat b = 1, c = 2bf; {body} out[0] = b + c;"
    compile_to_ir(kernel_source(body, HEADER, inputs={"a": mx.zeros(8)}), heard=heard)
    return [(one.line, one.column, one.text.rpartition("write ")[2]) for one in heard]


@pytest.mark.parametrize(
    ("body", "column", "writes"),
    [
        ("b = a[0];", 28, "bfloat(a[0])"),
        ("b = /* ü */ 0.25;", 36, "bfloat(0.25)"),
        ("b = -INFINITY;", 28, "bfloat(x)"),
        ("b = HALF;", 28, "bfloat(x)"),
        ("b = b * a[0];", 28, "bfloat(b * a[0])"),
        ("b = a[0] > 0 ? b : 0.0f;", 28, "bfloat(a[0] > 0 ? b : 0.0f)"),
        ("b = same(1.5f);", 33, "bfloat(1.5f)"),
        ("Pair p{0.5f, 1}; b = p.first;", 31, "bfloat(0.5f)"),
        ("bfloat t[2] = {0.5f, 1}; b = t[0];", 39, "bfloat(0.5f)"),
    ],
)
def test_by_themselves(body: str, column: int, writes: str) -> None:
    assert found(body) == [(1, column, writes)]


def test_what_is_asked_for_or_no_float() -> None:
    body = """
    b = bfloat(a[0]); b = static_cast<bfloat>(a[0]); b = (bfloat)0.5f; b = same(bfloat(HALF));
    b = 2; b = int(a[0]); b = a[0] > 0; b = b < 1.0f; b = b * c + 1; b += 2; b = MAXBFLOAT;
    bfloat4 v = bfloat4(0.5f); v = v * bfloat(0.5f); float f = b * 0.5f; half h = 0.5f; c = f == h;
    """
    assert found(body) == []


def test_large_texts_are_not_looked_at() -> None:
    assert bfloat_conversions.are_possible(kernel_source("bfloat b = 1;"))
    assert not bfloat_conversions.are_possible(kernel_source("float b = 1;"))
    assert not bfloat_conversions.are_possible(kernel_source("bfloat b = 1;" + "\n" * 50_000))
