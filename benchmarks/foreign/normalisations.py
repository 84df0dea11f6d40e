"""Rows of norms, softmax, reductions and scans."""

from __future__ import annotations

from benchmarks.foreign.row import row

ROWS = [
    row("layer_norm_simd", "8192 × 768 float32", operation="F.layer_norm(x, (768,), w, b)",
        mlx="mx.fast.layer_norm(x, w, b, 1e-5)"),
    row("rms_norm_residual_half", "2048 × 2048 float16", composed="rms_norm_residual(x, r, w)",
        relative=5e-3, absolute=5e-3),
    row("softmax_online_tree", "256 × 8192 float32", operation="F.softmax(x, -1)",
        mlx="mx.softmax(x, -1)"),
    row("softmax_persistent_simd", "8192 × 1024 float32, 512 SIMD-groups",
        operation="F.softmax(x, -1)", mlx="mx.softmax(x, -1)"),
    row("gelu_rms_norm_persistent", "8192 × 1024 float32, 64 threadgroups",
        composed="F.rms_norm(F.gelu(x, approximate='tanh'), (1024,), w, 1e-5)"),
    row("cross_entropy_thread_row", "32768 × 100 float32",
        operation="F.cross_entropy(logits, targets.long(), reduction='none')",
        note="Each lane has a row of 400 bytes, so all loads are gathers, twice."),
    row("group_norm_nhwc", "32 × 32 × 32 × 64 float32, 8 groups", operation="group_norm(x)",
        absolute=1e-3,
        note="A group has 8 of 64 numbers in a row, so loads and stores are in pieces: with the "
             "numbers of a group side by side it takes 1.0 ms and not 1.3. Storing takes 0.5 of "
             "1.55, the sums 0.3."),
    row("quantise_rows_int8", "8192 × 512 float32", composed="quantised_rows(x)", outliers=1e-5),
    row("argmax_simd", "2048 × 4096 float32", operation="x.argmax(1)", mlx="mx.argmax(x, 1)"),
    row("column_sums", "8192 × 512 float32", operation="x.sum(0)", mlx="x.sum(0)", absolute=2e-3,
        note="Each of 16 SIMD-groups reads a strip of 128 bytes, 2 KB apart from row to row. "
             "Larger threadgroups are no faster (256 threads: as long; 512: one processor)."),
    row("cumulative_product", "32768 × 128 float32", operation="x.cumprod(1)",
        mlx="mx.cumprod(x, 1)"),
    row("prefix_sum_hillis", "1024 × 256 float32", operation="x.cumsum(1)", mlx="mx.cumsum(x, 1)",
        note="Eight steps with a barrier each, in which every number is loaded twice and stored "
             "once; how the time is divided was not measured."),
]  # fmt: skip
