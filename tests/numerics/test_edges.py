"""Zeros, infinities, NaNs, subnormals and huge arguments, by C's Annex F and Metal's rules."""

from __future__ import annotations

import numpy as np
import pytest

from anymetal.testing.accuracy import errors
from anymetal.testing.math_samples import FLOAT
from anymetal.testing.math_table import FUNCTIONS
from tests.numerics.evaluate import Array, evaluate

_INF, _NAN = float("inf"), float("nan")
_PI = float(np.float32(np.pi))
_MAX = float(np.finfo(np.float32).max)

#: function: (argument, value). The sign of a zero counts; values may be 2 ulp off unless special.
_ONE: dict[str, list[tuple[float, float]]] = {
    "sqrt": [(0, 0), (-0.0, -0.0), (_INF, _INF), (-1, _NAN), (_NAN, _NAN)],
    "rsqrt": [(0, _INF), (_INF, 0), (-1, _NAN), (_NAN, _NAN)],
    "exp": [(0, 1), (-0.0, 1), (_INF, _INF), (-_INF, 0), (1e30, _INF), (-1e30, 0), (_NAN, _NAN)],
    "exp2": [(0, 1), (_INF, _INF), (-_INF, 0), (128, _INF), (-1e30, 0), (_NAN, _NAN)],
    "exp10": [(0, 1), (_INF, _INF), (-_INF, 0), (39, _INF), (-1e30, 0), (_NAN, _NAN)],
    "log": [(1, 0), (0, -_INF), (-0.0, -_INF), (_INF, _INF), (-1, _NAN), (_NAN, _NAN)],
    "log2": [(1, 0), (0, -_INF), (-0.0, -_INF), (_INF, _INF), (-1, _NAN), (_NAN, _NAN)],
    "log10": [(1, 0), (0, -_INF), (-0.0, -_INF), (_INF, _INF), (-1, _NAN), (_NAN, _NAN)],
    "sin": [(0, 0), (-0.0, -0.0), (_INF, _NAN), (-_INF, _NAN), (_NAN, _NAN)],
    "cos": [(0, 1), (-0.0, 1), (_INF, _NAN), (-_INF, _NAN), (_NAN, _NAN)],
    "tan": [(0, 0), (-0.0, -0.0), (_INF, _NAN), (-_INF, _NAN), (_NAN, _NAN)],
    "sinpi": [(0, 0), (-0.0, -0.0), (0.5, 1), (1.5, -1), (_MAX, 0), (_INF, _NAN), (_NAN, _NAN)],
    "cospi": [(0, 1), (1, -1), (-1, -1), (_MAX, 1), (_INF, _NAN), (_NAN, _NAN)],
    "tanpi": [(0, 0), (-0.0, -0.0), (0.25, 1), (-0.25, -1), (_INF, _NAN), (_NAN, _NAN)],
    "asin": [(0, 0), (-0.0, -0.0), (1, _PI / 2), (-1, -_PI / 2), (1.5, _NAN), (_NAN, _NAN)],
    "acos": [(1, 0), (-1, _PI), (1.5, _NAN), (-_INF, _NAN), (_NAN, _NAN)],
    "atan": [(0, 0), (-0.0, -0.0), (_INF, _PI / 2), (-_INF, -_PI / 2), (_NAN, _NAN)],
    "sinh": [(0, 0), (-0.0, -0.0), (_INF, _INF), (-_INF, -_INF), (1e30, _INF), (_NAN, _NAN)],
    "cosh": [(0, 1), (_INF, _INF), (-_INF, _INF), (-1e30, _INF), (_NAN, _NAN)],
    "tanh": [(0, 0), (-0.0, -0.0), (_INF, 1), (-_INF, -1), (1e30, 1), (_NAN, _NAN)],
    "asinh": [(0, 0), (-0.0, -0.0), (_INF, _INF), (-_INF, -_INF), (_NAN, _NAN)],
    "acosh": [(1, 0), (_INF, _INF), (0.5, _NAN), (-_INF, _NAN), (_NAN, _NAN)],
    "atanh": [(0, 0), (-0.0, -0.0), (1, _INF), (-1, -_INF), (2, _NAN), (_NAN, _NAN)],
    "ceil": [(-0.0, -0.0), (-0.5, -0.0), (0.5, 1), (_INF, _INF), (1e30, 1e30), (_NAN, _NAN)],
    "floor": [(-0.0, -0.0), (-0.5, -1), (0.5, 0), (-_INF, -_INF), (1e30, 1e30), (_NAN, _NAN)],
    "trunc": [(-0.0, -0.0), (-0.5, -0.0), (1.5, 1), (_INF, _INF), (1e30, 1e30), (_NAN, _NAN)],
    "rint": [(0.5, 0), (1.5, 2), (2.5, 2), (-0.5, -0.0), (-2.5, -2), (_INF, _INF), (_NAN, _NAN)],
    "round": [(0.5, 1), (1.5, 2), (2.5, 3), (-0.5, -1), (-2.5, -3), (0.49999997, 0), (_NAN, _NAN)],
    "fract": [(0, 0), (1.25, 0.25), (-0.25, 0.75), (1e30, 0), (_NAN, _NAN)],
    "sign": [(0, 0), (-0.0, -0.0), (3, 1), (-_INF, -1), (_NAN, 0)],
    "saturate": [(-1, 0), (0.5, 0.5), (_INF, 1), (-_INF, 0), (_NAN, 0)],
    "fabs": [(-0.0, 0), (-_INF, _INF), (_NAN, _NAN)],
}
_TWO: dict[str, list[tuple[float, float, float]]] = {
    "pow": [
        *((x, y, 1.0) for x in (0.0, -0.0, 1.0, _INF, _NAN) for y in (0.0, -0.0)),
        *((1.0, y, 1.0) for y in (5.0, _INF, _NAN)),
        *((-1.0, y, 1.0) for y in (_INF, -_INF)),
        *((x, -1.0, float(np.copysign(_INF, x))) for x in (0.0, -0.0)),
        (0, -2, _INF),
        (-0.0, -2, _INF),
        (-0.0, 3, -0.0),
        (-0.0, 2, 0),
        (-8, 3, -512),
        (-8, 0.5, _NAN),
        (0.5, _INF, 0),
        (2, _INF, _INF),
        (2, -_INF, 0),
        (_INF, -1, 0),
        (-_INF, 3, -_INF),
        (-_INF, -3, -0.0),
        (_NAN, 1, _NAN),
        (2, 200, _INF),
    ],
    "powr": [(2, 10, 1024), (0, 2, 0), (0, -1, _INF), (_INF, 2, _INF), (2, -_INF, 0)],
    "atan2": [
        (0, 1, 0),
        (-0.0, 1, -0.0),
        (0, -1, _PI),
        (-0.0, -1, -_PI),
        (0, 0, 0),
        (0, -0.0, _PI),
        (-0.0, -0.0, -_PI),
        (1, 0, _PI / 2),
        (-1, -0.0, -_PI / 2),
        (_INF, _INF, _PI / 4),
        (_INF, -_INF, 3 * _PI / 4),
        (1, _INF, 0),
        (-1, _INF, -0.0),
        (1, -_INF, _PI),
        (-_INF, 1, -_PI / 2),
        (_NAN, 1, _NAN),
    ],
    "fmod": [
        (5.5, 2, 1.5),
        (-5.5, 2, -1.5),
        (0, 2, 0),
        (-0.0, 2, -0.0),
        (6, 3, 0),
        (-6, 3, -0.0),
        (1, _INF, 1),
        (-1, -_INF, -1),
        (1, 0, _NAN),
        (_INF, 2, _NAN),
        (1, _NAN, _NAN),
        (16777215, 0.1, float(np.fmod(np.float32(16777215), np.float32(0.1)))),
        (1e30, 3e-3, float(np.fmod(np.float32(1e30), np.float32(3e-3)))),
    ],
    "fdim": [(3, 1, 2), (1, 3, 0), (_INF, 1, _INF), (_NAN, 1, _NAN), (1, _NAN, _NAN)],
    "fmin": [(1, _NAN, 1), (_NAN, 1, 1), (_NAN, _NAN, _NAN), (-_INF, 1, -_INF)],
    "fmax": [(1, _NAN, 1), (_NAN, 1, 1), (_NAN, _NAN, _NAN), (_INF, 1, _INF)],
    "min": [(1, _NAN, 1), (_NAN, 1, 1), (_NAN, _NAN, _NAN), (2, 1, 1)],
    "max": [(1, _NAN, 1), (_NAN, 1, 1), (_NAN, _NAN, _NAN), (2, 1, 2)],
    "copysign": [(1, -0.0, -1), (-_INF, 1, _INF), (0, -1, -0.0)],
    "divide": [(1, 0, _INF), (-1, 0, -_INF), (0, 0, _NAN), (_INF, _INF, _NAN), (1, _INF, 0)],
    "nextafter": [(1, 1, 1), (_INF, 1, _MAX), (_MAX, _INF, _INF), (_NAN, 1, _NAN), (0, -0.0, -0.0)],
    "step": [(1, 0.5, 0), (1, 1, 1), (_INF, 1, 0)],
}
_THREE: dict[str, list[tuple[float, float, float, float]]] = {
    "fmin3": [(_NAN, 2, 1, 1), (1, _NAN, _NAN, 1), (_NAN, _NAN, _NAN, _NAN)],
    "fmax3": [(_NAN, 2, 1, 2), (1, _NAN, _NAN, 1), (_NAN, _NAN, _NAN, _NAN)],
    "fmedian3": [(3, 1, 2, 2), (_INF, 1, -_INF, 1), (_NAN, _NAN, _NAN, _NAN)],
    "clamp": [(5, 0, 1, 1), (-5, 0, 1, 0), (_NAN, 0, 1, 0), (_INF, 0, 1, 1), (-_INF, 0, 1, 0)],
    "fma": [(_INF, 0, 1, _NAN), (_INF, 1, -_INF, _NAN), (2, 3, 4, 10), (1, -1, 1, 0)],
    "mix": [(1, 3, 0, 1), (1, 3, 1, 3), (1, 3, 0.5, 2)],
}
_CASES = [
    (name, [row[:-1] for row in rows], [row[-1] for row in rows])
    for table in (_ONE, _TWO, _THREE)
    for name, rows in table.items()
]
_KINDS = {"float": np.float32, "half": np.float16}


