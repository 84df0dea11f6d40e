"""Rows of language models: attention, rotations, gates, small weights, recurrences."""

from __future__ import annotations

from benchmarks.foreign.row import row

_MLX_SDPA = "mx.fast.scaled_dot_product_attention(q[None], k[None], v[None], scale={})[0]"

ROWS = [
    row("attention_decode", "16 heads, 2048 keys, 64 channels",
        operation="sdpa(q[:, None], k, v)[:, 0]", flops=4 * 16 * 2048 * 64,
        mlx="mx.fast.scaled_dot_product_attention(q[None, :, None], k[None], v[None], "
            "scale=0.125)[0, :, 0]"),
    row("flash_thread_query", "8 heads, 512 queries and keys, 32 channels",
        operation="sdpa(q, k, v)", mlx=_MLX_SDPA.format(0.17677669), flops=4 * 8 * 512 * 512 * 32),
    row("flash_tiled", "8 heads, 512 queries and keys, 64 channels", operation="sdpa(q, k, v)",
        mlx=_MLX_SDPA.format(0.125), flops=4 * 8 * 512 * 512 * 64),
    row("attention_causal_two_pass", "8 heads, 512 queries and keys, 64 channels, float16",
        operation="sdpa(q, k, v, is_causal=True)", flops=2 * 8 * 512 * 512 * 64, relative=5e-3,
        absolute=5e-3),
    row("attention_window", "4 heads, 2048 queries, windows of 32, 32 channels",
        composed="windowed(q, k, v)", flops=4 * 4 * 2048 * 32 * 32),
    row("gated_delta_simd", "64 steps, 4 heads, 32 × 128 numbers of state",
        composed="gated_delta(q, k, v, g, beta)", flops=8 * 64 * 4 * 32 * 128),
    row("rope_pairs", "32 heads, 1024 steps, 64 channels", composed="rope_pairs(x, offset)",
        mlx="mx.fast.rope(x, 64, traditional=True, base=10000.0, scale=1.0, offset=17)",
        absolute=1e-3),
    row("rope_halves_table", "32 heads, 1024 steps, 128 channels, float16",
        composed="rope_halves(x, cosines, sines)", relative=2e-3, absolute=2e-3),
    row("swiglu", "4 M float32", composed="F.silu(gate) * up", mlx="gate * mx.sigmoid(gate) * up"),
    row("bias_gelu_half", "4096 × 1024 float16", composed="F.gelu(x + bias, approximate='tanh')",
        relative=2e-3, absolute=2e-3),
    row("adamw_step", "2 M float32", composed="adamw(p, g, m, v, lr)"),
    row("qmv_4bit", "8192 × 1024 weights of 4 bits times a vector",
        oracle="quantised(w, scales, biases) @ x",
        mlx="mx.quantized_matmul(x[None], w, scales, biases, group_size=64, bits=4)[0]",
        relative=1e-4, absolute=5e-2, flops=2 * 8192 * 1024),
    row("qmm_int8", "512 × 256 × 512 int8", composed="torch._int_mm(a, b) * scale",
        flops=2 * 512 * 256 * 512,
        note="Products of 32-bit integers, which take two operations each on Intel's processors: "
             "floats in their place take 0.85 ms on a Xeon and not 1.8, 16-bit integers 1.0. "
             "PyTorch adds four products of bytes in one instruction."),
    row("dequantise_4bit", "512 K float16", oracle=""
        "((((w.to(torch.int64)[:, None] >> (4 * torch.arange(8))) & 15) - 8).view(-1, 32) "
        "* scales[:, None]).flatten()", relative=1e-3),
    row("dequantise_nf4_table", "256 K float32, 16 levels, a scale for each 64",
        composed="(code[torch.stack([w >> 4, w & 15], 1).flatten().int()].view(-1, 64) "
        "* absmax[:, None]).flatten()"),
    row("moe_gather", "8192 of 4096 rows of 512 float32", operation="x.index_select(0, order)",
        mlx="x[order]", moves=True, touched={"x": 8192 * 512 * 4}),
    row("moe_combine", "2 of 8192 rows of 512 float32 for each of 4096",
        composed="(y[slots] * weights[..., None]).sum(1)"),
]  # fmt: skip
