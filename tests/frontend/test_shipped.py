"""Kernels that include the Metal headers of the installed MLX: the classes of its own GEMM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.frontend.shipped import shipped_files
from anymetal.runtime import disk_cache, identity
from anymetal.targets.cpu.variant import gang_width

_HEADER = """
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/gemm/gemm.h"
using namespace mlx::steel;
"""
_GEMM = """
using Gemm = GEMMKernel<T, float, BM, BN, BK, WM, WN, LEFT_T, RIGHT_T, MN_FITS, K_FITS>;
threadgroup T left[Gemm::tgp_mem_size_a], right[Gemm::tgp_mem_size_b];
const int m = sizes[0], n = sizes[1], k = sizes[2];
GEMMParams params{m, n, k, LEFT_T ? m : k, RIGHT_T ? k : n, n, (n + BN - 1) / BN,
                  (m + BM - 1) / BM, 0, 0, 0, 0, k / BK, 1};
Gemm::run(a, b, y, &params, left, right, thread_index_in_simdgroup, simdgroup_index_in_threadgroup,
          threadgroup_position_in_grid, thread_position_in_threadgroup);
"""
_gemm = anymetal.metal_kernel(
    name="steel_gemm",
    input_names=["a", "b", "sizes"],
    output_names=["y"],
    source=_GEMM,
    header=_HEADER,
)


def check(
    m: int,
    n: int,
    k: int,
    dtype: mx.Dtype,
    *,
    transposed: tuple[bool, bool] = (False, False),
    block: tuple[int, int, int] = (32, 32, 16),
    simdgroups: tuple[int, int] = (2, 2),
) -> None:
    """Integers in, so that every sum is exact."""
    random = np.random.default_rng(m + n + k)
    a, b = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    stored = [x.T if flip else x for x, flip in zip((a, b), transposed, strict=True)]
    bm, bn, bk = block
    template: list[tuple[str, Any]] = [
        *(("T", dtype), ("BM", bm), ("BN", bn), ("BK", bk)),
        *(("WM", simdgroups[0]), ("WN", simdgroups[1])),
        *(("LEFT_T", transposed[0]), ("RIGHT_T", transposed[1])),
        *(("MN_FITS", m % bm == 0 and n % bn == 0), ("K_FITS", k % bk == 0)),
    ]
    threads = 32 * simdgroups[0] * simdgroups[1]
    (y,) = _gemm(
        inputs=[*(mx.array(x).astype(dtype) for x in stored), mx.array([m, n, k])],
        template=template,
        output_shapes=[(m, n)],
        output_dtypes=[mx.float32],
        grid=(threads * -(-n // bn), -(-m // bm), 1),
        threadgroup=(threads, 1, 1),
    )
    np.testing.assert_array_equal(np.array(y), a @ b)


def test_steel_gemm() -> None:
    check(64, 96, 32, mx.float32)


def test_steel_gemm_other_blocks() -> None:
    check(64, 64, 32, mx.float16, block=(64, 32, 32), simdgroups=(2, 1))


def test_steel_gemm_transposed() -> None:
    check(32, 64, 48, mx.bfloat16, transposed=(True, True))


def test_steel_gemm_ragged() -> None:
    check(70, 45, 37, mx.float16)


def test_steel_gemm_in_the_scalar_build() -> None:
    with gang_width(1):
        check(32, 32, 40, mx.float32, block=(16, 16, 16), simdgroups=(1, 2))


def test_only_for_those_who_include_them() -> None:
    assert shipped_files("y[0] = 1;") == {}


def test_the_copy_in_the_cache_can_be_damaged_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path))
    texts = []
    for damage in (lambda path: None, lambda path: path.write_bytes(b"{}"), Path.unlink):
        files = shipped_files(_HEADER)
        texts += [text for name, text in files.items() if name.endswith("gemm/gemm.h")]
        (entry,) = disk_cache.entries()
        assert entry.name == "MLX's Metal headers"
        damage(entry.path)
    assert "BlockLoader" in texts[0] and "[[threadgroup(" not in texts[0]
    assert len(texts) == 3 and len(set(texts)) == 1


def test_a_folder_named_mlx_that_comes_first_is_not_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a checkout of MLX beside the program, or /tmp/mlx for a program in /tmp."""
    known = identity.tools(), identity.included(identity.MLX_HEADERS)
    (tmp_path / "mlx").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert (identity.tools(), identity.included(identity.MLX_HEADERS)) == known
    assert shipped_files(_HEADER)