def _same(actual: Array, wanted: Array) -> Array:
    """Specials and the signs of zeros exactly, numbers to 2 ulp."""
    close = np.isclose(actual, wanted, rtol=2 * np.finfo(actual.dtype).eps, atol=0)
    both_nan = np.isnan(actual) & np.isnan(wanted)
    return both_nan | (close & (np.signbit(actual) == np.signbit(wanted)))


@pytest.mark.parametrize("kind", _KINDS)
def test_special_arguments(kind: str) -> None:
    """In vectors, and as a uniform value, which goes another way through the compiler."""
    wrong = []
    for names, inputs, expectations in _batches():
        for uniform in (False, True):
            expressions = {
                label: f"{name}({', '.join('xyz'[: len(inputs)])})" for label, name in names.items()
            }
            with np.errstate(over="ignore"):
                columns = [column.astype(_KINDS[kind]) for column in inputs]
            arguments = dict(zip("xyz", columns, strict=False))
            found = evaluate(expressions, kind, uniform=uniform, **arguments)
            for label, name in names.items():
                rows = expectations[label]
                actual = found[label][rows[0] : rows[0] + len(rows[1])]
                with np.errstate(over="ignore"):
                    wanted = np.array(rows[1]).astype(_KINDS[kind])
                for k in np.flatnonzero(~_same(actual, wanted)):
                    given = [float(column[rows[0] + k]) for column in inputs]
                    if kind == "half" and not _fits(given, rows[1][k]):
                        continue
                    wrong.append(f"{name}{given} = {actual[k]}, not {wanted[k]}, {uniform=}")
    assert not wrong, "\n".join(wrong)


