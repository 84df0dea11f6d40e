"""Writes what `drive.py` runs: `.metal` cases with the results of their formulas, and kernels that
scripts launch, with the results of the CPU target.

The folder gets, for each part of the trials, `N.json` (a list of trials) and `N.npz` (arrays, as
bytes, and PTX texts), which one process runs.
"""

from __future__ import annotations

import argparse
import json
import runpy
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np

from anymetal import targets
from anymetal.errors import AnyMetalError
from anymetal.source import KernelSource
from anymetal.targets.base import Launch, Target
from anymetal.targets.cpu import CpuTarget
from anymetal.targets.cuda.arguments import buffers, form_of, geometry
from anymetal.targets.cuda.code_lookup import Version, ptx_of
from anymetal.targets.cuda.names import Form, entry_of
from anymetal.targets.graph import GraphTarget
from anymetal.testing import metal_case
from anymetal.testing.fuzz import oracle
from anymetal.testing.fuzz.check import case_of
from anymetal.testing.fuzz.execute import execute
from anymetal.testing.fuzz.launch import LANES
from anymetal.testing.fuzz.numerics import Undefined
from anymetal.testing.metal_case import Expected, MetalCase

Array = np.ndarray[Any, np.dtype[Any]]

#: Errors that are allowed where the CPU target's result is what is compared with: sums come in
#: another order.
RELATIVE, ABSOLUTE = 1e-4, 1e-5
#: The script with kernels that are also timed.
_TIMED = "docs_grid_sample"
_BYTES_OF_TRIAL = 32 << 20


class Stopped(Exception):
    """The launch has been noted."""


class Notes(GraphTarget):
    """A target that takes notes. `then`: what runs the launch; without it, it stops there."""

    name = "notes"
    lazy = True

    def __init__(self, then: GraphTarget | None = None) -> None:
        self.then = then
        self.launches: list[tuple[Launch, list[mx.array]]] = []

    def run(self, launch: Launch) -> list[mx.array]:
        outputs = self.then.run(launch) if self.then else []
        self.launches.append((launch, outputs))
        if not self.then:
            raise Stopped
        return outputs

    def become_lazy(self) -> None:
        """It is."""


@dataclass
class Part:
    """What one process of the driver runs."""

    trials: list[dict[str, Any]] = field(default_factory=list)
    arrays: dict[str, Array] = field(default_factory=dict)

    def array(self, values: Array) -> str:
        key = f"a{len(self.arrays)}"
        self.arrays[key] = values
        return key

    def add(
        self, name: str, launch: Launch, ptx: bytes, expected: Sequence[Expected | None]
    ) -> None:
        """A trial; without `expected` it is only timed."""
        blocks = geometry(name, launch.grid, launch.threadgroup)
        self.trials.append(
            {
                "name": name,
                "entry": entry_of(launch.source.entry),
                "ptx": self.array(np.frombuffer(ptx, np.uint8)),
                "inputs": [self._input(array) for array in buffers(launch)],
                "timed": not expected,
                "outputs": [
                    self._output(shape, dtype, wanted, launch.init_value)
                    for shape, dtype, wanted in zip(
                        launch.output_shapes,
                        launch.output_dtypes,
                        expected or [None] * len(launch.output_shapes),
                        strict=True,
                    )
                ],
                "numbers": blocks.numbers,
                "block": blocks.block,
                "blocks": blocks.blocks,
            }
        )

    def _input(self, array: mx.array) -> object:
        if array.nbytes > _BYTES_OF_TRIAL:  # of a timed trial: random floats, made there
            return {"bytes": array.nbytes}
        return self.array(bytes_of(array))

    def _output(
        self, shape: Sequence[int], dtype: mx.Dtype, wanted: Expected | None, init: float | None
    ) -> dict[str, Any]:
        output = {"bytes": prod(shape) * dtype.size, "dtype": str(dtype).removeprefix("mlx.core.")}
        if init is not None and wanted:
            output["init"] = self.array(bytes_of(mx.full(shape, init).astype(dtype)))
        if wanted:
            values = np.ascontiguousarray(np.broadcast_to(wanted.values, shape)).reshape(-1)
            output |= {
                "expected": self.array(values),
                "relative": wanted.relative,
                "absolute": wanted.absolute,
            }
        return output

    def write(self, folder: Path, number: int) -> None:
        (folder / f"{number}.json").write_text(json.dumps(self.trials))
        np.savez_compressed(folder / f"{number}.npz", **self.arrays)  # type: ignore[arg-type]


