"""Matrices in files: which rows are read, which files are refused, and products that are kept."""

from __future__ import annotations

from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
import scipy.linalg

from anymetal.errors import DtypeError
from anymetal.linalg import distributed
from anymetal.linalg.distributed.journal import Checkpoint, Entry, Journal, fingerprint

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
    V = mx.array(MATRIX)
    operand, other = fingerprint(V), fingerprint(mx.array(MATRIX[::-1].copy()))
    assert operand != other  # the same numbers, in another order
    assert journal.begun(0, operand) is None
    for number in range(3):
        journal.record(number, operand, Entry(V * 2, 3), whole=False)
    again = Journal(tmp_path, {"path": "a"}).begun(0, operand)
    assert again is not None and again.bands == 3
    np.testing.assert_array_equal(again.value, MATRIX * 2)
    assert journal.begun(1, other) is None
    assert names(tmp_path) == ["journal.json", "product-0000.safetensors"]  # of no use any more
    with pytest.raises(ValueError, match="another matrix"):
        Journal(tmp_path, {"path": "b"})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_checkpoints(tmp_path: Path) -> None:
    journal = Journal(tmp_path, {})
    for number in range(4):
        journal.record(number, "", Entry(mx.ones(2), 1), whole=True)
    for step in (1, 2):
        journal.keep(Checkpoint(step, 2 * step, 0.5, {"V": mx.full((3,), step)}))
    assert journal.steps() == [1, 2]
    found = journal.checkpoint(1)
    assert (found.products, found.factor) == (2, 0.5)
    assert mx.array_equal(found.state["V"], mx.ones(3))
    journal.forget(2, range(1, 4))
    assert names(tmp_path) == ["journal.json", "product-0000.safetensors", "step-0002.safetensors"]


@pytest.mark.parametrize("path", ["subspace", "lanczos"])
@pytest.mark.parametrize("scale", [1.0, 1e15])
def test_interrupted(
    path: str, scale: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goes on where it was, and comes to the same bits; the journal stays small."""
    A = MATRIX * np.float32(scale)
    np.save(tmp_path / "a.npy", A)
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
    matrix = distributed.open_matrix(tmp_path / "a.npy", band_bytes=4 * 8 * 10)
    k, oversample = (2, 2) if path == "subspace" else (1, 0)

    def search(folder: str) -> tuple[mx.array, mx.array, mx.array]:
        return distributed.svd_topk(
            matrix, k, path=path, oversample=oversample, tol=1e-5, journal=tmp_path / folder
        )

    whole = search("whole")
    expected = scipy.linalg.svdvals(A.astype(float))[:k]
    np.testing.assert_allclose(whole[1], expected, atol=1e-5 * expected[0])
    everything = list(read)
    for stop in (5, 50, len(everything) - 5):
        read.clear()
        stop_after[0] = stop
        with pytest.raises(KeyboardInterrupt):
            search(f"cut {stop}")
        stop_after[0] = 10**9
        cut = search(f"cut {stop}")
        again = len(read) - len(everything)
        # No band is read twice, but for those that showed that the matrix must be scaled.
        assert again == 0 if scale == 1 or stop < 11 else again <= 22
        assert all(mx.array_equal(one, other) for one, other in zip(whole, cut, strict=True))
        kept = names(tmp_path / f"cut {stop}" / "rank-0-of-1")
        assert len(everything) > 11 * 14  # without checkpoints there would be as many files
        assert len(kept) <= 12, kept


@pytest.mark.parametrize(("asked", "shown"), [(True, True), (False, False), (None, False)])
def test_progress(
    asked: bool | None, shown: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By default on a terminal alone, which the stream of this test is not."""
    np.save(tmp_path / "a.npy", MATRIX)
    matrix = distributed.open_matrix(tmp_path / "a.npy", band_bytes=4 * 8 * 10)
    with pytest.warns(RuntimeWarning, match="Not converged after 2 steps"):
        distributed.svd_topk(matrix, 1, oversample=0, max_steps=2, progress=asked)
    assert ("product" in capsys.readouterr().err) == shown
