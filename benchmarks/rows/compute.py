"""Rows in which arithmetic counts: random numbers, option prices, fractals, a stencil."""

from __future__ import annotations

import math
from collections.abc import Sequence

import mlx.core as mx
import numpy as np
import torch

import anymetal
from benchmarks.harness import (
    CXX,
    MLX,
    NUMPY,
    TORCH,
    Array,
    Race,
    Rival,
    Row,
    evaluated,
    launched,
    shared,
)
from benchmarks.rivals import aligned, native

# Philox4x32-10: a counter and a key become four random words, which become numbers from 0 to 1.
_philox = anymetal.metal_kernel(
    name="bench_philox",
    input_names=["seed"],
    output_names=["out"],
    source="""
        uint i = thread_position_in_grid.x;
        uint4 counter = uint4(i, 0, 0, 0);
        uint2 key = uint2(seed, 0);
        for (int round = 0; round < 10; ++round) {
            uint2 low = uint2(0xD2511F53u, 0xCD9E8D57u) * counter.xz;
            uint2 high = metal::mulhi(uint2(0xD2511F53u, 0xCD9E8D57u), counter.xz);
            counter = uint4(high.y ^ counter.y ^ key.x, low.y, high.x ^ counter.w ^ key.y, low.x);
            key += uint2(0x9E3779B9u, 0xBB67AE85u);
        }
        ((device float4*)out)[i] = float4(counter >> 8) * 5.9604645e-8f;
    """,
)
_black_scholes = anymetal.metal_kernel(
    name="bench_black_scholes",
    input_names=["price", "strike", "years", "rate", "volatility"],
    output_names=["call", "put"],
    header="""
        // The normal distribution, by the formula 26.2.17 of Abramowitz and Stegun.
        inline float normal(float x) {
            float k = 1.0f / (1.0f + 0.2316419f * metal::abs(x));
            float p = 1.330274429f;
            p = p * k - 1.821255978f;
            p = p * k + 1.781477937f;
            p = p * k - 0.356563782f;
            p = p * k + 0.319381530f;
            float tail = 0.39894228f * metal::exp(-0.5f * x * x) * p * k;
            return x > 0 ? 1.0f - tail : tail;
        }
    """,
    source="""
        uint i = thread_position_in_grid.x;
        float s = price[i], k = strike[i], t = years[i];
        float spread = volatility * metal::sqrt(t);
        float d1 = (metal::log(s / k) + (rate + 0.5f * volatility * volatility) * t) / spread;
        float d2 = d1 - spread;
        float n1 = normal(d1), n2 = normal(d2);
        float discounted = k * metal::exp(-rate * t);
        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    """,
)
_mandelbrot = anymetal.metal_kernel(
    name="bench_mandelbrot",
    input_names=["steps"],
    output_names=["out"],
    source="""
        uint2 at = thread_position_in_grid.xy;
        uint2 size = threads_per_grid.xy;
        float2 c = float2(at) * (2.5f / float2(size)) - float2(2.0f, 1.25f);
        float2 z = 0;
        int n = 0;
        while (n < steps && metal::dot(z, z) <= 4.0f) {
            z = float2(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
            ++n;
        }
        out[at.y * size.x + at.x] = n;
    """,
)
_stencil = anymetal.metal_kernel(
    name="bench_stencil",
    input_names=["x", "weights"],
    output_names=["out"],
    source="""
        int column = thread_position_in_grid.x, row = thread_position_in_grid.y;
        int rows = x_shape[0], columns = x_shape[1];
        float sum = 0;
        for (int dy = -1; dy <= 1; ++dy) {
            for (int dx = -1; dx <= 1; ++dx) {
                int r = row + dy, c = column + dx;
                if (r >= 0 && r < rows && c >= 0 && c < columns) {
                    sum += weights[(dy + 1) * 3 + dx + 1] * x[r * columns + c];
                }
            }
        }
        out[row * columns + column] = sum;
    """,
)


