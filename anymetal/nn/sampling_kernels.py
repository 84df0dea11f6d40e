"""The Metal kernels of grid_sample: samples, the gradient of the points, the gradient of x."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import mlx.core as mx

import anymetal
from anymetal.kernel import MetalKernel
from anymetal.metal_files import read
from anymetal.signature import TemplateValue

#: In the order of their numbers in the header.
MODES = ("bilinear", "nearest", "bicubic")
PADDING_MODES = ("zeros", "border", "reflection")
#: Pixels along each axis that a sample is made of.
TAPS = {"bilinear": 2, "nearest": 1, "bicubic": 4}

# Measured: from so many channels on a SIMD-group per sample takes less time than a thread, and
# gathering the gradient of x less than adding it up.
_WIDE = 24
_GATHERED = 3
_LANES = 32
_CHUNK = 4  #: vectors of channels that a SIMD-group has in registers, at most
_RUN = 16  #: pixels that a SIMD-group goes through
_INT32 = 2**31

Template = list[tuple[str, TemplateValue]]


class Sampling(NamedTuple):
    """How to sample: what kernels are compiled for, besides dtypes and channels."""

    mode: str
    padding_mode: str
    align_corners: bool

    @property
    def template(self) -> Template:
        """The template arguments of every kernel that looks at points."""
        return [
            ("MODE", MODES.index(self.mode)),
            ("PADDING", PADDING_MODES.index(self.padding_mode)),
            ("CORNERS", self.align_corners),
        ]


class _Threads(NamedTuple):
    """The threads of a kernel over samples, and the template arguments that tell it so."""

    template: Template
    grid: tuple[int, int, int]
    threadgroup: tuple[int, int, int]


def _kernel(name: str, inputs: str, outputs: str, atomic: bool = False) -> MetalKernel:
    return anymetal.metal_kernel(
        name=name,
        input_names=inputs.split(),
        output_names=outputs.split(),
        source=read("nn", name),
        header=read("nn", "grid_sample_header"),
        atomic_outputs=atomic,
    )


_sample = _kernel("grid_sample", "x points", "out")
_points_grad = _kernel("grid_sample_points_grad", "x points cotangent", "points_grad")
_x_grad = _kernel("grid_sample_x_grad", "size points cotangent", "x_grad", atomic=True)
_link = _kernel("grid_sample_link", "size points", "heads links", atomic=True)
_gather = _kernel("grid_sample_gather", "heads links cotangent", "x_grad")


def sample(x: mx.array, points: mx.array, sampling: Sampling) -> mx.array:
    """The samples of x (N, H, W, C) at points (N, H', W', 2): (N, H', W', C) of x's dtype."""
    threads = _threads(x, points)
    (out,) = _sample(
        inputs=[x, points],
        template=[("T", x.dtype), *threads.template, *sampling.template],
        grid=threads.grid,
        threadgroup=threads.threadgroup,
        output_shapes=[(*points.shape[:3], x.shape[3])],
        output_dtypes=[x.dtype],
    )
    return out


def points_gradient(
    x: mx.array, points: mx.array, cotangent: mx.array, sampling: Sampling
) -> mx.array:
    """The gradient of the points, of their shape and dtype."""
    if sampling.mode == "nearest":  # constant but for jumps
        return mx.zeros_like(points)
    threads = _threads(x, points)
    (gradient,) = _points_grad(
        inputs=[x, points, cotangent],
        template=[("T", points.dtype), *threads.template, *sampling.template],
        grid=threads.grid,
        threadgroup=threads.threadgroup,
        output_shapes=[points.shape],
        output_dtypes=[points.dtype],
    )
    return gradient


def x_gradient(x: mx.array, points: mx.array, cotangent: mx.array, sampling: Sampling) -> mx.array:
    """The gradient of x, of its shape and dtype, by the way that suits the sizes."""
    _, height, width, channels = x.shape
    entries = math.prod(points.shape[:3]) * TAPS[sampling.mode] ** 2
    numbered = max(entries, height * width) < _INT32
    way = x_gradient_gathered if numbered and channels >= _GATHERED else x_gradient_added
    return way(x, points, cotangent, sampling)


def x_gradient_added(
    x: mx.array, points: mx.array, cotangent: mx.array, sampling: Sampling
) -> mx.array:
    """The gradient of x: every sample adds its part atomically, in float32."""
    threads = _threads(x, points)
    (gradient,) = _x_grad(
        inputs=[_size(x), points, cotangent],
        template=[*threads.template, *sampling.template],
        grid=threads.grid,
        threadgroup=threads.threadgroup,
        output_shapes=[x.shape],
        output_dtypes=[mx.float32],
        init_value=0,
    )
    return gradient.astype(x.dtype)


def x_gradient_gathered(
    x: mx.array, points: mx.array, cotangent: mx.array, sampling: Sampling
) -> mx.array:
    """The gradient of x: every pixel gathers the samples that it is part of.

    Samples enter themselves into lists of their pixels first; entries have 32-bit numbers.
    """
    images, height, width, channels = x.shape
    samples, entries = math.prod(points.shape[1:3]), TAPS[sampling.mode] ** 2
    heads, links = _link(
        inputs=[_size(x), points],
        template=sampling.template,
        grid=(samples, 1, images),
        threadgroup=(256, 1, 1),
        output_shapes=[x.shape[:3], (images * samples * entries, 2)],
        output_dtypes=[mx.int32, mx.int32],
        init_value=-1,
    )
    (gradient,) = _gather(
        inputs=[heads, links, cotangent],
        template=[("T", x.dtype), ("ENTRIES", entries), ("RUN", _RUN), *_chunk(channels)],
        grid=(_LANES * -(-height * width // _RUN), 1, images),
        threadgroup=(8 * _LANES, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
    )
    return gradient


def _size(x: mx.array) -> mx.array:
    return _kept_size(x.shape[1], x.shape[2])


@functools.lru_cache(maxsize=256)
def _kept_size(height: int, width: int) -> mx.array:
    """For kernels that need of x only its height and width. An array that is kept is on the GPU
    already; each thread would read a Python number from memory of the CPU."""
    return mx.array([height, width, 0, 0])


def _threads(x: mx.array, points: mx.array) -> _Threads:
    """A SIMD-group for each sample, or a thread if channels are few; z counts the images."""
    _, height, width, channels = x.shape
    images, samples = points.shape[0], math.prod(points.shape[1:3])
    index = mx.int32 if height * width * channels < _INT32 else mx.int64
    if channels < _WIDE:
        template: Template = [("WIDE", False), ("CHUNK", 1), ("WHOLE", True), ("Index", index)]
        return _Threads(template, (samples, 1, images), (256, 1, 1))
    template = [("WIDE", True), *_chunk(channels), ("Index", index)]
    return _Threads(template, (_LANES, samples, images), (_LANES, 8, 1))


def _chunk(channels: int) -> Template:
    """How many vectors of channels to have in registers, and whether they are full to the end."""
    chunk = min(_CHUNK, -(-channels // _LANES))
    return [("CHUNK", chunk), ("WHOLE", channels % (chunk * _LANES) == 0)]
