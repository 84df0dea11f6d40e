"""Matrices in files: which rows are read, which files are refused, and products that are kept."""

from __future__ import annotations

from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
import scipy.linalg

from anymetal.errors import DtypeError
from anymetal.linalg import distributed
from anymetal.linalg.distributed.journal import Entry, Journal

MATRIX = np.random.default_rng(1).standard_normal((103, 8)).astype(np.float32)


def bands(path: Path, name: str | None = None) -> np.ndarray:
    matrix = distributed.open_matrix(path, name, band_bytes=4 * 8 * 10)
    assert matrix.bands == 11
    return np.concatenate([np.array(matrix.band(i)) for i in range(matrix.bands)])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_npy(tmp_path: Path, dtype: type) -> None:
    np.save(tmp_path / "a.npy", MATRIX.astype(dtype))
    np.testing.assert_array_equal(bands(tmp_path / "a.npy"), MATRIX.astype(dtype))


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
def test_safetensors(tmp_path: Path, dtype: mx.Dtype) -> None:
    path = tmp_path / "a.safetensors"
    mx.save_safetensors(str(path), {"other": mx.ones((3,)), "a": mx.array(MATRIX).astype(dtype)})
    expected = mx.array(MATRIX).astype(dtype).astype(mx.float32)
    np.testing.assert_array_equal(bands(path, "a"), expected)
    with pytest.raises(ValueError, match="has no tensor None; it has: a, other"):
        distributed.open_matrix(path)


def test_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "double.npy", MATRIX.astype(float))
    with pytest.raises(DtypeError, match="float64"):
        distributed.open_matrix(tmp_path / "double.npy")
    np.save(tmp_path / "columns.npy", np.asfortranarray(MATRIX))
    with pytest.raises(ValueError, match="column-major"):
        distributed.open_matrix(tmp_path / "columns.npy")
    np.save(tmp_path / "vector.npy", MATRIX[0])
    with pytest.raises(ValueError, match="no matrix"):
        distributed.open_matrix(tmp_path / "vector.npy")
    with pytest.raises(ValueError, match=r"\.npy or \.safetensors"):
        distributed.open_matrix(tmp_path / "matrix.txt")


def test_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path, {"path": "a"}, seconds=0)
    V, W = mx.array(MATRIX), mx.array(MATRIX[::-1].copy())
    assert journal.begun(0, V) is None
    journal.record(0, V, Entry(V * 2, 3), whole=False)
    again = Journal(tmp_path, {"path": "a"}).begun(0, V)
    assert again is not None and again.bands == 3
    np.testing.assert_array_equal(again.value, MATRIX * 2)
    assert journal.begun(0, W) is None  # the same numbers, in another order
    with pytest.raises(ValueError, match="another matrix"):
        Journal(tmp_path, {"path": "b"})


def test_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goes on where it was, reads no band twice, and comes to the same bits."""
    path = tmp_path / "a.npy"
    np.save(path, MATRIX)
    monkeypatch.setattr(Journal.__init__, "__defaults__", (0.0,))
    read: list[int] = []
    stop_after = [10**9]
    band = distributed.MatrixFile.band

    def counted(self: distributed.MatrixFile, number: int) -> mx.array:
        if len(read) == stop_after[0]:
            raise KeyboardInterrupt
        read.append(number)
        return band(self, number)

    monkeypatch.setattr(distributed.MatrixFile, "band", counted)
    matrix = distributed.open_matrix(path, band_bytes=4 * 8 * 10)

    def search(folder: str) -> tuple[mx.array, mx.array, mx.array]:
        return distributed.svd_topk(matrix, 2, path="subspace", tol=1e-4, journal=tmp_path / folder)

    whole = search("whole")
    expected = scipy.linalg.svdvals(MATRIX)[:2]
    np.testing.assert_allclose(whole[1], expected, atol=1e-4 * expected[0])
    everything = list(read)
    read.clear()
    stop_after[0] = 17
    with pytest.raises(KeyboardInterrupt):
        search("cut")
    stop_after[0] = 10**9
    cut = search("cut")
    assert read == everything
    assert all(mx.array_equal(one, other) for one, other in zip(whole, cut, strict=True))
