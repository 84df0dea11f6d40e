"""The search that is killed and goes on, with a small matrix; and that what it is compared with is
right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import out_of_core


def test_singular_values_are_known(tmp_path: Path) -> None:
    path = tmp_path / "matrix.npy"
    out_of_core.write(path, 300, 40)
    U, S, Vt = np.linalg.svd(np.load(path).astype(float), full_matrices=False)
    np.testing.assert_allclose(S, out_of_core.values(40), atol=1e-7)
    left, right = out_of_core.left(0, 300, 300, 40), out_of_core.right(40, 40)
    np.testing.assert_allclose(np.abs(np.sum(left * U, axis=0)), 1, atol=1e-5)
    np.testing.assert_allclose(np.abs(np.sum(right * Vt.T, axis=0)), 1, atol=1e-5)
    with pytest.raises(ValueError, match="more rows than columns"):
        out_of_core.write(path, 40, 40)


def test_killed_and_resumed(tmp_path: Path) -> None:
    size = ["--rows", "3000", "--columns", "100", "--k", "4", "--band", str(4 * 100 * 3)]
    results = out_of_core.run(
        out_of_core.arguments_of([*size, "--kill", "3", "--folder", str(tmp_path)])
    )
    assert results["files in the journal"] >= 2
    assert results["value error"] < 1e-5
    assert results["left error"] < 1e-5 and results["right error"] < 1e-5
    assert 0 < results["peak after the kill"] < 2**30
    assert not list(tmp_path.iterdir())
