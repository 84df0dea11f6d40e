"""Whether a kernel's result is as near to the exact one as Metal promises for its dtype."""

from __future__ import annotations

from typing import Any, NamedTuple

import mlx.core as mx
import numpy as np
import numpy.typing as npt

_Numbers = npt.NDArray[Any]


class _Format(NamedTuple):
    bits: int  #: of the fraction
    lowest: int  #: exponent of the smallest normal number
    largest: float
    ulps: float  #: allowed by default


# The allowance is the largest bound in Metal's tables of accuracy (Metal Shading Language
# Specification, "Numerical Compliance") of any function but pow, which has 16 in float32. bfloat
# has no table: its functions are those of float32, rounded once more.
_FORMATS = {
    mx.float32: _Format(23, -126, float(np.finfo(np.float32).max), 6.0),
    mx.float16: _Format(10, -14, 65504.0, 1.0),
    mx.bfloat16: _Format(7, -126, float.fromhex("0x1.fep127"), 1.0),
}
_SHOWN = 5


def assert_kernel_close(
    actual: mx.array,
    expected: npt.ArrayLike | mx.array,
    *,
    ulps: float | None = None,
    atol: float = 0.0,
) -> None:
    """Fail unless a kernel's output is what it should be, up to the rounding that Metal allows.

    An element passes if its error is at most `ulps` units in the last place of the expected value
    in the output's dtype, or at most `atol`. Integers and bools must be equal. NaN equals NaN;
    values beyond the dtype's largest number are expected as infinity. Units of complex64 are those
    of the magnitude.

    Args:
        actual: The output, any shape.
        expected: The exact values, of the same shape: from NumPy, best in float64.
        ulps: By default what Metal's tables of accuracy allow one function other than pow: 6 for
            float32 and complex64, 1 for float16 and bfloat16.
        atol: Absolute error, for results in which terms cancel, such as sums.

    Raises:
        AssertionError: With the worst elements, their indices, values and errors.
        TypeError: `actual` is no array of MLX.
    """
    __tracebackhide__ = True
    if not isinstance(actual, mx.array):
        raise TypeError(f"actual must be an mx.array, not {type(actual).__name__}.")
    wanted = _numbers(expected) if isinstance(expected, mx.array) else np.asarray(expected)
    if wanted.shape != actual.shape:
        raise AssertionError(f"the output has shape {actual.shape}, expected {wanted.shape}")
    got = _numbers(actual)
    form = _FORMATS.get(mx.float32 if actual.dtype == mx.complex64 else actual.dtype)
    if form is None:
        errors = np.where(got == wanted, 0.0, np.inf)
        allowed = 0.0
    else:
        errors = _errors(got, wanted, form, atol)
        allowed = form.ulps if ulps is None else ulps
    wrong = ~(errors <= allowed)
    if wrong.any():
        raise AssertionError(_report(got, wanted, errors, wrong, actual.dtype, allowed))


def _errors(got: _Numbers, wanted: _Numbers, form: _Format, atol: float) -> _Numbers:
    """In units in the last place; 0 where the absolute error is allowed."""
    wide = np.complex128 if np.iscomplexobj(got) or np.iscomplexobj(wanted) else np.float64
    got, wanted = got.astype(wide), wanted.astype(wide)
    with np.errstate(all="ignore"):
        half_ulp = np.ldexp(0.5, int(np.log2(form.largest)) - form.bits)
        if wide is np.float64:  # what no number of the dtype is near to
            wanted = np.where(
                np.abs(wanted) >= form.largest + half_ulp, np.copysign(np.inf, wanted), wanted
            )
        difference = np.abs(got - wanted)
        exponent = np.where(wanted == 0, form.lowest, np.frexp(np.abs(wanted))[1] - 1)
        unit = np.ldexp(1.0, np.maximum(exponent, form.lowest) - form.bits)
        errors = np.where(difference <= atol, 0.0, difference / unit)
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    return np.where(same, 0.0, np.where(np.isfinite(errors), errors, np.inf))


def _numbers(array: mx.array) -> _Numbers:
    narrow = array.dtype in (mx.float16, mx.bfloat16)
    return np.array(array.astype(mx.float32) if narrow else array)


def _report(
    got: _Numbers,
    wanted: _Numbers,
    errors: _Numbers,
    wrong: _Numbers,
    dtype: mx.Dtype,
    allowed: float,
) -> str:
    name = str(dtype).removeprefix("mlx.core.")
    rule = f"more than {allowed:g} ulp of {name} off" if dtype in _FORMATS else "wrong"
    if dtype == mx.complex64:
        rule = f"more than {allowed:g} ulp of float32 off"
    lines = [f"{wrong.sum()} of {wrong.size} elements are {rule}; the worst:"]
    for flat in np.argsort(-errors, axis=None, kind="stable")[:_SHOWN]:
        at = tuple(int(i) for i in np.unravel_index(flat, errors.shape))
        if not wrong[at]:
            break
        off = f" ({errors[at]:.4g} ulp)" if np.isfinite(errors[at]) else ""
        lines.append(f"  {list(at)}: {got[at]!s}, expected {wanted[at]!s}{off}")
    return "\n".join(lines)
