"""anymetal.nn.grid_sample in training: a module learns the warp that straightens an image.

The warp is a lattice of displacements. grid_sample makes it smooth (the lattice is the image, the
points are the pixels), and grid_sample again moves the distorted image by it: so training needs
the gradient of the image in the one call and the gradient of the points in the other. The picture
shows the image before, the target, and the image after.
"""

import struct
import tempfile
import zlib
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np

from anymetal.nn import grid_sample

SIZE = 160


def pixels(count: int = SIZE) -> mx.array:
    """The points of all pixels as a grid (1, count, count, 2)."""
    centres = (2 * mx.arange(count) + 1) / count - 1
    return mx.stack([*mx.meshgrid(centres, centres, indexing="xy")], -1)[None]


class Warp(nn.Module):
    """Moves each pixel by a displacement that is interpolated from a lattice."""

    def __init__(self, lattice: mx.array) -> None:
        super().__init__()
        self.lattice = lattice  # (1, rows, columns, 2)

    def __call__(self, image: mx.array) -> mx.array:
        points = pixels(image.shape[1])
        smooth = grid_sample(self.lattice, points, "bicubic", "border", align_corners=True)
        return grid_sample(image, points + smooth, padding_mode="border")


def drawing() -> mx.array:
    """An image (1, SIZE, SIZE, 3): colours that run into each other, a disc, and lines."""
    x, y = pixels()[0, ..., 0], pixels()[0, ..., 1]
    colours = mx.stack([0.5 + 0.4 * x, 0.5 + 0.4 * y, 0.5 - 0.3 * x - 0.15 * y], -1)
    radius = mx.sqrt(mx.square(x - 0.15) + mx.square(y + 0.1))
    disc = mx.sigmoid(40 * (0.55 - radius))[..., None]
    colours = (1 - disc) * colours + disc * mx.array([0.95, 0.8, 0.25])
    near = mx.minimum(*(mx.abs(4 * c - mx.round(4 * c)) for c in (x, y)))
    lines = mx.sigmoid(60 * (0.06 - near))[..., None]
    return (colours * (1 - 0.75 * lines))[None]


def blur(image: mx.array, sigma: float) -> mx.array:
    """The image with each pixel spread over its neighbours."""
    if sigma == 0:
        return image
    places = mx.arange(SIZE)
    spread = mx.exp(-mx.square((places[:, None] - places) / sigma) / 2)
    spread = spread / spread.sum(1, keepdims=True)
    return mx.einsum("yv,nvuc,xu->nyxc", spread, image, spread)


def train(warp: Warp, image: mx.array, target: mx.array) -> None:
    """Fit the warp, on blurred images first: what is far apart must overlap to be felt."""

    def loss(warp: Warp, image: mx.array, target: mx.array) -> mx.array:
        return mx.square(warp(image) - target).mean()

    step = nn.value_and_grad(warp, loss)
    optimizer = optim.Adam(learning_rate=0.01)
    for sigma in (12.0, 6.0, 3.0, 1.0, 0.0):
        blurred, aim = blur(image, sigma), blur(target, sigma)
        losses = []
        for _ in range(60):
            value, slopes = step(warp, blurred, aim)
            optimizer.update(warp, slopes)
            mx.eval(warp.parameters(), optimizer.state)
            losses.append(float(value))
        print(f"blur of {sigma:4.1f} pixels: loss {losses[0]:.1e} -> {losses[-1]:.1e}")


def save(path: Path, *images: mx.array) -> None:
    """Images side by side as a PNG file."""
    white = mx.ones((1, SIZE, 6, 3))
    row = [part for image in images for part in (white, image)][1:]
    levels = (255 * mx.clip(mx.concatenate(row, axis=2)[0], 0, 1)).astype(mx.uint8)
    height, width, _ = levels.shape
    lines = b"".join(b"\0" + np.array(line).tobytes() for line in levels)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*each) for each in chunks))


if __name__ == "__main__":
    mx.random.seed(5)
    target = drawing()
    edge = mx.square(mx.linspace(-1, 1, 6))
    fixed = ((1 - edge)[:, None] * (1 - edge))[None, ..., None]  # the edge of the image stays
    image = Warp(mx.random.uniform(-0.14, 0.14, (1, 6, 6, 2)) * fixed)(target)

    warp = Warp(mx.zeros((1, 12, 12, 2)))
    train(warp, image, target)
    result = warp(image)

    before, after = (float(mx.square(each - target).mean()) for each in (image, result))
    picture = Path(tempfile.gettempdir()) / "learned_warp.png"
    save(picture, image, target, result)
    print(f"mean squared difference to the target: {before:.1e} before, {after:.1e} after")
    print(f"before, target, after: {picture}")
    assert after < before / 20
