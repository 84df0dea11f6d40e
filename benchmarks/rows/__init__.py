"""The rows of the benchmark, one subject a file; the name of a file is the name of its group."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from benchmarks.harness import Row

GROUPS = (
    "elementwise",
    "reductions",
    "compute",
    "matmul",
    "simdgroup",
    "transformer",
    "irregular",
    "scans",
    "matrices",
    "sampling",
    "library_nn",
    "library_factorisations",
    "library_products",
)


def all_rows() -> dict[str, list[Row]]:
    """The rows of each group."""
    return {group: _rows(group) for group in GROUPS}


def _rows(group: str) -> list[Row]:
    rows: Sequence[Row] = importlib.import_module(f"benchmarks.rows.{group}").ROWS
    return list(rows)