def bytes_of(array: mx.array) -> Array:
    """The bytes of an array, row by row."""
    return np.array(mx.contiguous(array).reshape(-1).view(mx.uint8))


def values_of(array: mx.array) -> Array:
    """The values; half and bfloat as float32."""
    narrow = array.dtype in (mx.float16, mx.bfloat16)
    return np.array(array.astype(mx.float32) if narrow else array)


Trial = tuple[str, Launch, Callable[[], list[Expected | None]]]


def case_trials(paths: Sequence[Path], all_dtypes: bool) -> Iterator[Trial]:
    """The launches of `.metal` cases that expect results."""
    for path in paths:
        case = metal_case.parse(path)
        if not case.all("expect"):
            continue
        for dtype in case.dtypes if all_dtypes else case.dtypes[:1]:
            yield from _case_trial(case, dtype)


def _case_trial(case: MetalCase, dtype: str) -> Iterator[Trial]:
    notes = Notes()
    targets.select(notes)
    arrays = metal_case.inputs(case, dtype)
    try:
        metal_case.launcher(case, dtype, arrays)()
    except Stopped:
        launch = notes.launches[0][0]

        def expected() -> list[Expected | None]:
            wanted = metal_case.expected(case, dtype, arrays)
            names = [metal_case.declaration(case, t, dtype).name for t in case.all("output")]
            return [wanted.get(name) for name in names]

        where = case.path.relative_to(case.path.parents[1])
        yield (f"{where}{f' {dtype}' if dtype else ''}", launch, expected)
    finally:
        targets.select(None)


def script_trials(paths: Sequence[Path]) -> Iterator[Trial]:
    """The launches of scripts, which run on the CPU target meanwhile."""
    from anymetal.install import install

    install(clamp_indices=True)
    for path in paths:
        targets.select(None)
        cpu = CpuTarget()
        cpu.become_lazy()
        notes = Notes(cpu)
        targets.select(notes)
        arguments, sys.argv = sys.argv, [str(path)]
        try:
            runpy.run_path(str(path), run_name="__main__")
        except SystemExit as end:
            if end.code:
                raise
        finally:
            sys.argv = arguments
            targets.select(None)
        for number, (launch, outputs) in enumerate(notes.launches):
            wanted: list[Expected | None] = [_of_cpu(output) for output in outputs]
            yield (
                f"{path.name} launch {number} {launch.source.name}",
                launch,
                partial(_same, wanted),
            )
        if path.stem == _TIMED:
            yield from _timed_trials([launch for launch, _ in notes.launches])


def _timed_trials(launches: list[Launch]) -> Iterator[Trial]:
    """grid_sample and its gradients as MLX's documentation has them, at its size."""
    b, h, w, c, height, width = 8, 1024, 1024, 64, 256, 256
    x, points = mx.zeros((b, h, w, c)), mx.zeros((b, height, width, 2))
    result = mx.zeros((b, height, width, c))
    nothing: list[Expected | None] = []
    for launch in {len(launch.inputs): launch for launch in launches}.values():
        gradient = len(launch.inputs) == 3
        large = replace(
            launch,
            inputs=[x, points, result] if gradient else [x, points],
            output_shapes=[x.shape, points.shape] if gradient else [result.shape],
            grid=(b * height * width * c, 1, 1),
        )
        name = f"documentation's grid_sample {'gradients' if gradient else 'forward'}"
        yield name, large, partial(_same, nothing)


