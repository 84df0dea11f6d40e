"""What formulas of PyTorch see: its names, and what takes more than a line."""

from __future__ import annotations

import warnings

import torch
import torch.nn.functional as F

_Tensor = torch.Tensor
sdpa = F.scaled_dot_product_attention


def rope_pairs(x: _Tensor, offset: _Tensor) -> _Tensor:
    """Neighbours turned as complex numbers; base 10000."""
    heads, time, size = x.shape
    frequency = torch.exp2(-torch.arange(size // 2, dtype=x.dtype) * 0.4152410118609203)
    angle = (torch.arange(time, dtype=x.dtype) + offset)[:, None] * frequency
    pairs = torch.view_as_complex(x.view(heads, time, size // 2, 2))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).view(x.shape)


def rope_halves(x: _Tensor, cosines: _Tensor, sines: _Tensor) -> _Tensor:
    """The first half of the channels beside the second."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * cosines - b * sines, b * cosines + a * sines], -1).to(x.dtype)


def windowed(q: _Tensor, k: _Tensor, v: _Tensor) -> _Tensor:
    """Attention to the 15 before, oneself, and the 16 after."""
    count = q.shape[-2]
    apart = torch.arange(count) - torch.arange(count)[:, None]
    return sdpa(q, k, v, attn_mask=(apart >= -15) & (apart <= 16))


def gated_delta(q: _Tensor, k: _Tensor, v: _Tensor, g: _Tensor, beta: _Tensor) -> _Tensor:
    """The recurrence, step by step; state is (heads, rows, 128)."""
    state = q.new_zeros(q.shape[1], v.shape[2], q.shape[2])
    out = []
    for t in range(q.shape[0]):
        state = state * g[t][:, None, None]
        delta = (v[t] - torch.einsum("hrd,hd->hr", state, k[t])) * beta[t][:, None]
        state = state + delta[..., None] * k[t][:, None]
        out.append(torch.einsum("hrd,hd->hr", state, q[t]))
    return torch.stack(out)


def adamw(
    p: _Tensor, g: _Tensor, m: _Tensor, v: _Tensor, lr: _Tensor
) -> tuple[_Tensor, _Tensor, _Tensor]:
    """A step without correction of the bias."""
    m, v = torch.lerp(g, m, 0.9), torch.addcmul(0.999 * v, g, g, value=0.001)
    return p - lr * (m / (v.sqrt() + 1e-8) + 0.01 * p), m, v


def quantised(w: _Tensor, scales: _Tensor, biases: _Tensor) -> _Tensor:
    """The matrix of 4-bit weights in groups of 64."""
    nibbles = (w.to(torch.int64)[..., None] >> (4 * torch.arange(8))) & 15
    groups = nibbles.reshape(*scales.shape, 64).to(scales.dtype)
    return (groups * scales[..., None] + biases[..., None]).flatten(1)


def quantised_rows(x: _Tensor) -> tuple[_Tensor, _Tensor]:
    """Rows as int8, with a scale each."""
    scale = x.abs().amax(1) / 127
    return (x / scale[:, None]).round().to(torch.int8), scale


def rms_norm_residual(x: _Tensor, r: _Tensor, w: _Tensor) -> tuple[_Tensor, _Tensor]:
    """The sum of two, normalised and as it is."""
    total = x + r
    return F.rms_norm(total, (x.shape[-1],), w, 1e-6), total


def group_norm(x: _Tensor) -> _Tensor:
    """8 groups of channels, which are last."""
    return F.group_norm(x.permute(0, 3, 1, 2), 8).permute(0, 2, 3, 1)


def compacted(x: _Tensor) -> tuple[_Tensor, _Tensor]:
    """What is positive in each 256 moved to the front, and how many that are."""
    rows = x.view(-1, 256)
    order = (rows <= 0).to(torch.int8).argsort(dim=1, stable=True)
    count = (rows > 0).sum(1)
    inside = torch.arange(256) < count[:, None]
    return torch.where(inside, rows.gather(1, order), 0).flatten(), count


def conv2d_last(x: _Tensor, w: _Tensor, **more: int) -> _Tensor:
    """A convolution of images with channels last, weights (rows, columns, in, out)."""
    return F.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), **more).permute(0, 2, 3, 1)


def depthwise(x: _Tensor, w: _Tensor) -> _Tensor:
    """Each channel by itself, channels last."""
    first, weights = x.permute(2, 0, 1)[None], w.permute(2, 0, 1)[:, None]
    return F.conv2d(first, weights, padding=1, groups=x.shape[2])[0].permute(1, 2, 0)


def conv1d_causal(x: _Tensor, w: _Tensor, bias: _Tensor) -> _Tensor:
    """Each channel by itself along time, what was before counts as 0; then SiLU."""
    padded = F.pad(x.transpose(1, 2), (3, 0))
    return F.silu(F.conv1d(padded, w[:, None], bias, groups=w.shape[0])).transpose(1, 2)


def blurred(x: _Tensor, taps: _Tensor) -> _Tensor:
    """Rows blurred, with their ends repeated."""
    return F.conv1d(F.pad(x[:, None], (4, 4), mode="replicate"), taps[None, None])[:, 0]


def median_3x3(x: _Tensor) -> _Tensor:
    """The median around each pixel."""
    windows: _Tensor = x.unfold(0, 3, 1).unfold(1, 3, 1).flatten(2)
    return windows.median(-1).values


def resized(x: _Tensor, size: tuple[int, int]) -> _Tensor:
    """Bilinear, channels last."""
    result = F.interpolate(x.permute(2, 0, 1)[None], size=size, mode="bilinear")
    return result[0].permute(1, 2, 0)


def bicubic(x: _Tensor, size: tuple[int, int]) -> _Tensor:
    """Pictures of bytes, channels last."""
    result = F.interpolate(x.permute(2, 0, 1)[None], size=size, mode="bicubic")
    return result[0].permute(1, 2, 0)


def next_generation(cells: _Tensor) -> _Tensor:
    """Conway's rules on a torus."""
    places = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if y or x]
    count = sum(cells.roll(place, (0, 1)) for place in places)
    return ((count == 3) | ((count == 2) & (cells == 1))).to(cells.dtype)


def oriented_gradients(x: _Tensor) -> _Tensor:
    """Histograms of the directions of gradients in cells of 8 × 8, weighted by their lengths."""
    gx, gy = x[1:-1, 2:] - x[1:-1, :-2], x[2:, 1:-1] - x[:-2, 1:-1]
    angle = torch.atan2(gy, gx) / torch.pi + (gy < 0)
    height, width = (n // 8 for n in gx.shape)
    rows, columns = torch.arange(height * 8) // 8, torch.arange(width * 8) // 8
    cell = rows[:, None] * width + columns
    bins = (angle * 9).to(torch.int64) % 9 + 9 * cell
    lengths = (gx * gx + gy * gy).sqrt()
    counts = torch.bincount(bins.flatten(), lengths.flatten(), height * width * 9)
    return counts.view(height, width, 9)


def nbody(p: _Tensor) -> _Tensor:
    """Accelerations; masses are the fourth numbers."""
    d = p[None, :, :3] - p[:, None, :3]
    inverse = (d.square().sum(-1) + 0.01).rsqrt()
    total = (d * (p[None, :, 3] * inverse**3)[..., None]).sum(1)
    return F.pad(total, (0, 1))


def neighbours(p: _Tensor) -> tuple[_Tensor, _Tensor]:
    """The first 64 others within 0.1 of each, the rest -1; and how many there are."""
    near = (p[None] - p[:, None]).square().sum(-1) < 0.01
    near.fill_diagonal_(False)
    places = torch.where(near, torch.arange(len(p)), len(p)).sort(1).values[:, :64]
    return torch.where(places == len(p), -1, places), near.sum(1)


def fft(x: _Tensor) -> _Tensor:
    """Of pairs of numbers."""
    return torch.view_as_real(torch.fft.fft(torch.view_as_complex(x)))


def sparse(starts: _Tensor, columns: _Tensor, values: _Tensor, x: _Tensor) -> _Tensor:
    """A sparse matrix times a vector."""
    shape = len(starts) - 1, len(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is in beta, they say
        return torch.sparse_csr_tensor(starts, columns, values, shape) @ x


def sampled(x: _Tensor, grid: _Tensor) -> _Tensor:
    """grid_sample of images whose channels are last, as they lie in memory."""
    image = x.permute(0, 3, 1, 2)
    return F.grid_sample(image, grid, align_corners=False).permute(0, 2, 3, 1)


def sampled_vjp(x: _Tensor, grid: _Tensor, cotangent: _Tensor) -> tuple[_Tensor, _Tensor]:
    """The gradients of `sampled`."""
    x_grad, grid_grad = torch.ops.aten.grid_sampler_2d_backward(
        cotangent.permute(0, 3, 1, 2), x.permute(0, 3, 1, 2), grid, 0, 0, False, [True, True]
    )
    return x_grad.permute(0, 2, 3, 1), grid_grad
