"""Errors of Metal's mathematical functions stay within Metal's bounds."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from anymetal.testing import accuracy
from anymetal.testing.accuracy import Measurement, measure, measure_level
from anymetal.testing.accuracy_page import page
from anymetal.testing.math_samples import (
    BFLOAT,
    EXACT_IN_DOUBLE,
    FLOAT,
    FORMATS,
    HALF,
    Format,
    arguments,
)
from anymetal.testing.math_table import FUNCTIONS, Function

_QUICK = 8_000
_THOROUGH = 200_000
_BY_NAME = {f.name: f for f in FUNCTIONS}


@functools.cache
def _measured(kind: Format) -> dict[str, list[Measurement]]:
    found: dict[str, list[Measurement]] = {name: [] for name in _BY_NAME}
    for measurement in measure(FUNCTIONS, kind, _QUICK):
        found[measurement.function].append(measurement)
    return found


# One format after the other, so that each is measured by one pytest worker.
@pytest.mark.parametrize("name", _BY_NAME)
@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.name)
def test_within_metals_bound(name: str, kind: Format) -> None:
    found = _measured(kind)[name]
    assert len(found) == (3 if _BY_NAME[name].variants else 1)
    for measurement in found:
        assert measurement.holds, str(measurement)


@pytest.mark.slow
@pytest.mark.parametrize("level", accuracy.levels())
def test_within_metals_bound_on_every_cpu_level(level: str) -> None:
    broken = [m for m in measure_level(level, [], _THOROUGH) if not m.holds]
    assert not broken, "\n".join(map(str, broken))


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f.precise], ids=lambda f: f.name)
def test_double_is_exact_enough(function: Function) -> None:
    """What errors are measured against, against mpmath."""
    import mpmath as mp

    columns = [FLOAT.decode(c) for c in arguments(function, FLOAT, 2000)]
    rng = np.random.default_rng(1)
    assert function.precise is not None
    checked = 0
    for at in rng.integers(0, len(columns[0]), 300):
        values = [float(column[at]) for column in columns]
        with np.errstate(all="ignore"):
            exact = float(function.exact(*(np.array([v]) for v in values))[0])
        ordinary = all(np.isfinite(v) and v != 0 for v in values)  # mpmath has no signed zero
        if ordinary and np.isfinite(exact) and 1e-30 < abs(exact) < 1e30:
            with mp.workprec(400):
                difference = abs(function.precise(*map(mp.mpf, values)) - exact)
            assert difference <= EXACT_IN_DOUBLE * 2.0**-24 * abs(exact), values
            checked += 1
    assert checked > 30


def test_ulp_errors() -> None:
    one = np.array([1.0])
    assert FLOAT.ulp_error(one + 2.0**-23, one) == 1
    assert HALF.ulp_error(one - 2.0**-11, one) == 0.5
    assert HALF.ulp_error(np.array([2.0**-24]), np.array([0.0])) == 1
    assert FLOAT.ulp_error(np.array([np.inf]), np.array([2.0**129])) == 0
    assert FLOAT.ulp_error(np.array([np.nan]), one) == np.inf
    assert FLOAT.ulp_error(np.array([np.nan]), np.array([np.nan])) == 0
    assert FLOAT.ulp_error(np.array([0.0]), np.array([1e-39])) == 0
    assert BFLOAT.ulp_error(one + 2.0**-7, one) == 1


def test_formats_hold_their_numbers() -> None:
    words = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
    for kind in (HALF, BFLOAT):
        values = kind.decode(words)
        numbers = ~np.isnan(values)
        assert np.array_equal(kind.encode(values)[numbers], words[numbers])


def test_page_has_a_row_for_each_function(capsys: pytest.CaptureFixture[str]) -> None:
    found = [
        Measurement(name, space, kind.name, bound=1.0, error=0.5, arguments=(1.0,), result=1.0)
        for kind in FORMATS
        for name in _BY_NAME
        for space in accuracy.SPACES
    ]
    text = page({"native": found}, _QUICK)
    for name in _BY_NAME:
        assert text.count(f"| `{name}` |") == len(FORMATS)
    with pytest.raises(SystemExit):
        accuracy.main(["--function", "nothing"])
    assert "no such function" in capsys.readouterr().err
