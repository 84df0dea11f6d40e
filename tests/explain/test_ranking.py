"""What lines cost, in proportion, and what is said about it."""

from __future__ import annotations

import json

import pytest

from anymetal.explain.kernels import Explanation
from tests.explain.kernels import explained


def shares(found: Explanation) -> dict[int, float]:
    (where,) = {where for where, _ in found.weights.lines}
    return {line: found.share(where, line) for _, line in found.weights.lines}


def test_what_stands_in_a_loop_costs_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_CPU", "x86-64-v4")
    loop = "for (int k = 0; k < n; k++)\n  t = s * t + a[i + k];"
    body = f"float s = a[i], t = 0;\n{loop}\nout[i] = t;"
    found = shares(explained(body))
    assert sum(found.values()) == pytest.approx(1, abs=0.3)  # some code is of no line
    assert found[4] > 3 * found[2]


def test_divisions_cost_more_than_products() -> None:
    def share(operation: str) -> float:
        return shares(explained(f"float s = a[i];\ns = s {operation} a[i + 1];\nout[i] = s;"))[3]

    assert share("/") > 1.5 * share("*")


def test_gathers_come_before_what_is_contiguous(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_CPU", "x86-64-v4")
    body = (
        "float s = 0;\nfor (int k = 0; k < n; k++)\n  s += a[i * 4 + k] * a[b[i]];\n"
        "out[b[i]] = s + a[i];"
    )
    found = explained(body).findings
    assert found == sorted(found, key=lambda one: -one.share)
    first, last = found[0], found[-1]
    assert first.fact.kind == "load" and "gather" in first.fact.text and first.share > 0.3
    assert last.share < first.share / 3
    assert all(one.fact.price != "low" for one in found)


def test_each_line_has_its_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_CPU", "x86-64-v4")
    code = explained("float s = a[i];\nout[i] = sqrt(s);").weights.code
    (stores,) = (lines for (_, line), lines in code.items() if line == 3)
    assert any("sqrt" in one for one in stores)


def test_nothing_to_say_of_what_is_cheap() -> None:
    assert explained("out[i] = a[i] * 2;").findings == []


def test_values_of_json() -> None:
    told = json.loads(json.dumps(explained("out[i] = a[i * 4];").to_dict()))
    assert told["variant"].startswith("full SIMD-groups along x")
    (finding,) = told["findings"]
    assert finding["line"] == 2 and finding["part"] == "source" and finding["price"] == "high"
    assert "strided, 16 bytes" in finding["text"] and 0 < finding["share"] <= 1
    assert finding["after"] == ["out[i] = a[i];  // a stored as 4 arrays of `rows` elements each"]
    assert {fact["kind"] for fact in told["facts"]} == {"load", "store"}
    assert sum(one["share"] for one in told["lines"]) <= 1 + 1e-9
    assert told["instructions"][0]["loop"] is None
