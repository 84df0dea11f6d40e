"""Rows of the benchmark on an NVIDIA GPU: our PTX beside CUDA C++ (rivals.cu), in the same blocks.

    python -m benchmarks.cuda [--row NAME …] [--save FOLDER]

Needs CuPy, PyTorch and nvcc. Time on the GPU alone, out of graphs of launches: the median of rounds
in which both take turns. Each result is compared with the row's oracle first. "floor" is what a
copy of the row's bytes takes, measured in the same run.
"""

from __future__ import annotations

import argparse
import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupy  # type: ignore[import-not-found]  # on machines with a GPU
import mlx.core as mx
import numpy as np

from anymetal.targets.base import Launch
from anymetal.targets.cuda.arguments import buffers, form_of, geometry
from anymetal.targets.cuda.code_lookup import Version, ptx_of
from anymetal.targets.cuda.names import entry_of
from anymetal.testing.gpu_suite.pack import bytes_of
from benchmarks.harness import Race, Row
from benchmarks.launches import kernel_rows, launch_of

#: Names in rivals.cu of rows that have others; the extents that kernels there want: (input, axis).
_NAMES = {
    "histogram_256": "histogram_small",
    "histogram_65536": "histogram_large",
    "cholesky": "cholesky_small",
}
_MATRICES = [(0, 1), (1, 1)]
_EXTENTS: dict[str, list[tuple[int, int]]] = {
    "stencil": [(0, 0), (0, 1)],
    "matmul_naive": _MATRICES,
    "matmul_tiled": _MATRICES,
    "matmul_simdgroup_1024": _MATRICES,
    "matmul_simdgroup_half_1024": _MATRICES,
    "transpose": [(0, 0), (0, 1)],
    "attention": [(1, 1)],
    "rnn": [(0, 1)],
    "grid_sample": [(0, 1), (0, 2), (0, 3)],
    "grid_sample_vjp": [(0, 1), (0, 2), (0, 3)],
}
_ROUNDS, _LAUNCHES = 15, 10

Run = Callable[[], None]


def rows() -> list[Row]:
    """All rows that have a rival here."""
    text = (Path(__file__).parent / "rivals.cu").read_text()
    return [
        row for row in kernel_rows() if f"KERNEL bench_{_NAMES.get(row.name, row.name)}(" in text
    ]


def built(folder: Path) -> Any:
    """The rivals, as a module of CuPy."""
    cubin = folder / "rivals.cubin"
    major, minor = divmod(int(cupy.cuda.Device().compute_capability), 10)
    source = Path(__file__).parent / "rivals.cu"
    command = ["nvcc", "-O3", f"-arch=sm_{major}{minor}", "-cubin", "-o", str(cubin), str(source)]
    subprocess.run(command, check=True)
    return cupy.RawModule(path=str(cubin))


class Contender:
    """A kernel with arrays on the GPU, to be launched."""

    def __init__(self, function: Any, launch: Launch, arguments: list[Any], numbers: list[Any]):
        blocks = geometry(launch.source.name, launch.grid, launch.threadgroup)
        self.launch, self.function = launch, function
        self.shape = tuple(blocks.blocks), tuple(blocks.block)
        pairs = zip(launch.output_shapes, launch.output_dtypes, strict=True)
        self.outputs = [cupy.zeros(math.prod(s) * d.size, cupy.uint8) for s, d in pairs]
        self.arguments = (*arguments, *self.outputs, *numbers)

    def __call__(self) -> None:
        self.function(*self.shape, self.arguments)

    def error(self, race: Race) -> str:
        """What is wrong with the results of one launch; empty if nothing is."""
        for output in self.outputs:
            output.fill(0 if self.launch.init_value is not None else 0xA5)
        self()
        cupy.cuda.Device().synchronize()
        for output, expected in zip(self.outputs, race.expected, strict=True):
            dtype = {mx.int32: "i4", mx.uint32: "u4", mx.uint64: "u8", mx.float32: "f4"}
            found = output.get().view(dtype[self.launch.output_dtypes[0]])
            wanted = np.ravel(expected)
            scale = 1 / 2**24 if race.relative == 0 and wanted.max() < 1 else 0
            off = ~(
                np.abs(found.astype(float) - wanted)
                <= scale + race.absolute + race.relative * np.abs(wanted)
            )
            if off.mean() > race.outliers:
                at = int(np.argmax(off))
                return (
                    f"{off.sum()} of {off.size} are wrong, [{at}] is {found[at]}, not {wanted[at]}"
                )
        return ""


