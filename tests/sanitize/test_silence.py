"""Comments that say that a finding is meant."""

from __future__ import annotations

import mlx.core as mx
import pytest

import anymetal

_STRAY = "uint i = thread_position_in_grid.x;\nfloat v = x[i + 4];{}\ny[i] = i < 4 ? v : 0;"


def _found(body: str, header: str = "") -> list[str]:
    kernel = anymetal.metal_kernel("meant", ["x"], ["y"], body, header)
    with anymetal.sanitize(action="report") as session:
        mx.eval(
            kernel(
                inputs=[mx.zeros(8)], output_shapes=[(8,)], output_dtypes=[mx.float32],
                grid=(8, 1, 1), threadgroup=(8, 1, 1),
            )
        )  # fmt: skip
    return [one.code for one in session.findings]


@pytest.mark.parametrize(
    ("line", "header", "is_silent"),
    [
        ("  // anymetal: ignore[bounds-read]", "", True),
        ("  // anymetal: ignore[AM201, bounds-read]", "", True),
        ("  // anymetal: ignore[bounds-write]", "", False),
        ("  // anymetal: ignore", "", False),  # of the linter
        ("\n// anymetal: ignore[bounds-read]", "", False),  # another line
        ("\n// anymetal: ignore-kernel[bounds-read]", "", True),
        ("", "// anymetal: ignore-kernel[bounds-read]\n", True),
        ("", "// anymetal: ignore-kernel\n", False),
        ("", "// anymetal: ignore-kernel[AM101, bounds-read( x )]\n", True),
        ("", "// anymetal: ignore-kernel[bounds-read(y)]\n", False),
    ],
)
def test_what_is_named_is_not_told(line: str, header: str, is_silent: bool) -> None:
    assert _found(_STRAY.format(line), header) == ([] if is_silent else ["bounds-read"])


def test_other_findings_are_told() -> None:
    body = _STRAY.format("  // anymetal: ignore[bounds-read]") + "\ny[i + 8] = x[i + 8];"
    assert _found(body) == ["bounds-read", "bounds-write"]
