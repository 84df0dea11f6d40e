"""Rows of convolutions, filters and the like."""

from __future__ import annotations

from benchmarks.foreign.row import row

ROWS = [
    row("conv2d_nhwc", "130 × 130 × 16 float32, 3 × 3, to 32 channels",
        operation="conv2d_last(x, w)", mlx="mx.conv2d(x, w.transpose(3, 0, 1, 2))", absolute=5e-4,
        flops=2 * 128 * 128 * 32 * 9 * 16),
    row("conv2d_nchw_padded", "8 × 256 × 256 float32, 3 × 3, to 8 channels",
        operation="F.conv2d(x[None], w, padding=1)[0]", absolute=5e-4,
        flops=2 * 8 * 256 * 256 * 8 * 9,
        note="One channel of output a thread, so each multiply-add loads its neighbour: 36, with "
             "9 loads of weights, in the 63 instructions of its loop with AVX2."),
    row("depthwise_3x3", "256 × 256 × 64 float32", operation="depthwise(x, w)"),
    row("conv1d_causal", "64 × 256 × 128 float32, 4 taps, SiLU",
        composed="conv1d_causal(x, w, bias)"),
    row("gaussian_blur_rows", "8192 × 256 float32, 9 taps", composed="blurred(x, taps)"),
    row("bilinear_resize", "400 × 400 × 3 to 896 × 896 × 3 float32",
        operation="resized(x, (896, 896))", absolute=1e-3),
    row("upsample_nearest", "8 × 128 × 128 to 8 × 384 × 384 float32",
        operation="F.interpolate(x[None], scale_factor=3)[0]", moves=True),
    row("bicubic_uint8", "512 × 512 × 3 to 768 × 768 × 3 uint8",
        operation="bicubic(x, (768, 768))",
        oracle="bicubic(x.double(), (768, 768)).clamp(0, 255).round()", absolute=1, outliers=0.05,
        note="PyTorch goes through rows first and columns then: 8 products for a number, not 32, "
             "of integers; what it rounds in between makes 3 in 100 numbers differ by more than "
             "1."),
    row("game_of_life", "512 × 512 uint8, a torus", composed="next_generation(x)"),
    row("max_pool_2x2", "64 × 512 × 512 float32", operation="F.max_pool2d(x, 2)"),
    row("im2col", "64 × 130 × 130 float32, 3 × 3", operation="F.unfold(x, 3)", moves=True),
    row("median_3x3", "1024 × 1024 float32", composed="median_3x3(x)"),
    row("oriented_gradients", "1024 × 1024 float32, cells of 8 × 8, 9 directions",
        composed="oriented_gradients(x)", absolute=1e-3, outliers=1e-3),
]  # fmt: skip
