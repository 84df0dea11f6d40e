"""Rows of matrix products, solvers and distances."""

from __future__ import annotations

from benchmarks.foreign.row import row

ROWS = [
    row("matmul_16x16_tiles", "512³ float32", operation="a @ b", mlx="a @ b", absolute=1e-3,
        flops=2 * 512**3,
        note="A SIMD-group is two rows of 16 threads. Copying tiles takes 1.7 of 4.2 ms, the "
             "products 2.7; with threadgroups of 32 x 8 it takes 4.6. PyTorch multiplies with "
             "its own blocks, in registers."),
    row("matmul_bounds_checked", "150 × 130 × 170 float32", operation="a @ b", mlx="a @ b",
        absolute=1e-3, flops=2 * 150 * 130 * 170,
        note="A sum for each thread, so two loads for a multiply-add; rows of 170 are no whole "
             "number of SIMD-groups (with 192 columns 0.23 ms and not 0.25). PyTorch multiplies "
             "with its own blocks, in registers."),
    row("matmul_4x4_registers", "256³ float32", operation="a @ b", mlx="a @ b", absolute=1e-3,
        flops=2 * 256**3),
    row("matvec_simd_row_half", "4096 × 1024 float16 times a vector", operation="a @ x",
        relative=5e-3, absolute=5e-2,
        note="Halves are converted and taken apart by fours in both arrays: without those of the "
             "vector, which all rows have in common, it takes 0.57 ms and not 0.85."),
    row("gram_matrix", "64 × 64 of 1024 × 64 float32", operation="x.T @ x", mlx="x.T @ x",
        absolute=1e-3, flops=2 * 64 * 64 * 1024,
        note="A sum for each thread, so two loads for a multiply-add, and little to do for two "
             "threads: 0.2 ms in a loop. PyTorch multiplies with its own blocks, in registers."),
    row("spmv_simd_row", "16384 rows of 64 float32",
        operation="sparse(starts, columns, values, x)",
        note="Gathers of 64 numbers for each row, lane by lane: without them it takes 0.63 ms "
             "and not 1.15, with all of them from one kilobyte 1.27, so it is their instructions "
             "and not the memory."),
    row("pairwise_distances", "1024 × 1024 of 32 float32", operation="torch.cdist(a, b)",
        flops=3 * 1024 * 1024 * 32, absolute=1e-3,
        note="A SIMD-group is two rows of 16 threads, so loads are in halves: with threadgroups "
             "of 32 x 8 it takes 1.4 ms and not 2.6."),
    row("nearest_centroid", "256 K points, 32 centroids, 8 float32",
        composed="torch.cdist(x, centres).argmin(1)", flops=3 * 262144 * 32 * 8, outliers=1e-4),
    row("inverse_4x4", "128 K matrices of float32",
        operation="torch.linalg.inv(m + 4 * torch.eye(4, dtype=m.dtype))", relative=1e-2,
        absolute=1e-2, outliers=1e-3),
]  # fmt: skip
