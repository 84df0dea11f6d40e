"""The kernel library on an NVIDIA GPU, beside PyTorch and MLX: `python -m benchmarks.cuda.library`.

Needs MLX's CUDA build and PyTorch. Wall clock, in milliseconds, medians: one call that is waited
for, and a twentieth of the time until twenty calls are through (of grid_sample, a fifth of five).
Of PyTorch also events on the GPU around one call, which leave the waiting out.
`--documentation FILE` adds the kernels of MLX's documentation, as they stand in that file.
"""

from __future__ import annotations

import argparse
import ast
import math
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import mlx.core as mx
import numpy as np
import torch

import anymetal
from anymetal import linalg, nn
from anymetal.tune.switch import question_of

_ROUNDS, _KEPT = 21, 40 << 30  #: the latter: bytes that MLX keeps for new arrays
#: Calls that are not measured, and seconds in which a version for them is made.
_WARMUP, _PAUSE = 20, 1.0
_IMAGE, _POINTS = (8, 1024, 1024, 64), (8, 256, 256, 2)  # of MLX's documentation
_MATRICES = ((4096, 8), (4096, 16), (4096, 32), (64, 128), (1, 128), (1, 512), (1, 1024), (1, 2048))

Call = Callable[[], Any]
Sampler = Callable[[mx.array, mx.array], mx.array]


class Times(NamedTuple):
    """Milliseconds."""

    one: float
    of_many: float
    event: float = math.nan

    def __str__(self) -> str:
        event = "" if math.isnan(self.event) else f"{self.event:.3f}"
        return f"{self.one:.3f} | {self.of_many:.3f} | {event}"


def of_mlx(call: Call, many: int) -> Times:
    """Of something that returns arrays of MLX."""
    return Times(*_clock(lambda count: mx.eval([call() for _ in range(count)]), many))


def of_torch(call: Call, many: int) -> Times:
    """Of something that PyTorch does."""

    def run(count: int) -> None:
        for _ in range(count):
            call()
        torch.cuda.synchronize()

    one, of_many = _clock(run, many)
    events = []
    for _ in range(_ROUNDS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        events.append(begin.elapsed_time(end))
    return Times(one, of_many, median(events))


def _clock(run: Callable[[int], None], many: int) -> tuple[float, float]:
    times = {}
    for count in (1, many):
        for _ in range(_WARMUP if count == 1 else 2):
            run(count)
        time.sleep(_PAUSE if count == 1 else 0)
        run(count)
        taken = []
        for _ in range(_ROUNDS if count == 1 else _ROUNDS // 3):
            start = time.perf_counter()
            run(count)
            taken.append((time.perf_counter() - start) / count)
        times[count] = 1e3 * median(taken)
    return times[1], times[many]


def told(what: str, who: str, times: Times) -> None:
    """Print a line."""
    print(f"| {what} | {who} | {times} |", flush=True)


def sampling(documentation: Path | None) -> None:
    """Samples, and both gradients."""
    x, flow = mx.random.normal(_IMAGE), mx.random.normal((*_POINTS[:3], _IMAGE[3]))
    points = mx.random.uniform(-1, 1, _POINTS)
    mx.eval(x, flow, points)
    half = mx.zeros((5 * flow.size // 2,))  # of what samples need: four pixels each, and a result
    mx.eval(half)
    told("samples", "floor: a copy of as many bytes", of_mlx(lambda: half + 1, 5))
    told("gradients", "floor: zeros of the image's size", of_mlx(lambda: mx.zeros(_IMAGE), 5))
    contenders: dict[str, Sampler] = {
        "nn.grid_sample": nn.grid_sample,
        "MLX's operations": partial(nn.grid_sample, path="mlx"),
    }
    if documentation:
        contenders["the documentation's kernels"] = _documented(documentation)
    for who, sample in contenders.items():
        told("samples", who, of_mlx(partial(sample, x, points), 5))
        told("gradients", who, of_mlx(partial(_gradients, sample, x, points, flow), 5))
    images, flows = (_moved(array).permute(0, 3, 1, 2) for array in (x, flow))
    _sampling_of_torch("channels last", images, _moved(points), flows)
    _sampling_of_torch("contiguous", images.contiguous(), _moved(points), flows.contiguous())


def _gradients(sample: Sampler, x: mx.array, points: mx.array, flow: mx.array) -> list[mx.array]:
    return mx.vjp(sample, [x, points], [flow])[1]


def _sampling_of_torch(
    layout: str, images: torch.Tensor, points: torch.Tensor, flows: torch.Tensor
) -> None:
    inputs = images.requires_grad_(True), points.requires_grad_(True)
    sample = partial(torch.nn.functional.grid_sample, *inputs, align_corners=False)
    with torch.no_grad():
        told("samples", f"PyTorch, {layout}", of_torch(sample, 5))
    gradients = partial(torch.autograd.grad, sample(), inputs, flows, retain_graph=True)
    told("gradients", f"PyTorch, {layout}", of_torch(gradients, 5))


def _documented(path: Path) -> Sampler:
    """The `grid_sample` that a script defines, without what it does with it."""
    script = ast.parse(path.read_text())
    script.body = [
        part
        for part in script.body
        if isinstance(part, ast.Import | ast.ImportFrom | ast.FunctionDef)
    ]
    names: dict[str, Any] = {"__name__": "documentation"}
    anymetal.install()
    exec(compile(script, str(path), "exec"), names)
    function: Sampler = names["grid_sample"]
    return function


def factors() -> None:
    """Cholesky factors of batches."""
    for count, n in _MATRICES:
        random = np.random.default_rng(n).standard_normal((count, n, n), dtype=np.float32)
        A = mx.array(random @ random.transpose(0, 2, 1) + n * np.eye(n, dtype=np.float32))
        mx.eval(A)
        what = f"cholesky, {count} × ({n} × {n})"
        path = question_of(linalg.cholesky, A)[1].path
        told(what, f"linalg.cholesky ({path})", of_mlx(partial(linalg.cholesky, A), 20))
        told(what, "PyTorch", of_torch(partial(torch.linalg.cholesky, _moved(A)), 20))


def _moved(array: mx.array) -> torch.Tensor:
    return torch.tensor(np.array(array)).cuda()


def main() -> None:
    """Print the table."""
    os.environ.setdefault("ANYMETAL_BRIDGE", "wait")  # lest some calls go without it
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cuda.library", description=__doc__)
    parser.add_argument("--documentation", type=Path, help="a script with MLX's grid_sample")
    options = parser.parse_args()
    mx.set_cache_limit(_KEPT)
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    print("| what | who | one call, ms | of many | events |\n|---|---|---|---|---|")
    factors()
    sampling(options.documentation)


if __name__ == "__main__":
    main()
