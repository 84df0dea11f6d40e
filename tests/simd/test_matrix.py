"""simdgroup_matrix in the scalar build, on other CPUs, and in SIMD-groups that lack lanes.

What the functions do is tested by tests/kernels/matrix, whose cases run here once more.
"""

from __future__ import annotations

from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.runtime.zig import host_triple
from anymetal.targets.cpu.compiler import machine_for, thread_program, vector_ir
from anymetal.targets.cpu.variant import Variant, gang_width
from anymetal.testing.metal_case import parse, run
from tests.frontend.kernels import kernel_source

_CASES = sorted((Path(__file__).parent.parent / "kernels" / "matrix").glob("*.metal"))
_X86 = host_triple().startswith("x86_64")
_PRODUCT = """
simdgroup_float8x8 p, q, r;
simdgroup_load(p, a);
simdgroup_load(q, b);
simdgroup_multiply_accumulate(r, p, q, simdgroup_float8x8(2.0f));
simdgroup_store(r, y);
"""


@pytest.mark.parametrize("path", _CASES, ids=lambda path: path.stem)
def test_scalar_build(path: Path) -> None:
    case = parse(path)
    with gang_width(1):
        run(case, case.dtypes[0])


@pytest.mark.skipif(not _X86, reason="levels of x86-64")
@pytest.mark.parametrize("level", ["x86-64-v2", "x86-64-v3"])
@pytest.mark.parametrize("name", ["gemm_ragged", "multiply_accumulate", "real_numbers"])
def test_other_cpus(name: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_CPU", level)
    case = next(parse(path) for path in _CASES if path.stem == name)
    for dtype in case.dtypes:
        run(case, dtype)


@pytest.mark.parametrize("threads", [64, 40, 32, 20, 1])
def test_missing_lanes_count_as_zeros(threads: int) -> None:
    """The language leaves it open; here both builds agree on something that cannot do harm."""
    kernel = anymetal.metal_kernel(
        name="matrix_lanes", input_names=["a", "b"], output_names=["y"], source=_PRODUCT
    )
    a, b = (mx.random.normal((8, 8), key=mx.random.key(seed)) for seed in (1, 2))
    results: list[np.ndarray] = []
    for width in (1, 32):
        with gang_width(width):
            (result,) = kernel(
                inputs=[a, b],
                output_shapes=[(8, 8)],
                output_dtypes=[mx.float32],
                grid=(threads, 1, 1),
                threadgroup=(threads, 1, 1),
                init_value=0,
            )
            results.append(np.array(result))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6, atol=1e-6)
    if threads == 32:
        expected = np.array(a) @ np.array(b) + 2 * np.eye(8)
        np.testing.assert_allclose(results[1], expected, rtol=1e-5, atol=1e-5)


def test_products_are_vector_instructions() -> None:
    """2 * 8 multiplications of 16 lanes for each of a lane's elements; 8 rows for each matrix."""
    source = kernel_source(
        _PRODUCT, inputs={"a": mx.zeros(64), "b": mx.zeros((64, 64))}, outputs={"y": mx.float32}
    )
    variant = Variant(flat=True, linear=True, aligned=True, full=True, partial=False, single=True)
    text = vector_ir(thread_program(source), variant, machine_for(""))
    assert text.count("call <16 x float> @llvm.fmuladd.v16f32") == 32
    assert "gather" not in text and "scatter" not in text
