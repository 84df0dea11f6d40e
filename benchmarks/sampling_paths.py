"""Which path of grid_sample is fast where: `python -m benchmarks.sampling_paths [--warp]`.

Times of the paths and of PyTorch (channels last) in turn, by the number of channels and the size of
the image, for as many points as pixels; then the same for both gradients. What counts is the
processor time of one thread, which other work on the machine disturbs least.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping
from statistics import median

from benchmarks import threads

#: Channels and the side of an image.
_CASES = (
    (1, 16), (64, 16), (1, 64), (256, 64),
    (1, 512), (2, 512), (3, 512), (4, 512), (8, 512), (16, 512), (32, 512), (64, 512),
)  # fmt: skip
_MODES = ("bilinear", "nearest", "bicubic")
_TORCH = "PyTorch"
_ROUNDS = 5

Contenders = Mapping[str, Callable[[], object]]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.sampling_paths")
    parser.add_argument("--seconds", type=float, default=1, help="for each job and line")
    parser.add_argument("--warp", action="store_true", help="neighbours sample neighbours")
    options = parser.parse_args()
    threads.prepare(1)
    os.environ.setdefault("ANYMETAL_BRIDGE", "wait")
    from benchmarks.harness import keep_memory

    keep_memory()
    columns = "mode", "channels", "image", "samples", "mlx", _TORCH
    print(f"| {' | '.join((*columns, 'gradients', 'atomics', 'mlx', _TORCH))} |")
    print("|---|" + "---:|" * 9)
    for mode in _MODES:
        for channels, side in _CASES if mode == "bilinear" else _CASES[-1:]:
            samples, gradients = _jobs(mode, channels, side, options.warp)
            times = [*_measured(samples, options.seconds), *_measured(gradients, options.seconds)]
            print(f"| {mode} | {channels} | {side}² | {' | '.join(times)} |", flush=True)


def _jobs(mode: str, channels: int, side: int, warp: bool) -> tuple[Contenders, Contenders]:
    import mlx.core as mx
    import torch

    from anymetal.nn import grid_sample

    torch.set_num_threads(1)
    key = mx.random.key(0)
    x = mx.random.normal((1, side, side, channels), key=key)
    points = mx.random.uniform(-1, 1, (1, side, side, 2), key=key)
    if warp:
        straight = mx.stack(mx.meshgrid(*2 * [mx.linspace(-1, 1, side)], indexing="xy"), -1)[None]
        points = straight + 0.02 * mx.sin(5 * straight)
    mx.eval(x, points)
    image = torch.from_dlpack(x).permute(0, 3, 1, 2)
    places = torch.from_dlpack(points)
    learned = [each.detach().clone().requires_grad_() for each in (image, places)]

    def sampled(path: str) -> Callable[[], object]:
        return lambda: mx.eval(grid_sample(x, points, mode, path=path))

    def differentiated(path: str) -> Callable[[], object]:
        def function(x: mx.array, points: mx.array) -> mx.array:
            return grid_sample(x, points, mode, path=path)

        return lambda: mx.eval(mx.vjp(function, [x, points], [x])[1])

    def by_torch(image: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.grid_sample(image, places, mode, align_corners=False)

    result = by_torch(*learned)
    samples = {path: sampled(path) for path in ("kernel", "mlx")}
    gradients = {path: differentiated(path) for path in ("kernel", "atomics", "mlx")}
    return (
        {**samples, _TORCH: lambda: by_torch(image, places)},
        {
            **gradients,
            _TORCH: lambda: torch.autograd.grad(result, learned, image, retain_graph=True),
        },
    )


def _measured(contenders: Contenders, seconds: float) -> list[str]:
    """The time of the first contender, and for each other one its time in times of that."""
    from anymetal.timing import duration

    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for run in contenders.values():
        run()
    order = list(contenders)
    ours, *others = order
    end = time.perf_counter() + seconds
    while len(taken[ours]) < _ROUNDS or time.perf_counter() < end:
        for name in order:
            start = time.process_time()
            contenders[name]()
            taken[name].append(time.process_time() - start)
        order = order[1:] + order[:1]  # nobody always follows the same one
    ratios = {
        name: median(theirs / mine for theirs, mine in zip(taken[name], taken[ours], strict=True))
        for name in others
    }
    return [duration(median(taken[ours])), *(f"{ratios[name]:.2g}" for name in others)]


if __name__ == "__main__":
    main()
