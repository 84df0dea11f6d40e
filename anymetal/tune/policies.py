"""The rules that AnyMetal ships: which path of each operation suits which device and sizes.

They stand in for a measured table where nobody has run `anymetal tune`, and decide where tables
have nothing to say: how precise a sum must be. What a routine does by default is what wins on CPUs
(benchmarks/RESULTS.md). On other devices a kernel of ours is the default where it is known to win
there; what nobody has measured is left to MLX.

A policy is a function `choose_…` of the sizes, the dtype and the kind of device. It says None where
the routine's own default is right, as do operations without a policy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: Kinds of devices on which routines' defaults were measured (RESULTS.md, shipped/cuda.json).
_MEASURED = ("cpu", "cuda")

#: A path and the reason for it.
Ruled = tuple[str, str]
#: From sizes, dtype and kind of device.
Policy = Callable[[Sequence[int], str, str], Ruled | None]


def choose(
    operation: str, sizes: Sequence[int], dtype: str, among: Sequence[str], kind: str
) -> Ruled | None:
    """What the policy of an operation says, if its path can serve the call."""
    policy = POLICIES.get(operation)
    ruled = policy(sizes, dtype, kind) if policy else None
    return ruled if ruled and ruled[0] in among else None


def choose_qr(sizes: Sequence[int], dtype: str, kind: str) -> Ruled | None:
    """MLX's, that is LAPACK's, where nobody has measured ours."""
    return _unmeasured("mlx", kind)


def choose_matmul(sizes: Sequence[int], dtype: str, kind: str) -> Ruled | None:
    """MLX's, which has kernels of its own for GPUs, where nobody has measured ours."""
    return _unmeasured("mlx", kind)


def choose_svd_topk(sizes: Sequence[int], dtype: str, kind: str) -> Ruled | None:
    """All of MLX's decomposition, where nobody has measured ours."""
    return _unmeasured("full", kind)


def choose_vector_sum(sizes: Sequence[int], dtype: str, kind: str) -> Ruled | None:
    """The precision that each sum's own condition asks for: limbs where it is numerically hard."""
    return "auto", "each sum as precise as its tolerance needs"


def choose_matrix_sum(sizes: Sequence[int], dtype: str, kind: str) -> Ruled | None:
    """Products of matrices, which arithmetic limits: bounds cost several times the product."""
    return "float32", "a product of matrices; with tol= sums are as precise as that needs"


def _unmeasured(path: str, kind: str) -> Ruled | None:
    return None if kind in _MEASURED else (path, f"nobody has measured kernels on {kind} yet")


#: By operation.
POLICIES: dict[str, Policy] = {
    "qr": choose_qr,
    "matmul_av": choose_matmul,
    "matmul_atb": choose_matmul,
    "svd_topk": choose_svd_topk,
    "dot": choose_vector_sum,
    "norm": choose_vector_sum,
    "project": choose_matrix_sum,
    "gram": choose_matrix_sum,
}
