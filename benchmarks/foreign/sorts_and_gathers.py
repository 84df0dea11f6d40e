"""Rows of sorts, searches, histograms, and of rows that are gathered and scattered."""

from __future__ import annotations

from benchmarks.foreign.row import row

ROWS = [
    row("bitonic_sort", "2048 × 512 float32", operation="x.sort(1).values", mlx="mx.sort(x, 1)",
        note="45 steps at a distance that only the loop knows, each with scattered loads and "
             "stores under masks: with a constant distance of 256 it takes 21 ms and not 58, "
             "without the stores 17, with selections in place of the branch 43. PyTorch sorts by "
             "other means."),
    row("topk_insertion", "8 of 256 float32, 8192 times", operation="x.topk(8, 1).values"),
    row("binary_search", "1 M float32 in 4096", operation="torch.searchsorted(sorted, x)",
        touched={"sorted": 0}),
    row("compact_positive", "256 float32, 16384 times", composed="compacted(x)"),
    row("histogram_threadgroup", "8 M uint8", operation="torch.bincount(x, minlength=256)"),
    row("scatter_add_rows", "65536 rows of 64 float32 to 4096",
        operation="torch.zeros(4096, 64, dtype=x.dtype).index_add_(0, ids, x)", absolute=1e-3,
        mlx="mx.zeros((4096, 64)).at[ids].add(x)"),
    row("embedding_rows", "16384 of 4096 rows of 256 float32", operation="F.embedding(ids, table)",
        mlx="table[ids]", moves=True, touched={"table": 16384 * 256 * 4}),
    row("embedding_bag", "8 of 2048 rows of 64 float32, 16384 times",
        operation="F.embedding_bag(ids, table, mode='sum')",
        note="Rows of 256 bytes at random: with rows in order 0.35 ms and not 0.52, with the "
             "numbers of the rows computed and not loaded 0.28."),
    row("take_along_axis", "4096 × 512 float32", operation="x.gather(1, at.long())",
        mlx="mx.take_along_axis(x, at, 1)", moves=True),
    row("transpose_tile", "2048 × 2048 float32", operation="x.T.contiguous()",
        mlx="mx.contiguous(x.T)", moves=True),
    row("permute_0213", "64 × 64 × 8 × 64 float32", operation="x.permute(0, 2, 1, 3).contiguous()",
        mlx="mx.contiguous(x.transpose(0, 2, 1, 3))", moves=True),
    row("add_broadcast_4d", "64 × 16 × 64 × 64 float32", operation="a + b", mlx="a + b"),
]  # fmt: skip
