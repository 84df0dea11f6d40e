"""Ambiguous calls and what else Metal refuses or Clang warns of; constants that widen half."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lint.programs import checked, found, marked, program

BAD = {
    "AM303 int and uint": "int a = 1; uint b = 2; y[0] = §max(a, b) + x[0];",
    "AM303 float and int": "float a = x[0]; y[0] = metal::§max(a, 0);",
    "AM303 half and float": "half a = 1; float b = 2; y[0] = §min(a, b) + x[0];",
    "AM303 clamp": "float a = y[1]; y[0] = §clamp(float(x[0]), 0, 1) + a;",
    "AM303 root of an integer": "int a = 3; y[0] = §sqrt(a) + x[0];",
    "AM303 select": "ulong a = 1; uint b = 2; y[0] = §select(a, b, true) + x[0];",
    "AM305 pointer": "float §* p = y; p[0] = x[0];",
    "AM306 assignment": "int k = int(x[0]); if (k §= 3) y[0] = 1;",
    "AM304 product": "half a = half(x[0]); half b = a * §0.5; y[0] = b;",
    "AM304 constant first": "half a = half(x[0]); half b = half(§1. - a); y[0] = b;",
    "AM304 assignment": "half a = half(x[0]); a *= §0.25; y[0] = a;",
    "AM304 not exact": "half a = half(x[0]); half b = a + §0.1; y[0] = b;",
}

CLEAN = {
    "one type": "int a = 1; float b = x[0]; y[0] = max(a, 2) + max(b, 0.0f) + max(b, 1.0);",
    "dtypes that are not known": "y[0] = max(x[0], x[1]);",
    "int for x would do": "y[0] = max(x[0], 3);",
    "power of an integer": "float a = 2; y[0] = pow(a, 2) + x[0];",
    "own function": "y[0] = max(1, 2u) + x[0];",
    "suffix": "half a = half(x[0]); half b = a * 0.5h; y[0] = b;",
    "meant to be float": "half a = half(x[0]); float b = a * 0.5; y[0] = b;",
    "float in between": "half a = half(x[0]); half b = half(float(a) * 0.5); y[0] = b;",
    "suffix f": "half a = half(x[0]); half b = a * 0.5f; y[0] = b;",
    "short and int": "short a = 1; bool c = true; y[0] = max(int(a), c) + x[0];",
}
_OWN = "inline float max(int a, uint b) { return a; }\n"


@pytest.mark.parametrize("name", BAD)
def test_bad(name: str, tmp_path: Path) -> None:
    code = name.split()[0]
    text, places = marked(program(BAD[name]))
    assert found(checked(text, tmp_path)) == [(code, line, column) for line, column in places]


@pytest.mark.parametrize("name", CLEAN)
def test_clean(name: str, tmp_path: Path) -> None:
    header = _OWN if name == "own function" else ""
    report = checked(program(CLEAN[name], header=header), tmp_path)
    assert not found(report) and not report.unchecked


def test_types_that_the_call_tells(tmp_path: Path) -> None:
    body = "T a = x[0]; y[0] = §max(a, 0);"
    text, places = marked(program(body, options="template=[('T', mx.float32)]"))
    assert found(checked(text, tmp_path)) == [("AM303", *places[0])]
    text, _ = marked(program(body, options="template=[('T', mx.int32)]"))
    assert not found(checked(text, tmp_path))


def test_functions_of_the_header(tmp_path: Path) -> None:
    header = "\ninline half f(half a) {\n  return a * §0.5;\n}\n"
    text, places = marked(program("y[0] = f(half(x[0]));", header=header))
    assert found(checked(text, tmp_path)) == [("AM304", *places[0])]
