"""Suggestions: the change of a line whose form is known, and words for all others."""

from __future__ import annotations

from typing import get_args

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.explain.advice import advice
from anymetal.explain.facts import Fact, Price

_STRIDED = "`x`: strided, 16 bytes from lane to lane: gather"


def said(kind: str, text: str, line: str, price: Price = "high") -> tuple[str, ...]:
    found = advice(Fact(None, kind, text, price), line)
    assert found is not None and len(found.text) > 40
    assert bool(found.before) == bool(found.after)
    assert line.startswith(found.before)
    return found.after


@pytest.mark.parametrize(
    ("kind", "text", "line", "after"),
    [
        (
            "branch",
            "divergent",
            "  if (v > 0) sum += v * w;",
            ["  sum += v > 0 ? v * w : 0;"],
        ),
        ("branch", "divergent", "if (v > 0) p[i] *= 2;", ["p[i] *= v > 0 ? 2 : 1;"]),
        (
            "branch",
            "divergent",
            "  if (a[i] > b)\n    s -= a[i];\n  }",
            ["  s -= a[i] > b ? a[i] : 0;"],
        ),
        ("branch", "divergent", "if (v > 0) s += v; else s += 1;", []),
        ("branch", "divergent", "if (v > 0)\n  s += v;\nelse", []),
        ("branch", "divergent", "if (v > 0) { f(v); }", []),
        (
            "load",
            _STRIDED,
            "  s = x[i * 4];",
            ["  s = x[i];  // x stored as 4 arrays of `rows` elements each"],
        ),
        (
            "load",
            _STRIDED,
            "s = x[i * 4 + 1] + z[i * 4];",
            ["s = x[rows + i] + z[i * 4];  // x stored as 4 arrays of `rows` elements each"],
        ),
        (
            "store",
            _STRIDED,
            "x[i * 4 + 3] = s;",
            ["x[3 * rows + i] = s;  // x stored as 4 arrays of `rows` elements each"],
        ),
        ("load", _STRIDED, "s = x[at];", []),
        ("load", "`x`: tested at run time: a run, or gather", "s = x[at[i]];", []),
        ("load", "private array, interleaved; the index differs", "s = t[k];", []),
        ("store", "`x`: contiguous, since this CPU has no masked store of 8 bits", "x[i] = 1;", []),
        ("loop", "divergent", "while (n > 1)", []),
        ("call", "asin: lane by lane", "s = asin(v);", []),
        (
            "atomic",
            "`n`: lane by lane",
            "  atomic_fetch_max_explicit(&n[0], v, memory_order_relaxed);",
            [
                "  auto all = simd_max(v);",
                "  if (simd_is_first())",
                "      atomic_fetch_max_explicit(&n[0], all, memory_order_relaxed);",
            ],
        ),
        ("atomic", "`n`: lane by lane", "count(n, v);", []),
    ],
)
def test_what_is_said(kind: str, text: str, line: str, after: list[str]) -> None:
    assert list(said(kind, text, line)) == after


@pytest.mark.parametrize("kind", ["load", "branch", "loop", "atomic", "call"])
def test_nothing_is_said_of_what_is_cheap(kind: str) -> None:
    assert "low" in get_args(Price)
    assert advice(Fact(None, kind, "uniform", "low"), "x[0]") is None


_BRANCH = "    if (v > 0) sum += v * 3;"
_ATOMIC = "    atomic_fetch_add_explicit((device atomic_int*)&y[0], v, memory_order_relaxed);"


@pytest.mark.parametrize(
    ("kind", "line", "rest"),
    [
        ("branch", _BRANCH, "y[i] = sum;"),
        ("atomic", _ATOMIC, ""),
    ],
)
def test_a_changed_line_gives_the_same(kind: str, line: str, rest: str) -> None:
    x = mx.array(np.random.default_rng().integers(-50, 50, 256).astype(np.int32))

    def run(text: str) -> mx.array:
        head = "uint i = thread_position_in_grid.x; int v = x[i], sum = 0;"
        (y,) = anymetal.metal_kernel("changed", ["x"], ["y"], f"{head}\n{text}\n{rest}")(
            inputs=[x],
            grid=(256, 1, 1),
            threadgroup=(64, 1, 1),
            output_shapes=[(256,)],
            output_dtypes=[mx.int32],
            init_value=0,
        )
        return y

    after = "\n".join(said(kind, "divergent", line))
    assert after and mx.array_equal(run(line), run(after))
