"""Rows of particles, transforms and random numbers."""

from __future__ import annotations

from benchmarks.foreign.row import row

ROWS = [
    row("nbody_tiles", "2048 bodies", composed="nbody(p)", absolute=1e-2, relative=1e-3,
        flops=20 * 2048 * 2048),
    row("neighbour_list", "4096 particles, at most 64 neighbours", composed="neighbours(p)",
        oracle="neighbours(p)", outliers=1e-4, flops=8 * 4096 * 4096),
    row("fft_256_threadgroup", "4096 × 256 complex64", operation="fft(x)", absolute=1e-3,
        note="A sine and a cosine for each butterfly. PyTorch has its sines in a table."),
]  # fmt: skip