def contenders(
    name: str, race: Race, module: Any, architecture: str, save: Path | None
) -> list[Contender]:
    """Ours and the rival."""
    launch = launch_of(race)
    blocks = geometry(name, launch.grid, launch.threadgroup)
    ptx = ptx_of(Version(launch.source, architecture, form_of(blocks, aligned=True)))
    if save:
        (save / f"{name}.ptx").write_bytes(ptx)
    path = Path(f"/tmp/bench-{name}.ptx")
    path.write_bytes(ptx)
    ours = cupy.RawModule(path=str(path)).get_function(entry_of(launch.source.entry))
    bound = [cupy.asarray(bytes_of(array)) for array in buffers(launch)]
    mine = Contender(ours, launch, bound, [np.int32(n) for n in blocks.numbers])
    given = [
        cupy.asarray(bytes_of(array)) if array.ndim else np.array(array)[()]
        for array in launch.inputs
    ]
    extents = [np.int32(launch.inputs[i].shape[axis]) for i, axis in _EXTENTS.get(name, [])]
    theirs = module.get_function(f"bench_{_NAMES.get(name, name)}")
    return [mine, Contender(theirs, launch, given, extents)]


def milliseconds(runs: list[Run]) -> list[float]:
    """Of one launch of each, the median over rounds in which they take turns."""
    stream = cupy.cuda.Stream(non_blocking=True)
    graphs = []
    for run in runs:
        with stream:
            for _ in range(3):
                run()
            stream.synchronize()
            stream.begin_capture()
            for _ in range(_LAUNCHES):
                run()
            graphs.append(stream.end_capture())
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(_ROUNDS):
        for graph, list_ in zip(graphs, times, strict=True):
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record(stream)
            graph.launch(stream)
            end.record(stream)
            end.synchronize()
            list_.append(cupy.cuda.get_elapsed_time(begin, end) / _LAUNCHES)
    return [float(np.median(each[2:])) for each in times]


def copy_rate() -> float:
    """Bytes per millisecond that a copy reads and writes."""
    source = cupy.random.uniform(size=1 << 28, dtype=cupy.float32)
    target = cupy.empty_like(source)
    (time,) = milliseconds([lambda: cupy.copyto(target, source)])
    return 2 * source.nbytes / time


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cuda", description=__doc__)
    parser.add_argument("--row", action="append", help="this row only")
    parser.add_argument("--save", type=Path, help="where PTX and cubin are left")
    options = parser.parse_args()
    mx.set_default_device(mx.cpu)
    folder = options.save or Path("/tmp")
    folder.mkdir(parents=True, exist_ok=True)
    module = built(folder)
    architecture = f"sm_{cupy.cuda.Device().compute_capability}"
    rate = copy_rate()
    print(f"copy: {rate / 1e9:.2f} TB/s")
    print(
        "| row | ours, ms | CUDA C++, ms | CUDA C++ ÷ ours | floor ÷ ours |\n|---|---|---|---|---|"
    )
    ratios = []
    for row in rows():
        if options.row and row.name not in options.row:
            continue
        race = row.prepare(np.random.default_rng(7))
        both = contenders(row.name, race, module, architecture, options.save)
        for who, contender in zip(("ours", "CUDA C++"), both, strict=True):
            if wrong := contender.error(race):
                print(f"{row.name}, {who}: {wrong}", flush=True)
        ours, theirs = milliseconds(list(both))
        ratios.append(theirs / ours)
        floor = race.bytes / rate / ours
        print(
            f"| {row.name} | {ours:.4f} | {theirs:.4f} | {ratios[-1]:.2f} | {floor:.2f} |",
            flush=True,
        )
    print(f"geometric mean of {len(ratios)}: {math.exp(np.mean(np.log(ratios))):.3f}")


if __name__ == "__main__":
    main()
