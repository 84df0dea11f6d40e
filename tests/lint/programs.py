"""Small programs with marks where the linter should find something."""

from __future__ import annotations

import re
from pathlib import Path

from anymetal.lint.checker import Report, check_file

MARK = "§"

_PROGRAM = '''\
import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="k",
    input_names={inputs},
    output_names=["y"],
    source="""{body}""",
    header="""{header}""",
)


def call(x, n):
    return kernel(
        inputs=[{arrays}], output_shapes=[x.shape], output_dtypes=[{dtype}],
        grid={grid}, threadgroup={threadgroup}, {options}
    )
'''


def program(
    body: str,
    inputs: str = "",
    header: str = "",
    grid: str = "(x.size, 1, 1)",
    threadgroup: str = "(256, 1, 1)",
    options: str = "",
    dtype: str = "mx.float32",
) -> str:
    """A program with one kernel and one call of it. Its inputs are x, and n if it names that."""
    inputs = inputs or ("x n" if re.search(r"\bn\b", body) else "x")
    return _PROGRAM.format(
        inputs=inputs.split(),
        arrays=", ".join(inputs.split()),
        body=body,
        header=header,
        grid=grid,
        threadgroup=threadgroup,
        options=options,
        dtype=dtype,
    )


def marked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without marks, and line and column of each."""
    places = []
    while (at := text.find(MARK)) >= 0:
        places.append((text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)))
        text = text[:at] + text[at + 1 :]
    return text, places


def checked(text: str, folder: Path, name: str = "program.py") -> Report:
    """What the linter says about a text."""
    path = folder / name
    path.write_text(text)
    return check_file(path)


def found(report: Report, code: str = "") -> list[tuple[str, int, int]]:
    """Code, line and column of what was found."""
    return [
        (f.code, f.place.line, f.place.column)
        for f in report.findings
        if not code or f.code == code
    ]
