"""The operations whose paths the switch chooses, by the names that routines give it."""

from __future__ import annotations

OPERATIONS = ("grid_sample", "cholesky", "qr", "matmul_av", "matmul_atb", "svd_topk")