def philox(random: np.random.Generator) -> Race:
    """Numbers from 0 to 1 of a counter-based generator."""
    size, seed = 1 << 24, 12345
    out, tensor = aligned(size), torch.empty(size)
    generator = np.random.Generator(np.random.Philox(seed))
    key = mx.random.key(seed)

    ours = launched(
        _philox,
        inputs=[mx.array(seed, mx.uint32)],
        grid=(size // 4, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[(size,)],
        output_dtypes=[mx.float32],
    )

    def uniform(results: Sequence[Array]) -> None:
        (x,) = results
        assert x.min() >= 0 and x.max() <= 1 and abs(x.mean() - 0.5) < 1e-3
        assert abs(x.var() - 1 / 12) < 1e-3

    def with_numpy() -> Array:
        generator.random(dtype=np.float32, out=out)
        return out

    return Race(
        ours,
        [
            Rival(CXX, "the same generator", native("philox", seed, size, out=out)),
            Rival(TORCH, "tensor.uniform_() (Mersenne)", lambda: tensor.uniform_(), uniform),
            Rival(
                MLX,
                "mx.random.uniform (Threefry)",
                evaluated(lambda: mx.random.uniform(shape=(size,), key=key)),
                uniform,
            ),
            Rival(NUMPY, "Generator(Philox).random(out=out)", with_numpy, uniform),
        ],
        [_philox_words(size // 4, seed).astype(np.float64) / 2**24],
        relative=0,
        absolute=0,
        bytes=8 * size,  # written twice: a copy, half of which is reading, is no floor for writing
    )


def _philox_words(count: int, seed: int) -> Array:
    """The generator from its definition, with products of 64 bits; the upper 24 bits of words."""
    counter = [np.arange(count, dtype=np.uint64), *(np.zeros(count, np.uint64) for _ in range(3))]
    key, low = [seed, 0], np.uint64(0xFFFFFFFF)
    for _ in range(10):
        first, second = counter[0] * np.uint64(0xD2511F53), counter[2] * np.uint64(0xCD9E8D57)
        counter = [
            (second >> np.uint64(32)) ^ counter[1] ^ np.uint64(key[0]),
            second & low,
            (first >> np.uint64(32)) ^ counter[3] ^ np.uint64(key[1]),
            first & low,
        ]
        key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
    return np.asarray(np.stack(counter, 1).reshape(-1) >> np.uint64(8))


def black_scholes(random: np.random.Generator) -> Race:
    """Prices of European options."""
    size, rate, volatility = 1 << 22, 0.02, 0.3
    on_mlx, on_numpy, on_torch = shared(
        random.uniform(5, 30, size).astype(np.float32),
        random.uniform(1, 100, size).astype(np.float32),
        random.uniform(0.25, 10, size).astype(np.float32),
    )
    out = aligned(size), aligned(size)

    ours = launched(
        _black_scholes,
        inputs=[*on_mlx, rate, volatility],
        grid=(size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[(size,)] * 2,
        output_dtypes=[mx.float32] * 2,
    )

    def with_torch(
        s: torch.Tensor, k: torch.Tensor, t: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        spread = volatility * t.sqrt()
        d1 = ((s / k).log() + (rate + 0.5 * volatility**2) * t) / spread
        n1, n2 = torch.special.ndtr(d1), torch.special.ndtr(d1 - spread)
        discounted = k * (t * -rate).exp()
        return s * n1 - discounted * n2, discounted * (1 - n2) - s * (1 - n1)

    def with_mlx(s: mx.array, k: mx.array, t: mx.array) -> list[mx.array]:
        spread = volatility * mx.sqrt(t)
        d1 = (mx.log(s / k) + (rate + 0.5 * volatility**2) * t) / spread
        n1, n2 = (0.5 * (1 + mx.erf(d / math.sqrt(2))) for d in (d1, d1 - spread))
        discounted = k * mx.exp(-rate * t)
        return [s * n1 - discounted * n2, discounted * (1 - n2) - s * (1 - n1)]

    return Race(
        ours,
        [
            Rival(
                CXX,
                "the same formula",
                native("black_scholes", *on_numpy, rate, volatility, size, out=out),
            ),
            Rival(TORCH, "operations, ndtr", lambda: with_torch(*on_torch)),
            Rival(MLX, "operations, erf", evaluated(with_mlx, *on_mlx)),
        ],
        [price.numpy() for price in with_torch(*(x.double() for x in on_torch))],
        relative=1e-4,
        absolute=2e-5,
        bytes=20 * size,
    )


def mandelbrot(random: np.random.Generator) -> Race:
    """Steps until a point escapes: each pixel has its own number of iterations."""
    size, steps = 1024, 256
    out = aligned(size, size, dtype=np.int32)

    ours = launched(
        _mandelbrot,
        inputs=[steps],
        grid=(size, size, 1),
        threadgroup=(16, 16, 1),
        output_shapes=[(size, size)],
        output_dtypes=[mx.int32],
    )

    axis = np.arange(size) * (2.5 / size)
    c = (axis - 2.0)[None, :] + 1j * (axis - 1.25)[:, None]
    z, counts = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(steps):
        live = z.real**2 + z.imag**2 <= 4
        counts += live
        z = np.where(live, z * z + c, z)
    return Race(
        ours,
        [Rival(CXX, "vectors until the last escapes", native("mandelbrot", size, steps, out=out))],
        [counts],
        outliers=0.01,  # near the border the last bit decides
        flops=7 * int(counts.sum()),
    )


def stencil(random: np.random.Generator) -> Race:
    """Nine weights over an image, zeros outside."""
    rows, columns = 2048, 4096
    (x, weights), (ax, aweights), (tx, tweights) = shared(
        random.standard_normal((rows, columns), dtype=np.float32),
        random.standard_normal((3, 3), dtype=np.float32),
    )
    out = aligned(rows, columns)

    ours = launched(
        _stencil,
        inputs=[x, weights],
        grid=(columns, rows, 1),
        threadgroup=(32, 8, 1),
        output_shapes=[(rows, columns)],
        output_dtypes=[mx.float32],
    )

    def formula(image: Array, kernel: Array) -> Array:
        wide = np.pad(image, 1)
        total = np.zeros_like(image)
        for dy in range(3):
            for dx in range(3):
                total += kernel[dy, dx] * wide[dy : dy + rows, dx : dx + columns]
        return total

    def with_mlx() -> mx.array:
        return mx.conv2d(x[None, :, :, None], weights[None, :, :, None], padding=1)[0, :, :, 0]

    return Race(
        ours,
        [
            Rival(
                CXX,
                "4 rows of output at a time",
                native("stencil", ax, aweights, rows, columns, out=out),
            ),
            Rival(
                TORCH,
                "conv2d",
                lambda: torch.conv2d(tx[None, None], tweights[None, None], padding=1)[0, 0],
            ),
            Rival(MLX, "mx.conv2d", evaluated(with_mlx)),
            Rival(NUMPY, "sum of shifted images", lambda: formula(ax, aweights)),
        ],
        [formula(ax.astype(np.float64), aweights.astype(np.float64))],
        bytes=8 * rows * columns,
        flops=18 * rows * columns,
    )


ROWS = [
    Row("philox", "16 M uniform float32 of Philox4x32-10", philox),
    Row("black_scholes", "4 M options, call and put", black_scholes),
    Row("mandelbrot", "1024 × 1024 pixels, 256 steps, a divergent loop", mandelbrot),
    Row("stencil", "3 × 3 over 2048 × 4096 float32", stencil),
]
