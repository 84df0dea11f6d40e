"""Texts that do not compile: only what no types could repair is a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lint.programs import checked, found, marked, program

BAD = {
    "attribute": (
        "uint i = §thread_position_in_gird.x; y[i] = x[i];",
        "AM302",
        "the attribute is called thread_position_in_grid",
    ),
    "function": ("y[0] = §simd_totals(x[0]);", "AM302", ""),
    "typing error": (
        "y[0] = §simd_prefix_inclusive_sums(x[0]);",
        "AM302",
        "mean 'simd_prefix_inclusive_sum'?",
    ),
    "CUDA": ("uint i = §blockIdx.x; y[i] = x[i];", "AM302", "threadgroup_position_in_grid"),
    "input": ("y[0] = §inp0[0];", "AM302", ""),
    "double": ("§double a = x[0]; y[0] = a;", "AM301", "use float"),
    "semicolon": ("float a = x[0]§\n    y[0] = a;", "AM301", ""),
}


@pytest.mark.parametrize("name", BAD)
def test_bad(name: str, tmp_path: Path) -> None:
    body, code, hint = BAD[name]
    text, places = marked(program(body, inputs="x"))
    report = checked(text, tmp_path)
    errors = [finding for finding in report.findings if finding.code != "AM203"]
    assert (errors[0].code, errors[0].place.line, errors[0].place.column) == (code, *places[0])
    assert hint in f"{errors[0].message} {errors[0].hint}"
    assert not report.unchecked


def test_what_types_might_repair_is_no_finding(tmp_path: Path) -> None:
    text = program("struct S { float a; }; S s = S(x[0], 1, 2, 3); y[0] = s.b(x[0]);")
    report = checked(text, tmp_path)
    assert not found(report)
    assert [one.failed for one in report.unchecked] == [True]
    assert "does not compile with any dtypes" in report.unchecked[0].reason


@pytest.mark.parametrize(
    "body",
    [
        "y[0] = x[0] * n;",
        "device const float* from = x + n; y[0] = from[0];",
        "const device uchar* from = x + n; y[0] = from[0];",
        "T a = T(x[0]) * N; y[0] = a;",  # template parameters of a call that is not known
        "vec<T, 4> a = *(device const vec<T, 4>*)x; y[n] = a.x;",
        "y[0] = x[0] & 3;",
        "y[0] = as_type<half>(ushort(x[0])) + dot(float2(n, 1), float2(x[0], 2));",
    ],
)
def test_types_are_found(body: str, tmp_path: Path) -> None:
    text = program(body).partition("def call")[0]
    report = checked(text, tmp_path)
    assert not found(report) and not report.unchecked


def test_unknown_template_parameters_of_unknown_calls(tmp_path: Path) -> None:
    """They are no unknown names, whatever they are called."""
    text = program("y[0] = x[0] * head_dimension;").partition("def call")[0]
    assert not found(checked(text, tmp_path))
