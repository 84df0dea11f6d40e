"""Our own exponentials, logarithms, powers and trigonometric functions, beyond their accuracy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from anymetal.frontend.clang import INCLUDE
from anymetal.ir.calls import is_long
from anymetal.pipeline.program import thread_program
from anymetal.testing import minimax
from anymetal.testing.accuracy import errors
from anymetal.testing.math_samples import FLOAT, arguments
from anymetal.testing.math_table import FUNCTIONS
from tests.frontend.kernels import kernel_source
from tests.numerics.evaluate import evaluate

_OURS = "exp exp2 exp10 log log2 log10 pow powr sin cos tan sinpi cospi sinh cosh tanh".split()
_TABLE = {f.name: f for f in FUNCTIONS}


@pytest.mark.parametrize("mode", ["relaxed", "fast"])
def test_math_modes_do_not_break_them(mode: str) -> None:
    """Freedom to reorder sums is the kernel's, not that of our range reductions."""
    for arity in (1, 2):
        functions = [_TABLE[name] for name in _OURS if _TABLE[name].arity == arity]
        columns = [FLOAT.decode(c) for c in arguments(functions[0], FLOAT, 20_000)]
        columns = [np.append(c, np.linspace(0.01, 90, len(c), dtype=np.float32)) for c in columns]
        given: dict[str, Any] = {
            name: c.astype(np.float32) for name, c in zip("xy", columns, strict=False)
        }
        results = {f"f_{f.name}": f.expression("") for f in functions}
        found = evaluate(results, "float", math_mode=mode, **given)
        for function in functions:
            error = errors(function, FLOAT, columns, found[f"f_{function.name}"].astype(np.float64))
            if function.positive:
                error = error[columns[0] > 0]
            at = int(np.argmax(error))
            assert error[at] <= function.ulps, (function.name, [float(c[at]) for c in columns])


def test_bounds_and_symmetry() -> None:
    x = np.concatenate([np.linspace(-60, 60, 100_001), np.arange(-400, 401) * np.pi / 2])
    x = np.concatenate([x, np.geomspace(1, 1e38, 5000)]).astype(np.float32)
    odd = ("sin", "tan", "sinpi", "sinh", "tanh")
    results = {name: f"{name}(x)" for name in (*odd, "cos", "cospi", "cosh", "exp")}
    found = evaluate(results, "float", x=x)
    mirrored = evaluate(results, "float", x=-x)
    for name in ("sin", "cos", "sinpi", "cospi", "tanh"):
        assert np.abs(found[name]).max() <= 1, name
    for name in odd:
        np.testing.assert_array_equal(found[name], -mirrored[name], err_msg=name)
    for name in ("cos", "cospi", "cosh"):
        np.testing.assert_array_equal(found[name], mirrored[name], err_msg=name)
    assert (np.diff(found["exp"][:100_001]) >= 0).all()


def test_exact_values() -> None:
    x = np.arange(-126, 128).astype(np.float32)
    found = evaluate(
        {
            "exp2": "exp2(x)",
            "log2": "log2(exp2(x))",
            "square": "pow(x, 2.0f)",
            "cube": "pow(x, 3.0f)",
            "cos0": "cos(0 * x)",
            "exp0": "exp(0 * x)",
            "log1": "log(0 * x + 1)",
        },
        "float",
        x=x,
    )
    np.testing.assert_array_equal(found["exp2"], np.ldexp(np.float32(1), x.astype(int)))
    np.testing.assert_array_equal(found["log2"], x)
    np.testing.assert_array_equal(found["square"], x * x)
    np.testing.assert_array_equal(found["cube"], x * x * x)
    assert (found["cos0"] == 1).all() and (found["exp0"] == 1).all() and (found["log1"] == 0).all()


def test_fast_powers() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(0.05, 20, 20_000).astype(np.float32)
    y = rng.uniform(-8, 8, 20_000).astype(np.float32)
    found = evaluate(
        {"pow": "fast::pow(x, y)", "powr": "fast::powr(x, y)", "odd": "fast::pow(-x, 3.0f)"},
        "float",
        x=x,
        y=y,
    )
    exact = np.power(x.astype(np.float64), y)
    np.testing.assert_allclose(found["pow"], exact, rtol=1e-5)
    np.testing.assert_array_equal(found["pow"], found["powr"])
    np.testing.assert_allclose(found["odd"], -(x.astype(np.float64) ** 3), rtol=1e-5)


@pytest.mark.parametrize("name", _OURS)
def test_no_calls(name: str) -> None:
    """What a kernel gets is plain code: no function of a library, no table."""
    call = f"{name}({'x, a[i + 1]' if _TABLE[name].arity == 2 else 'x'})"
    body = f"uint i = thread_position_in_grid.x; float x = a[i]; out[i] = metal::{call};"
    program = thread_program(kernel_source(body))
    called = {i.arg for i in program.instructions() if i.op == "call"}
    assert not [callee for callee in called if is_long(callee)]
    assert not program.globals


@pytest.mark.parametrize("approximation", minimax.APPROXIMATIONS, ids=lambda p: p.name)
def test_polynomials_are_those_of_the_headers(approximation: minimax.Approximation) -> None:
    text = "".join(path.read_text() for path in (INCLUDE / "anymetal").glob("math_*.h"))
    literals = {float.fromhex(v) for v in re.findall(r"-?0x1[.\da-f]*p[+-]\d+", text)}
    literals |= {-v for v in literals} | {0.5}
    coefficients, error = minimax.solve(approximation)
    assert error < 2.0**-24
    assert set(coefficients) <= literals