def fuzz_trials(seeds: Iterable[int]) -> Iterator[Trial]:
    """Random kernels, with the results of the fuzzer's interpreter."""
    for seed in seeds:
        case = case_of(seed, draw=False)
        try:
            results = oracle.run(case)
        except Undefined:
            continue
        notes = Notes()
        targets.put_in_front(partial(_in_front, notes))
        try:
            execute(case, LANES)
        except Stopped:
            expected: list[Expected | None] = [
                Expected(results[buffer.name]) for buffer in case.outputs()
            ]
            yield f"fuzz {seed}", notes.launches[0][0], partial(_same, expected)
        finally:
            targets.put_in_front(None)


def _same(expected: list[Expected | None]) -> list[Expected | None]:
    return expected


def _in_front(notes: Notes, _: Target) -> Target:
    return notes


def _of_cpu(output: mx.array) -> Expected:
    values = values_of(output)
    if values.dtype.kind not in "fc":
        return Expected(values)
    narrow = {mx.float16: 2e-3, mx.bfloat16: 2e-2}.get(output.dtype, 0.0)
    return Expected(values, max(RELATIVE, narrow), max(ABSOLUTE, narrow))


def pack(
    trials: Iterator[Trial], architecture: str, folder: Path, parts: int, first: int = 0
) -> int:
    """Writes the parts; returns how many trials there are. Prints what does not compile."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [Part() for _ in range(parts)]
    known: dict[tuple[KernelSource, Form], bytes] = {}
    count = 0
    for name, launch, expected in trials:
        sizes = [array.nbytes for array in launch.inputs]
        sizes += [
            prod(s) * d.size
            for s, d in zip(launch.output_shapes, launch.output_dtypes, strict=True)
        ]
        wanted = expected()
        large = wanted and sum(sizes) > _BYTES_OF_TRIAL
        if 0 in (*launch.grid, *launch.threadgroup) or large:
            print(f"left out   {name}: no threads, or arrays of {sum(sizes)} bytes")
            continue
        try:
            blocks = geometry(name, launch.grid, launch.threadgroup)
            key = launch.source, form_of(blocks, aligned=True)
            if key not in known:
                known[key] = ptx_of(Version(launch.source, architecture, key[1]))
            made[count % parts].add(name, launch, known[key], wanted)
            count += 1
        except AnyMetalError as error:
            print(f"refused    {name}: {' '.join(str(error).split())[:200]}")
    for number, part in enumerate(made, first):
        part.write(folder, number)
    return count


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m anymetal.testing.gpu_suite.pack", description=__doc__
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument("--arch", default="sm_80", help="code for GPUs from this one on")
    parser.add_argument("--parts", type=int, default=16, help="processes that will run them")
    parser.add_argument("--kernels", type=Path, default=Path("tests/kernels"), help=".metal cases")
    parser.add_argument("--scripts", type=Path, nargs="*", default=[], help="Python files")
    parser.add_argument("--fuzz", type=int, default=0, help="so many random kernels")
    parser.add_argument("--share", default="0/1", help="K/N: of N processes that pack, the K-th")
    parser.add_argument("--all-dtypes", action="store_true", help="cases in each of their types")
    parser.add_argument("--count", type=int, help="at most so many cases")
    options = parser.parse_args()
    share, shares = (int(number) for number in options.share.split("/"))
    paths = sorted(options.kernels.rglob("*.metal"))[: options.count][share::shares]
    scripts = options.scripts[share::shares]
    seeds = range(share, options.fuzz, shares)

    def trials() -> Iterator[Trial]:
        yield from case_trials(paths, options.all_dtypes)
        yield from script_trials(scripts)
        yield from fuzz_trials(seeds)

    count = pack(trials(), options.arch, options.out, options.parts, share * options.parts)
    size = sum(file.stat().st_size for file in options.out.iterdir())
    print(f"{count} trials for {options.arch}, {size / 1e6:.1f} MB in {options.out}")


if __name__ == "__main__":
    main()
