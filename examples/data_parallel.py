"""grid_sample in training over several machines: each rank has its own images.

A camera distorts all that it sees in the same way. A lattice of displacements that undoes this is
learned from pairs of pictures, of which each rank has a share: gradients of grid_sample are
averaged over all ranks (nn.average_gradients, a collective of MLX), and an optimiser on each rank
makes the same step. Started as it is, the program launches itself on two ranks of this machine:

    python examples/data_parallel.py
    mlx.launch -n 4 --backend ring examples/data_parallel.py
"""

import os
import socket
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim

from anymetal.nn import grid_sample

IMAGES, SIZE, LATTICE = 24, 40, 5


def pixels(count: int) -> mx.array:
    """The points of all pixels as a grid (1, count, count, 2)."""
    centres = (2 * mx.arange(count) + 1) / count - 1
    return mx.stack([*mx.meshgrid(centres, centres, indexing="xy")], -1)[None]


class Lens(nn.Module):
    """Moves each pixel by a displacement that is interpolated from a lattice."""

    def __init__(self, lattice: mx.array) -> None:
        super().__init__()
        self.lattice = lattice  # (1, rows, columns, 2)

    def __call__(self, images: mx.array) -> mx.array:
        points = pixels(SIZE)
        smooth = grid_sample(self.lattice, points, "bicubic", "border", align_corners=True)
        everywhere = mx.broadcast_to(points + smooth, (images.shape[0], SIZE, SIZE, 2))
        return grid_sample(images, everywhere, padding_mode="border")


def pictures(count: int, key: mx.array) -> mx.array:
    """Smooth random images (count, SIZE, SIZE, 3)."""
    coarse = mx.random.normal((count, 8, 8, 3), key=key)
    points = mx.broadcast_to(pixels(SIZE), (count, SIZE, SIZE, 2))
    return grid_sample(coarse, points, "bicubic", "border")


def difference(lens: Lens, seen: mx.array, real: mx.array) -> mx.array:
    """The mean square of what the lens leaves."""
    return mx.square(lens(seen) - real).mean()


def train(lens: Lens, seen: mx.array, real: mx.array, group: mx.distributed.Group) -> list[float]:
    """Steps of Adam, from gradients of this rank's pictures and all others'; losses of all."""
    step = nn.value_and_grad(lens, difference)
    optimizer = optim.Adam(learning_rate=0.01)
    losses = []
    for _ in range(120):
        loss, slopes = step(lens, seen, real)
        slopes = nn.average_gradients(slopes, group=group)
        optimizer.update(lens, slopes)
        loss = mx.distributed.all_sum(loss, group=group) / group.size()
        mx.eval(loss, lens.parameters(), optimizer.state)
        losses.append(float(loss))
    return losses


def of_one_rank() -> None:
    """The program of each rank."""
    group = mx.distributed.init()
    rank, ranks = group.rank(), group.size()
    assert IMAGES % ranks == 0, f"{IMAGES} images cannot be shared equally by {ranks} ranks"
    keys = mx.random.split(mx.random.key(0))
    real = pictures(IMAGES, keys[0])
    inside = mx.pad(mx.ones((LATTICE - 2, LATTICE - 2)), 1)[None, ..., None]  # edges stay
    distortion = mx.random.uniform(-0.1, 0.1, (1, LATTICE, LATTICE, 2), key=keys[1])
    camera = Lens(distortion * inside)
    seen = camera(real)

    lens = Lens(mx.zeros((1, 2 * LATTICE, 2 * LATTICE, 2)))
    share = slice(rank * IMAGES // ranks, (rank + 1) * IMAGES // ranks)
    slopes = nn.value_and_grad(lens, difference)
    averaged = nn.average_gradients(slopes(lens, seen[share], real[share])[1], group=group)
    expected = slopes(lens, seen, real)[1]["lattice"]
    error = float(mx.abs(averaged["lattice"] - expected).max() / mx.abs(expected).max())
    losses = train(lens, seen[share], real[share], group)

    # Equal gradients and equal steps: nobody has to send parameters.
    everyone = mx.distributed.all_gather(lens.lattice, group=group)
    assert mx.array_equal(everyone, mx.broadcast_to(everyone[:1], everyone.shape)).item()
    assert error < 1e-4
    assert losses[-1] < losses[0] / 20, losses
    if rank == 0:
        print(f"{ranks} ranks, {IMAGES // ranks} of {IMAGES} images each")
        print(f"averaged gradients and those of all images differ by {error:.0e}")
        print(f"loss {losses[0]:.1e} -> {losses[-1]:.1e}; all ranks have the same parameters")


def launch(ranks: int) -> None:
    """This program on ranks of this machine, by MLX's launcher."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    launcher = Path(sys.executable).with_name("mlx.launch")
    options = ["-n", str(ranks), "--backend", "ring", "--starting-port", str(port)]
    command = [str(launcher), *options, sys.executable, str(Path(__file__).resolve())]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    print(done.stdout, end="")
    assert "all ranks have the same parameters" in done.stdout, done.stderr


if __name__ == "__main__":
    if "MLX_RANK" in os.environ:
        of_one_rank()
    else:
        launch(2)
