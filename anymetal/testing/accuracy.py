"""`python -m anymetal.testing.accuracy`: the measured accuracy of Metal's mathematical functions.

Every function runs as part of a kernel, in 32 lanes, so that the vector library of the machine is
measured as kernels use it, once for each level of CPU features. The worst arguments are searched
against double and then settled with mpmath.

Examples:
    python -m anymetal.testing.accuracy --function sin
    python -m anymetal.testing.accuracy --write
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np

import anymetal
from anymetal.testing.accuracy_page import Measurement, page
from anymetal.testing.math_samples import FORMATS, Format, arguments
from anymetal.testing.math_table import FUNCTIONS, Array, Function

SPACES = ("", "precise::", "fast::")
NATIVE = "native"
_LEVELS = {"x86_64": ("x86-64-v2", "x86-64-v3", NATIVE)}
_PER_KERNEL = 16  #: functions in one kernel: compiling takes longer than running
_COUNT = 400_000


def levels() -> tuple[str, ...]:
    """Levels of CPU features to measure: values of ANYMETAL_CPU, or this machine."""
    return _LEVELS.get(platform.machine(), (NATIVE,))


def measure(functions: Sequence[Function], kind: Format, count: int) -> Iterator[Measurement]:
    """The worst error of each function in each namespace, in this process."""
    for space in SPACES:
        for arity in (1, 2, 3):
            chosen = [f for f in functions if f.arity == arity and (f.variants or not space)]
            for at in range(0, len(chosen), _PER_KERNEL):
                yield from _measure_together(chosen[at : at + _PER_KERNEL], space, kind, count)


def run(expressions: Sequence[str], columns: Sequence[Array], kind: Format) -> Array:
    """Bit patterns of each expression's values: row k belongs to row k of every column."""
    names = "xyz"[: len(columns)]
    body = "uint i = thread_position_in_grid.x;\nconst uint n = in_x_shape[1];\n"
    for row, expression in enumerate(expressions):
        loads = " ".join(f"T {name} = in_{name}[{row} * n + i];" for name in names)
        body += f"{{ {loads} out[{row} * n + i] = static_cast<T>({expression}); }}\n"
    kernel = anymetal.metal_kernel("accuracy", [f"in_{name}" for name in names], ["out"], body)
    (out,) = kernel(
        inputs=[kind.array(column) for column in columns],
        output_shapes=[columns[0].shape],
        output_dtypes=[kind.dtype],
        grid=(columns[0].shape[1], 1, 1),
        threadgroup=(256, 1, 1),
        template=[("T", kind.dtype)],
    )
    return kind.words_of(out)


def _measure_together(
    functions: Sequence[Function], space: str, kind: Format, count: int
) -> Iterator[Measurement]:
    samples = [arguments(f, kind, count) for f in functions]
    longest = max(len(s[0]) for s in samples) | 1  # odd: the last gang lacks lanes
    columns = [
        np.stack([np.resize(s[position], longest) for s in samples])
        for position in range(functions[0].arity)
    ]
    results = run([f.expression(space) for f in functions], columns, kind)
    for row, (function, sample) in enumerate(zip(functions, samples, strict=True)):
        given = [kind.decode(column) for column in sample]
        actual = kind.decode(results[row, : len(given[0])])
        yield _worst(function, space, kind, given, actual)


def _worst(
    function: Function, space: str, kind: Format, given: list[Array], actual: Array
) -> Measurement:
    error = errors(function, kind, given, actual)
    if space == "fast::" and function.absolute:
        near = (given[0] >= 0.5) & (given[0] <= 2)
        with np.errstate(all="ignore"):
            small = np.abs(actual - function.exact(*given)) <= function.absolute
        error[near & small] = 0
    at = int(np.argmax(error))
    values = tuple(float(column[at]) for column in given)
    settled = _settled(function, kind, values, float(actual[at]), float(error[at]))
    bound = kind.bound(function, space)
    return Measurement(function.name, space, kind.name, bound, settled, values, float(actual[at]))


def errors(function: Function, kind: Format, given: list[Array], actual: Array) -> Array:
    """Errors in ulp against the exact value in double.

    Where subnormal arguments may be taken as zero, both readings are right.
    """
    readings = [given]
    if kind.flushes:
        readings.append([kind.flushed(column) for column in given])
    largest = function.below * (1 - 2.0**-kind.precision)
    with np.errstate(all="ignore"):
        exact = (np.asarray(function.exact(*reading), np.float64) for reading in readings)
        found = [kind.ulp_error(actual, np.minimum(values, largest)) for values in exact]
    return np.minimum(found[0], found[-1])


def _settled(
    function: Function, kind: Format, values: tuple[float, ...], actual: float, error: float
) -> float:
    """The error with the exact value from mpmath, for finite results of normal size."""
    low, high = (2.0**exponent for exponent in kind.exponents)
    if function.precise is None or not (0 < error < np.inf and low < abs(actual) < high):
        return error
    with mp.workprec(400):
        exact = function.precise(*(mp.mpf(value) for value in values))
        unit = mp.mpf(2) ** (int(mp.floor(mp.log(abs(exact), 2))) - kind.precision + 1)
        return float(abs(mp.mpf(actual) - exact) / unit)


def measure_level(level: str, names: Sequence[str], count: int) -> list[Measurement]:
    """All formats at one level of CPU features, in a process of its own."""
    environment = {**os.environ, "ANYMETAL_CPU": "" if level == NATIVE else level}
    command = [sys.executable, "-m", "anymetal.testing.accuracy", "--json", f"--count={count}"]
    command += [f"--function={name}" for name in names]
    process = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return [
        Measurement(**{**row, "arguments": tuple(row["arguments"])})
        for row in json.loads(process.stdout)
    ]


def _chosen(names: Sequence[str]) -> list[Function]:
    return [f for f in FUNCTIONS if not names or f.name in names]


def main(given: list[str] | None = None) -> int:
    """Measures, prints or writes; returns 1 if a bound does not hold."""
    parser = argparse.ArgumentParser(prog="python -m anymetal.testing.accuracy")
    parser.add_argument("--function", action="append", default=[], help="only this one; repeatable")
    parser.add_argument("--count", type=int, default=_COUNT, help="arguments per function")
    parser.add_argument("--write", action="store_true", help="write docs/accuracy.md")
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(given)
    if not (functions := _chosen(options.function)):
        parser.error(f"no such function: {options.function}; try one of {_names()}")
    if options.json:
        found = [m for kind in FORMATS for m in measure(functions, kind, options.count)]
        json.dump([asdict(m) for m in found], sys.stdout)
        return 0
    by_level = {level: measure_level(level, options.function, options.count) for level in levels()}
    if options.write:
        path = Path(anymetal.__file__).parent.parent / "docs" / "accuracy.md"
        path.write_text(page(by_level, options.count))
        print(f"written: {path}")
    elif options.function:
        for level, found in by_level.items():
            print(level, *found, sep="\n  ")
    broken = [(level, m) for level, found in by_level.items() for m in found if not m.holds]
    for level, measurement in broken:
        print(f"beyond its bound, {level}: {measurement}")
    return 1 if broken else 0


def _names() -> str:
    return ", ".join(f.name for f in FUNCTIONS)


if __name__ == "__main__":
    sys.exit(main())
