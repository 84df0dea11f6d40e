"""The largest singular values of a file that is larger than memory, with a kill in between.

    python -m benchmarks.out_of_core --rows 1000000 --columns 5000 --folder FOLDER

Writes a matrix A = U diag(1, 1/2, 1/3, …) Vᵀ of full rank, whose singular vectors are cosines: the
basis of the discrete cosine transform is orthonormal, so singular values are known, and rows are
written in bands by fast transforms in float64. Then a process searches for the k largest, is ended
by SIGKILL in the middle of a product, and another one goes on with the journal. Printed are times,
the peak of resident memory of both (VmHWM of Linux: mapped pages of the file count), the bytes that
the journal took, and errors beside the known values and vectors.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_CHUNK = 2**24  # elements that are written at a time


def left(first: int, last: int, rows: int, count: int) -> Array:
    """Rows `first` to `last` of the first left singular vectors, float64: a cosine per column."""
    # Integers, so that the argument of the cosine is exact before it is rounded.
    phase = (2 * np.arange(first, last)[:, None] + 1) * np.arange(1, count + 1) % (4 * rows)
    return np.sqrt(2 / rows) * np.cos(np.pi / (2 * rows) * phase)


def right(columns: int, count: int) -> Array:
    """The first right singular vectors as columns, float64."""
    import scipy.fft

    vectors: Array = scipy.fft.idct(np.eye(count, columns), norm="ortho", axis=1).T
    return vectors


def values(count: int) -> Array:
    """The first singular values."""
    return 1 / np.arange(1.0, count + 1)


def write(path: Path, rows: int, columns: int) -> None:
    """The matrix as a `.npy` file, float32."""
    import scipy.fft

    if not 1 <= columns < rows:
        raise ValueError(f"The matrix must have more rows than columns, not {rows} and {columns}.")
    step = max(_CHUNK // columns, 1)
    header = np.lib.format.header_data_from_array_1_0(np.empty(0, np.float32))
    with path.open("wb") as file:
        np.lib.format.write_array_header_2_0(file, {**header, "shape": (rows, columns)})
        for first in range(0, rows, step):
            share = left(first, min(first + step, rows), rows, columns) * values(columns)
            band = scipy.fft.idct(share, norm="ortho", axis=1, workers=-1, overwrite_x=True)
            band.astype(np.float32).tofile(file)


# The process that searches


def search(matrix: Path, rows: int, columns: int, k: int, band_bytes: int) -> None:
    """Search, and print what came out as JSON."""
    from anymetal.linalg import distributed

    begin = time.perf_counter()
    file = distributed.open_matrix(matrix, band_bytes=band_bytes)
    U, S, Vt = distributed.svd_topk(
        file, k, journal=matrix.with_suffix(".journal"), explain=True, progress=sys.stderr.isatty()
    )
    seconds = time.perf_counter() - begin
    # Vectors are compared by the cosine of the angle between them, whatever their signs.
    overlap = np.zeros((k, k))
    for first in range(0, rows, step := max(_CHUNK // k, 1)):
        band = np.array(U[first : first + step], float)
        overlap += left(first, min(first + step, rows), rows, k).T @ band
    beside = np.abs(np.diag(np.array(Vt, float) @ right(columns, k)))
    print(
        json.dumps(
            {
                "seconds": seconds,
                "value error": np.abs(np.array(S, float) - values(k)).max(),
                "left error": np.abs(1 - np.abs(np.diag(overlap))).max(),
                "right error": np.abs(1 - beside).max(),
                "peak": peak("self"),
            }
        )
    )


def peak(process: int | str) -> int:
    """Bytes of the largest resident set that a process has had (VmHWM)."""
    status = Path(f"/proc/{process}/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


# The process that kills


def started(arguments: argparse.Namespace, matrix: Path) -> subprocess.Popen[str]:
    options = [f"--{name}={getattr(arguments, name)}" for name in ("rows", "columns", "k", "band")]
    command = [sys.executable, "-m", "benchmarks.out_of_core", *options, "--search", str(matrix)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def killed_amid(process: subprocess.Popen[str], journal: Path, product: int) -> tuple[int, float]:
    """End it while that product is computed; its peak of memory, and for how long it ran."""
    begin = time.perf_counter()
    highest = 0
    while process.poll() is None:
        highest = max(highest, peak(process.pid))
        if any(_number(file) >= product - 1 for file in journal.glob("*/product-*")):
            break
        time.sleep(0.01)
    if process.poll() is not None:
        raise RuntimeError(f"The search was over before product {product}; name an earlier one.")
    took = time.perf_counter() - begin
    time.sleep(took / (2 * product))  # half of a product
    highest = max(highest, peak(process.pid))
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    return highest, time.perf_counter() - begin


def _number(file: Path) -> int:
    return int(file.stem.split("-")[1])


def run(arguments: argparse.Namespace) -> dict[str, float]:
    """Write, search, kill, go on; returns what is printed."""
    folder = Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    matrix = folder / f"matrix-{arguments.rows}-{arguments.columns}.npy"
    journal = matrix.with_suffix(".journal")
    shutil.rmtree(journal, ignore_errors=True)
    results: dict[str, float] = {}
    if not matrix.exists():
        begin = time.perf_counter()
        partial = matrix.with_suffix(".new")
        write(partial, arguments.rows, arguments.columns)
        partial.rename(matrix)
        results["seconds to write"] = time.perf_counter() - begin
    results["bytes"] = matrix.stat().st_size
    killed = started(arguments, matrix)
    results["peak before the kill"], results["seconds before the kill"] = killed_amid(
        killed, journal, arguments.kill
    )
    results["files in the journal"] = len(list(journal.glob("*/*.safetensors")))
    again = started(arguments, matrix)
    largest = 0
    while again.poll() is None:
        largest = max(largest, _size(journal))
        time.sleep(0.1)
    if again.returncode:
        raise RuntimeError(f"The second search has ended with status {again.returncode}.")
    assert again.stdout is not None
    found = json.loads(again.stdout.read())
    results |= {f"{name} after the kill": found[name] for name in ("peak", "seconds")}
    results |= {name: found[name] for name in found if "error" in name}
    results["bytes of the journal"] = largest
    shutil.rmtree(journal)
    if not arguments.keep:
        matrix.unlink()
    return results


def _size(folder: Path) -> int:
    total = 0
    for file in folder.glob("*/*"):
        try:
            total += file.stat().st_size
        except FileNotFoundError:  # renamed or deleted meanwhile
            continue
    return total


def arguments_of(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("benchmarks.out_of_core", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--k", type=int, default=50, help="singular values")
    parser.add_argument("--band", type=int, default=256 * 2**20, help="bytes of a band")
    parser.add_argument("--kill", type=int, default=7, help="product amid which it is killed")
    parser.add_argument("--folder", default=".", help="where there is room for the matrix")
    parser.add_argument("--keep", action="store_true", help="leave the matrix for the next time")
    parser.add_argument("--write-only", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--search", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(words)


if __name__ == "__main__":
    given = arguments_of(sys.argv[1:])
    if given.search:
        search(given.search, given.rows, given.columns, given.k, given.band)
    else:
        for name, value in run(given).items():
            shown = f"{value / 2**30:.2f} GiB" if name.startswith(("peak", "bytes")) else value
            print(f"{name}: {shown if isinstance(shown, str) else f'{shown:.3g}'}")
