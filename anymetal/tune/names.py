"""The operations whose paths the switch chooses, by the names that routines give it."""

from __future__ import annotations

#: Those whose paths differ in speed only: what `anymetal tune` measures.
MEASURED = ("grid_sample", "cholesky", "qr", "matmul_av", "matmul_atb", "svd_topk")
#: Those whose paths differ in precision: what a result is worth is for no table to say.
SUMS = ("dot", "norm", "project", "gram")
OPERATIONS = (*MEASURED, *SUMS)
