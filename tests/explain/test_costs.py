"""The costs of loops, counted in the assembly."""

from __future__ import annotations

from anymetal.explain.costs import Cost
from tests.explain.kernels import explained


def cost_of(line: int, found: list[Cost]) -> Cost:
    (cost,) = [c for c in found if (c.location.line if c.location else 0) == line]
    return cost


def test_an_inner_loop(monkeypatch) -> None:
    monkeypatch.setenv("ANYMETAL_CPU", "x86-64-v4")
    body = "float s = 0;\nfor (int k = 0; k < n; k++)\n  s = s * s + a[i + k];\nout[i] = s;"
    found = explained(body).costs
    loop, rest = cost_of(3, found), cost_of(0, found)
    # Two registers of 16 lanes, each with a product and a sum.
    assert 2 <= loop.counts["vector arithmetic"] + loop.counts["loads"] <= 8
    assert loop.counts["branches"] >= 1
    assert not loop.counts["gathers"] and not loop.counts["calls"]
    assert rest.counts["stores"] >= 2


def test_gathers(monkeypatch) -> None:
    monkeypatch.setenv("ANYMETAL_CPU", "x86-64-v4")
    body = "float s = 0;\nfor (int k = 0; k < n; k++)\n  s = s * s + a[3 * i + k];\nout[i] = s;"
    loop = cost_of(3, explained(body).costs)
    assert loop.counts["gathers"] == 2


def test_only_the_innermost_loop_counts() -> None:
    body = (
        "float s = 0;\nfor (int j = 0; j < n; j++) {\n"
        "  for (int k = 0; k < j; k++) s = s * s + a[k * n + i];\n}\nout[i] = s;"
    )
    assert [c.location.line for c in explained(body).costs if c.location] == [4]


def test_a_loop_over_lanes_is_told_apart() -> None:
    body = (
        "for (int k = 0; k < n; k++)\n  atomic_fetch_add_explicit((device atomic_int*)to + "
        "b[i + k], b[k * i], memory_order_relaxed);"
    )
    loop = cost_of(2, explained(body).costs)
    assert "for each lane in turn" in loop.note or loop.counts["atomics"] >= 32


def test_a_loop_with_barriers() -> None:
    body = (
        "threadgroup float t[1024]; t[l] = a[i];\nfor (int k = 0; k < n; k++) {\n"
        "  threadgroup_barrier(mem_flags::mem_threadgroup);\n  t[l] += t[(l + k) % 1024];\n}\n"
        "out[i] = t[l];"
    )
    loop = cost_of(3, explained(body, group=(1024, 1, 1)).costs)
    assert loop.counts and loop.note


def test_a_loop_that_is_gone() -> None:
    body = "float s = a[i];\nfor (int k = 0; k < 3; k++) s *= s;\nout[i] = s;"
    assert [c.location for c in explained(body).costs] == [None]