def _fits(given: list[float], wanted: float) -> bool:
    """Whether half has the arguments exactly, and a normal number for the result."""
    with np.errstate(over="ignore"):
        exact = all(float(np.float16(v)) == v or np.isnan(v) for v in given)
    return exact and (not np.isfinite(wanted) or wanted == 0 or 1e-3 < abs(wanted) < 6e4)


def _batches() -> list[tuple[dict[str, str], list[Array], dict[str, tuple[int, list[float]]]]]:
    """All functions of one arity in one kernel; each has rows of its own."""
    result = []
    for arity in (1, 2, 3):
        names, rows, wanted = {}, [], {}
        for name, given, values in _CASES:
            if len(given[0]) == arity:
                names[f"f_{name}"] = name
                wanted[f"f_{name}"] = (len(rows), values)
                rows += given
        chunks = [dict(list(names.items())[k::2]) for k in range(2)]
        columns = [np.array([row[k] for row in rows]) for k in range(arity)]
        result += [(chunk, columns, wanted) for chunk in chunks]
    return result


def test_frexp_and_ilogb_of_specials() -> None:
    x = np.array([0, -0.0, 1, -3, _INF, _NAN, 1e-40], np.float32)
    found = evaluate({"e": "ilogb(x)"}, "float", out="int", x=x)
    assert found["e"].tolist() == [-(2**31), -(2**31), 0, 1, 2**31 - 1, 2**31 - 1, -133]
    mantissa = evaluate({"m": "[&] { int e; return frexp(x, e); }()"}, "float", x=x)["m"]
    np.testing.assert_array_equal(mantissa[:6], np.frexp(x[:6])[0])
    assert np.signbit(mantissa[1])


@pytest.mark.parametrize("uniform", [False, True])
def test_subnormal_arguments(uniform: bool) -> None:
    """A function sees the number or zero, never something else."""
    tiny = [1e-38, 5.9e-39, 1e-40, 1.4e-45]
    x = np.array([*tiny, *(-v for v in tiny)], np.float32)
    y = np.full_like(x, -0.25)
    functions = [f for f in FUNCTIONS if f.precise and f.arity < 3 and "(" not in f.name]
    for part in (functions[::2], functions[1::2]):
        results = {f"f_{f.name}": f.expression("") for f in part}
        found = evaluate(results, "float", uniform=uniform, x=x, y=y)
        for function in part:
            given = [FLOAT.decode(v.view(np.uint32)) for v in (x, y)[: function.arity]]
            actual = found[f"f_{function.name}"].astype(np.float64)
            error = errors(function, FLOAT, given, actual)
            if function.positive:
                error = error[: len(tiny)]
            assert error.max() <= function.ulps + 1e-8, function.name
