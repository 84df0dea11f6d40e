"""Matrices in files, larger than memory: `.npy` and safetensors, read in bands of rows.

Files are mapped into memory, and pages that a band has been copied from are given back at once, so
that a process holds one band, whatever the file's size.
"""

from __future__ import annotations

import json
import math
import mmap
import os
from pathlib import Path
from typing import Any

import mlx.core as mx

from anymetal.errors import DtypeError
from anymetal.linalg.distributed.ranks import Group, of_group

#: Bytes of a band of float32, by default.
BAND_BYTES = 256 * 2**20

#: Number types of safetensors files, and how NumPy and MLX have them.
_STORED: dict[str, tuple[str, mx.Dtype]] = {
    "F32": ("<f4", mx.float32),
    "F16": ("<f2", mx.float16),
    "BF16": ("<u2", mx.bfloat16),  # NumPy has no such type
}


class MatrixFile:
    """Rows of a matrix in a file, those of one rank. Made by `open_matrix`."""

    def __init__(self, path: Path, rows: Any, dtype: mx.Dtype, first: int, band: int) -> None:
        self.path = path
        self._rows = rows  # of NumPy, mapped
        self._dtype = dtype
        self.first = first  #: the number of the first row in the file
        self.band_rows = band  #: rows of a band, but of the last one
        self.shape: tuple[int, int] = tuple(rows.shape)

    @property
    def bands(self) -> int:
        """Number of bands."""
        return math.ceil(self.shape[0] / self.band_rows)

    def extent(self, number: int) -> slice:
        """Rows of a band, counted from this rank's first one."""
        start = number * self.band_rows
        return slice(start, min(start + self.band_rows, self.shape[0]))

    def band(self, number: int) -> mx.array:
        """Rows of a band, float32, shape (rows, n). The next one is asked for already."""
        part = mx.array(self._rows[self.extent(number)])
        if part.dtype != self._dtype:
            part = part.view(self._dtype)
        part = part.astype(mx.float32)
        mx.eval(part)
        self._give_back()
        self._ask_for((number + 1) % self.bands)
        return part

    def identity(self) -> dict[str, object]:
        """What tells this part of this file from others, and from what the file was before."""
        state = os.stat(self.path)
        return {
            "path": str(self.path.resolve()),
            "bytes": state.st_size,
            "modified": state.st_mtime_ns,
            "rows": [self.first, self.first + self.shape[0]],
            "band": self.band_rows,
        }

    def _give_back(self) -> None:
        """Let the system have the pages that were read; they are read again when needed."""
        if hasattr(mmap.mmap, "madvise"):
            self._mapped().madvise(mmap.MADV_DONTNEED)

    def _ask_for(self, number: int) -> None:
        """Have the system read a band into its cache, while this process computes."""
        if not hasattr(mmap.mmap, "madvise"):
            return
        mapped = self._mapped()
        rows = self._rows[self.extent(number)]
        first = rows.ctypes.data - _numpy().frombuffer(mapped, "u1").ctypes.data
        start = first // mmap.PAGESIZE * mmap.PAGESIZE
        mapped.madvise(mmap.MADV_WILLNEED, start, first + rows.nbytes - start)

    def _mapped(self) -> mmap.mmap:
        mapped = self._rows
        while not isinstance(mapped, mmap.mmap):
            mapped = mapped.base
        return mapped


def open_matrix(
    path: str | Path,
    name: str | None = None,
    *,
    band_bytes: int = BAND_BYTES,
    group: Group | None = None,
) -> MatrixFile:
    """This rank's share of the rows of a matrix in a file, read only when they are used.

    Rank r of p has rows ⌊m r/p⌋ to ⌊m (r + 1)/p⌋. Without communication.

    Args:
        path: A `.npy` file in row-major order, or a `.safetensors` file. float32, float16 or (the
            latter) bfloat16. Every rank needs the file, or its own part of a sparse copy.
        name: Of the tensor in a safetensors file; not needed if there is only one.
        band_bytes: How much memory a band may take as float32; one row at least is read.
        group: The ranks; by default all that were launched.

    Raises:
        ValueError: Another kind of file; a name that is missing or not there; no matrix; column-
            major order.
        DtypeError: Another number type.
        FileNotFoundError: No such file.
        ImportError: NumPy is not installed, which maps the file.
    """
    path = Path(path)
    if band_bytes < 1:
        raise ValueError(f"[open_matrix] band_bytes must be at least 1, not {band_bytes}.")
    if path.suffix == ".npy":
        matrix, dtype = _of_npy(path)
    elif path.suffix == ".safetensors":
        matrix, dtype = _of_safetensors(path, name)
    else:
        raise ValueError(f"[open_matrix] {path} must be a .npy or .safetensors file, by its name.")
    if matrix.ndim != 2:
        raise ValueError(f"[open_matrix] {path} has no matrix, but the shape {matrix.shape}.")
    group = of_group(group)
    m, n = matrix.shape
    start, stop = (m * r // group.size() for r in (group.rank(), group.rank() + 1))
    band = max(band_bytes // (4 * max(n, 1)), 1)
    return MatrixFile(path, matrix[start:stop], dtype, start, band)


def _numpy() -> Any:
    try:
        import numpy
    except ImportError as error:
        raise ImportError(
            "[open_matrix] NumPy maps files into memory and is not installed: pip install numpy."
        ) from error
    return numpy


def _of_npy(path: Path) -> tuple[Any, mx.Dtype]:
    np = _numpy()
    matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    types = {np.dtype("<f4"): mx.float32, np.dtype("<f2"): mx.float16}
    if matrix.dtype not in types:
        raise DtypeError(f"[open_matrix] {path} must have float32 or float16, not {matrix.dtype}.")
    if not matrix.flags.c_contiguous:
        raise ValueError(
            f"[open_matrix] {path} is in column-major order; rows cannot be read in bands. Write "
            "it with numpy.save(path, numpy.ascontiguousarray(matrix))."
        )
    return matrix, types[matrix.dtype]


def _of_safetensors(path: Path, name: str | None) -> tuple[Any, mx.Dtype]:
    """The format: 8 bytes with the length of a JSON text, that text, the numbers."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > os.path.getsize(path):
            raise ValueError(f"[open_matrix] {path} is no safetensors file.")
        tensors = json.loads(file.read(length))
    tensors.pop("__metadata__", None)
    if name is None and len(tensors) == 1:
        name = next(iter(tensors))
    if name not in tensors:
        there = ", ".join(sorted(tensors)) or "none"
        raise ValueError(f"[open_matrix] {path} has no tensor {name!r}; it has: {there}.")
    about = tensors[name]
    if about["dtype"] not in _STORED:
        raise DtypeError(
            f"[open_matrix] {name!r} in {path} must be F32, F16 or BF16, not {about['dtype']}."
        )
    stored, dtype = _STORED[about["dtype"]]
    offset = 8 + length + about["data_offsets"][0]
    shape = tuple(about["shape"])
    return _numpy().memmap(path, stored, "r", offset, shape), dtype
