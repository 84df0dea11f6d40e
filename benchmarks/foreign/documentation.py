"""Rows of the examples in MLX's documentation, and of kernels as guides have them."""

from __future__ import annotations

from benchmarks.foreign.row import row

_IMAGES = "2 images of 512 × 512 × 64 at 2 × 256 × 256 points"
_SAMPLED = 4 * (2 * 256 * 256 * 64)  #: bytes: each point needs four pixels, points share some

ROWS = [
    row("docs_exp", "16 M float32", operation="torch.exp(inp)", mlx="mx.exp(inp)"),
    row("docs_exp_strided", "every second row of 4096 × 2048 float32", operation="torch.exp(inp)",
        mlx="mx.exp(inp)",
        note="On a Xeon, where it stands below: without the exponential it takes 2.4 ms and not "
             "3.7, with rows side by side as long, so it is neither the strides nor the "
             "exponential alone."),
    row("docs_exp_transposed", "2048 × 2048 float32", operation="torch.exp(inp).contiguous()",
        mlx="mx.contiguous(mx.exp(inp))",
        note="Lanes read 8 KB apart, so lines of the cache push each other out: with rows of "
             "2064 numbers instead of 2048 it takes 8.5 ms and not 20.3. Without the exponential "
             "it takes as long."),
    row("docs_grid_sample", _IMAGES, operation="sampled(x, grid)",
        library="nn.grid_sample(x, grid)", absolute=2e-4, touched={"x": _SAMPLED}),
    row("docs_grid_sample_vjp", f"both gradients, {_IMAGES}",
        operation="sampled_vjp(x, grid, cotangent)",
        library="mx.vjp(nn.grid_sample, [x, grid], [cotangent])[1]",
        # Slopes are thousands, change with the rounding of a point, and jump at pixels.
        relative=1e-3, absolute=0.2, outliers=1e-3, touched={"x": _SAMPLED}),
    row("guide_exp", "16.8 M float32, not a multiple of 256", operation="torch.exp(inp0)",
        mlx="mx.exp(inp0)"),
    row("guide_cholesky_blocks", "512 × 512 float32, blocks of 16",
        operation="torch.linalg.cholesky(A)", mlx="mx.linalg.cholesky(A, stream=mx.cpu)",
        library="linalg.cholesky(A)", flops=512**3 // 3,
        note="One threadgroup, so one of the processors; most of its time goes into loads of "
             "rows that are 2 KB apart, and its first thread factors the blocks of the diagonal "
             "alone."),
    row("cholesky_one_thread", "96 × 96 float32", operation="torch.linalg.cholesky(A)",
        mlx="mx.linalg.cholesky(A, stream=mx.cpu)", library="linalg.cholesky(A)",
        flops=96**3 // 3,
        note="One thread in all: each of 96 columns waits for the one before, with a root and a "
             "division, and its loops are as long as what is left of a column."),
    row("project_columns", "(16384 × 96)ᵀ float32 times a vector", operation="torch.mv(Q.T, v)",
        mlx="Q.T @ v", absolute=2e-3,
        note="96 columns are two threadgroups of 64 and 32 threads, so with two threads one has "
             "twice the work of the other; all that is left is two loads for each sum."),
]  # fmt: skip
