"""A failing case for people, and as a `.metal` file for the test suite."""

from __future__ import annotations

import numpy as np

from anymetal.testing.fuzz import oracle, printer
from anymetal.testing.fuzz.check import Verdict
from anymetal.testing.fuzz.tree import Buffer, Case
from anymetal.testing.fuzz.types import Array, mlx_name
from anymetal.testing.passes_off import setting

_RULE = "-" * 78


def report(case: Case, verdict: Verdict) -> str:
    """Everything needed to see and repeat a failure."""
    launch = case.launch
    command = f"python -m anymetal.testing.fuzz --seed {case.seed} --count 1"
    return "\n".join(
        (
            _RULE,
            f"seed {case.seed}: {verdict.status}",
            verdict.detail,
            f"grid {launch.grid}, threadgroup {launch.threadgroup}, math mode {case.math_mode}",
            _RULE,
            (printer.header(case) + printer.body(case)).rstrip(),
            _RULE,
            f"to repeat: {setting(case.off)}{command}",
            "as a test, tests/kernels/fuzz/<name>.metal:",
            metal_file(case),
        )
    )


def metal_file(case: Case) -> str:
    """The case in the format of tests/kernels, with its data and the oracle's results."""
    without = f", without {', '.join(case.off)}" if case.off else ""
    lines = [f"// Found by fuzzing, seed {case.seed}{without}."]
    for buffer in case.inputs():
        shape = "" if buffer.size == 0 else f"[{buffer.size}]"
        lines.append(f"// input: {buffer.name} = {mlx_name(buffer.type)}{shape} {_data(buffer)}")
    for buffer in case.outputs():
        lines.append(f"// output: {buffer.name} = {mlx_name(buffer.type)}[{buffer.size}]")
    lines.append(f"// grid: {' '.join(map(str, case.launch.grid))}")
    lines.append(f"// threadgroup: {' '.join(map(str, case.launch.threadgroup))}")
    lines.append(f"// init: {case.init_value}")
    if case.math_mode != "safe":
        lines.append(f"// math_mode: {case.math_mode}")
    for name, values in oracle.run(case).items():
        lines.append(f"// expect: {name} = {_literal(values)}")
    header = printer.header(case)
    if header:
        lines += ["// header:", header.rstrip(), "// body:"]
    return "\n".join(lines) + "\n" + printer.body(case)


def _data(buffer: Buffer) -> str:
    assert buffer.data is not None
    return _literal(buffer.data)


def _literal(values: Array) -> str:
    """A NumPy expression for these values; runs of equal values are written once."""
    if values.ndim == 0:
        return repr(values.item())
    if values.size and (values == values[0]).all():
        return f"np.full({values.size}, {_number(values[0].item())})"
    items = "[" + ", ".join(_number(value) for value in values.tolist()) + "]"
    # NumPy would take a list of large unsigned numbers for floats.
    return f"np.array({items}, np.uint64)" if values.dtype == np.uint64 else items


def _number(value: int | float | bool) -> str:
    if isinstance(value, float) and not np.isfinite(value):
        return "np.nan" if np.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    return repr(value)
