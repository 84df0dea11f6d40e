"""What a launch is certain to store, whatever the data."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.analysis.must_store import certain_stores
from anymetal.pipeline.program import thread_program
from anymetal.targets.base import Extent
from anymetal.targets.cpu.covered import covered_bytes
from tests.analysis.shapes import INPUTS, OUTPUTS
from tests.frontend.kernels import kernel_source

_ID = "uint i = thread_position_in_grid.x, j = thread_position_in_grid.y;\n"
_OUT = len(INPUTS)


def covered(body: str, grid: Extent, group: Extent) -> int:
    """Bytes of the output `out`."""
    source = kernel_source(_ID + body, "", inputs=INPUTS, outputs=OUTPUTS)
    return covered_bytes(certain_stores(Analyses(thread_program(source))), grid, group).get(_OUT, 0)


@pytest.mark.parametrize(
    ("body", "grid", "group", "expected"),
    [
        ("out[i] = a[i];", (64, 1, 1), (32, 1, 1), 256),
        ("out[i] = a[i];", (64, 3, 1), (32, 1, 1), 256),
        ("out[i] = a[i];", (65, 1, 1), (32, 1, 1), 0),  # a smaller threadgroup at the edge
        ("((device float4*)out)[i] = a[i];", (64, 1, 1), (32, 1, 1), 1024),
        ("out[2 * i] = 1; out[2 * i + 1] = a[i];", (64, 1, 1), (32, 1, 1), 512),
        ("out[2 * i] = a[i];", (64, 1, 1), (32, 1, 1), 0),
        ("out[i + 1] = a[i];", (64, 1, 1), (32, 1, 1), 0),
        ("out[i - 1] = a[i];", (64, 1, 1), (32, 1, 1), 0),
        ("out[j * threads_per_grid.x + i] = 1;", (64, 8, 1), (32, 4, 1), 2048),
        ("out[j * 64 + i] = 1;", (64, 8, 1), (32, 4, 1), 2048),
        ("out[j * 65 + i] = 1;", (64, 8, 1), (32, 4, 1), 0),
        ("out[j * 63 + i] = 1;", (64, 8, 1), (32, 4, 1), 2020),
        ("out[i * 8 + j] = 1;", (64, 8, 1), (32, 4, 1), 2048),
        # loops
        ("for (uint k = 0; k < 30; ++k) out[k * 64 + i] = a[i] + k;", (64, 1, 1), (32, 1, 1), 7680),
        ("for (uint k = 0; k < 30; k += 2) out[k * 64 + i] = a[i] + k;",
         (64, 1, 1), (32, 1, 1), 0),
        ("for (uint k = 0; k < 30; k += 2) out[k * 32 + i] = a[i] + k;",
         (64, 1, 1), (32, 1, 1), 3840),
        ("for (int k = 0; k < n; ++k) out[k * 64 + i] = a[i] + k;", (64, 1, 1), (32, 1, 1), 0),
        ("for (uint k = 0; k < 30; ++k) { if (a[k] > 3) break; out[k * 64 + i] = k; }",
         (64, 1, 1), (32, 1, 1), 0),
        ("for (uint k = 0; k < 30; ++k) { if (a[k] > 3) out[k * 64 + i] = k; }",
         (64, 1, 1), (32, 1, 1), 0),
        # not by every thread, or not only stored
        ("if (a[i] > 0) out[i] = 1;", (64, 1, 1), (32, 1, 1), 0),
        ("if (i >= uint(n)) return; out[i] = 1;", (64, 1, 1), (32, 1, 1), 0),
        ("if (a[i] > 0) to[i] = 1; out[i] = 2;", (64, 1, 1), (32, 1, 1), 256),
        ("out[i] = 1; to[i] = out[i + 1];", (64, 1, 1), (32, 1, 1), 0),
        ("out[i] += 1;", (64, 1, 1), (32, 1, 1), 0),
        ("out[b[i]] = 1;", (64, 1, 1), (32, 1, 1), 0),
        ("out[i] = 1; out[b[i]] = 2;", (64, 1, 1), (32, 1, 1), 256),
        ("out[uchar(i)] = 1;", (512, 1, 1), (32, 1, 1), 0),
    ],
)  # fmt: skip
def test_covered_bytes(
    body: str, grid: Extent, group: Extent, expected: int
) -> None:  # fmt: skip
    assert covered(body, grid, group) == expected
