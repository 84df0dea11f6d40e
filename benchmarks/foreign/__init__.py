"""The second benchmark: kernels that were not written for this compiler, out of `others/`.

A file has one subject; its name is the name of its group. Names of rows are those of the kernels.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from benchmarks.harness import Row

GROUPS = (
    "documentation",
    "transformer_kernels",
    "normalisations",
    "sorts_and_gathers",
    "image_kernels",
    "matrix_kernels",
    "simulations",
    "mlx_kernels",
)


def all_rows() -> dict[str, list[Row]]:
    """The rows of each group."""
    return {group: _rows(group) for group in GROUPS}


def _rows(group: str) -> list[Row]:
    rows: Sequence[Row] = importlib.import_module(f"benchmarks.foreign.{group}").ROWS
    return list(rows)
