"""`python -m anymetal.testing.minimax`: the polynomials of our mathematical headers.

Each is the best one in the sense of Chebyshev for the weight that turns its error into the relative
error of the function, found by Remez's exchange. Coefficients are rounded to float one after the
other, from the one that matters most; those that follow are found anew each time, so that they
make up for the rounding.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import numpy.typing as npt

_POINTS = 4001  #: of the grid on which extrema are sought
_Grid = npt.NDArray[np.longdouble]


@dataclass(frozen=True)
class Approximation:
    """Approximate `function` on an interval by a polynomial with these exponents.

    `weight` multiplies the error; what is minimised is the largest product.
    """

    name: str
    function: Callable[[Any], Any]
    low: float
    high: float
    exponents: range
    weight: Callable[[Any], Any] = lambda x: 1
    wide: bool = False  #: coefficients in double


def _on(grid: Sequence[Any], function: Callable[[Any], Any]) -> _Grid:
    with mp.workprec(160):
        return np.array([np.longdouble(mp.nstr(function(x), 25)) for x in grid], np.longdouble)


def solve(wanted: Approximation) -> tuple[list[float], float]:
    """Rounded coefficients, and the largest weighted error with them."""
    with mp.workprec(160):
        angles = [mp.pi * k / (_POINTS - 1) for k in range(_POINTS)]
        middle, half = (wanted.low + wanted.high) / 2, (wanted.high - wanted.low) / 2
        exact = [middle - half * mp.cos(angle) for angle in angles]
    # Points at which a value is not defined, such as sin(x)/x at 0, are next to ones where it is.
    exact = [x if abs(x) > 1e-12 else mp.mpf(1e-12) for x in exact]
    grid = _on(exact, lambda x: x)
    rest, weight = _on(exact, wanted.function), _on(exact, wanted.weight)
    powers = {e: grid**e for e in wanted.exponents}
    found: list[float] = []
    for at in range(len(wanted.exponents)):
        left = [powers[e] for e in wanted.exponents[at:]]
        first = _remez(np.stack(left, axis=1), rest, weight)[0]
        rounded = float(first) if wanted.wide else float(np.float32(first))
        found.append(rounded)
        rest = rest - np.longdouble(rounded) * left[0]
    return found, float(np.max(np.abs(rest * weight)))


def _remez(columns: _Grid, values: _Grid, weight: _Grid) -> _Grid:
    """Coefficients of the best combination of the columns: the exchange of all extrema at once."""
    try:
        return _exchanged(columns, values, weight, _spread(columns.shape[1], len(values)))
    except ArithmeticError:
        # What is left of an even or odd function may be zero at points that are symmetric, too.
        return _exchanged(columns, values, weight, _spread(columns.shape[1], len(values), 0.1))


def _spread(count: int, size: int, moved: float = 0) -> npt.NDArray[np.int64]:
    """One more of `size` points than coefficients; inner ones moved by such a part of a step."""
    steps = np.arange(count + 1, dtype=float)
    steps[1:-1] += moved
    at = np.round((1 - np.cos(np.pi * steps / count)) / 2 * (size - 1))
    return np.unique(at.astype(int))


def _exchanged(columns: _Grid, values: _Grid, weight: _Grid, at: npt.NDArray[np.int64]) -> _Grid:
    count = columns.shape[1]
    for _ in range(30):
        signs = np.where(np.arange(count + 1) % 2 == 0, 1, -1) / weight[at]
        system = np.column_stack([columns[at], signs])
        solution = _solved(system, values[at])
        error = (values - columns @ solution[:-1]) * weight
        extrema = _alternating(error, count + 1)
        if np.array_equal(extrema, at):
            break
        at = extrema
    return solution[:-1]


def _solved(system: _Grid, values: _Grid) -> _Grid:
    with mp.workprec(160):
        rows = [[mp.mpf(repr(v).split("'")[1]) for v in row] for row in system]
        right = [mp.mpf(repr(v).split("'")[1]) for v in values]
        result = mp.lu_solve(mp.matrix(rows), mp.matrix(right))
        return np.array([np.longdouble(mp.nstr(v, 25)) for v in result], np.longdouble)


def _alternating(error: _Grid, count: int) -> npt.NDArray[np.int64]:
    """The largest error of each run of one sign; the `count` neighbours that matter most."""
    starts = np.flatnonzero(np.diff(np.sign(error)) != 0) + 1
    runs = np.split(np.arange(len(error)), starts)
    best = [int(run[np.argmax(np.abs(error[run]))]) for run in runs]
    while len(best) > count:
        sizes = [abs(error[at]) for at in best]
        smallest = sizes.index(min(sizes))
        # Without one in the middle its neighbours are of one sign: the smaller one goes, too.
        inside = 0 < smallest < len(best) - 1 and len(best) - count >= 2
        if inside:
            beside = min((smallest - 1, smallest + 1), key=sizes.__getitem__)
            del best[max(smallest, beside)], best[min(smallest, beside)]
        else:
            del best[0 if sizes[0] < sizes[-1] else -1]
    if len(best) < count:
        raise ArithmeticError(f"the error alternates {len(best)} times, not {count}")
    return np.array(best)


_HALF_LN2 = float(mp.log(2) / 2) * 1.0001
_LOG_RANGE = (float(mp.sqrt(0.5)) - 1.00001, float(mp.sqrt(2)) - 0.99999)


def _log_rest(x: Any) -> Any:
    return (mp.log1p(x) - x + x**2 / 2) / x**3


APPROXIMATIONS = (
    # e^x = 1 + x + x^2 p(x), with the error relative to e^x - 1 for the second one.
    Approximation(
        "exp",
        lambda x: (mp.expm1(x) - x) / x**2,
        -_HALF_LN2,
        _HALF_LN2,
        range(5),
        lambda x: x**2 / mp.exp(x),
    ),
    Approximation(
        "expm1",
        lambda x: (mp.expm1(x) - x) / x**2,
        -_HALF_LN2,
        _HALF_LN2,
        range(6),
        lambda x: x**2 / mp.expm1(x),
    ),
    # tanh(x) = x + x^3 p(x^2)
    Approximation(
        "tanh",
        lambda x: (mp.tanh(mp.sqrt(x)) / mp.sqrt(x) - 1) / x,
        0.0,
        (_HALF_LN2 / 2) ** 2,
        range(2),
        lambda x: x * mp.sqrt(x) / mp.tanh(mp.sqrt(x)),
    ),
    # 2^x = 1 + x p(x)
    Approximation(
        "exp2",
        lambda x: mp.expm1(x * mp.log(2)) / x,
        -0.5001,
        0.5001,
        range(6),
        lambda x: x / mp.power(2, x),
    ),
    # log(1 + x) = x - x^2 / 2 + x^3 p(x)
    Approximation("log", _log_rest, *_LOG_RANGE, range(9), lambda x: x**3 / mp.log1p(x)),
    Approximation("log, fast", _log_rest, *_LOG_RANGE, range(7), lambda x: x**3),
    # log(1 + x) = x - x^2 / 2 + x^3 / 3 + x^4 p(x)
    Approximation(
        "pow",
        lambda x: (mp.log1p(x) - x + x**2 / 2 - x**3 / 3) / x**4,
        *_LOG_RANGE,
        range(10),
        lambda x: x**4 / mp.log1p(x),
    ),
    # sin(x) = x + x^3 p(x^2)
    Approximation(
        "sin",
        lambda x: (mp.sin(mp.sqrt(x)) / mp.sqrt(x) - 1) / x,
        0.0,
        float(mp.pi / 2 * 1.0001) ** 2,
        range(4),
        lambda x: x * mp.sqrt(x) / mp.sin(mp.sqrt(x)),
    ),
    # sin(pi x) / x = pi + x^2 p(x^2)
    Approximation(
        "sinpi",
        lambda x: (mp.sinpi(mp.sqrt(x)) / mp.sqrt(x) - mp.pi) / x,
        0.0,
        0.2501,
        range(5),
        lambda x: x * mp.sqrt(x) / mp.sinpi(mp.sqrt(x)),
    ),
    # tan(x) = x + x^3 p(x^2)
    Approximation(
        "tan",
        lambda x: (mp.tan(mp.sqrt(x)) / mp.sqrt(x) - 1) / x,
        0.0,
        float(mp.pi / 4 * 1.0001) ** 2,
        range(6),
        lambda x: x * mp.sqrt(x) / mp.tan(mp.sqrt(x)),
    ),
)


def main(names: Sequence[str]) -> None:
    """Print the polynomials of these names, or all."""
    for wanted in APPROXIMATIONS:
        if not names or wanted.name in names:
            coefficients, error = solve(wanted)
            print(f"{wanted.name}: error 2^{float(mp.log(error, 2)):.2f}")
            for exponent, value in zip(wanted.exponents, coefficients, strict=True):
                print(f"  x^{exponent}: {value.hex()}")


if __name__ == "__main__":
    main(sys.argv[1:])
