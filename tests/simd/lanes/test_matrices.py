"""simdgroup_matrix in the scalar build, on other CPUs, and in SIMD-groups that lack lanes.

What the functions do is tested by tests/kernels/matrix, whose cases run here once more.
"""

from __future__ import annotations

import re
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.analysis.cache import LaunchFacts
from anymetal.pipeline.program import thread_program
from anymetal.runtime.zig import host_triple
from anymetal.simd import questions
from anymetal.targets.cpu.assemble import optimised
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.variant import Variant, gang_width
from anymetal.testing.metal_case import parse, run
from tests.compiling import planned, vector_ir
from tests.frontend.kernels import kernel_source

_CASES = sorted((Path(__file__).parents[2] / "kernels" / "matrix").glob("*.metal"))
_X86 = host_triple().startswith("x86_64")
_LOOP = """
simdgroup_float8x8 p, q[2], sums[2] = {simdgroup_float8x8(0), simdgroup_float8x8(0)};
for (uint k = 0; k < a_shape[1]; k += 8) {
  simdgroup_load(p, a, a_shape[1], ulong2(k, 0));
  for (int j = 0; j < 2; j++) simdgroup_load(q[j], b, 16, ulong2(8 * j, k));
  for (int j = 0; j < 2; j++) simdgroup_multiply_accumulate(sums[j], p, q[j], sums[j]);
}
for (int j = 0; j < 2; j++) simdgroup_store(sums[j], y, 16, ulong2(8 * j, 0));
"""
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
@pytest.mark.parametrize(
    "name",
    [
        "gemm_ragged",
        pytest.param("gemm_staged", marks=pytest.mark.slow),  # gemm_ragged is like it
        "multiply_accumulate",
        "overwritten",
        "real_numbers",
        "steps",
        "sums_in_place",
        "sums_start_anew",
        "sums_of_two_ways",
        "tall_products",
        "tall_products_apart",
        "wide_sums",
    ],
)
def test_other_cpus(name: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_CPU", level)
    case = next(parse(path) for path in _CASES if path.stem == name)
    for dtype in case.dtypes:
        run(case, dtype)


_ONE_SIMDGROUP = Variant(
    flat=True, linear=True, aligned=True, full=True, partial=False, single=True
)


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
    """8 rows of the result, each a sum of 8 rows of the right matrix, loaded as they are."""
    source = kernel_source(
        _PRODUCT, inputs={"a": mx.zeros(64), "b": mx.zeros((64, 64))}, outputs={"y": mx.float32}
    )
    text = vector_ir(thread_program(source), _ONE_SIMDGROUP, machine_for(""))
    assert text.count("call <8 x float> @llvm.fmuladd.v8f32") == 64
    assert "gather" not in text and "scatter" not in text


def test_sums_of_a_loop_stay_rows() -> None:
    """Two matrices side by side are 8 vectors of 16; lanes get them once, behind the loop."""
    source = kernel_source(
        _LOOP,
        inputs={"a": mx.zeros((8, 64)), "b": mx.zeros((64, 16))},
        outputs={"y": mx.float32},
    )
    machine = machine_for("x86-64-v4")
    module = optimised(vector_ir(thread_program(source), _ONE_SIMDGROUP, machine), machine)
    blocks = re.split(r"\n(?=\S+:)", str(module))
    loop = [b for b in blocks if "call <16 x float> @llvm.fmuladd.v16f32" in b]
    assert len(loop) == 1 and loop[0].count("@llvm.fmuladd.v16f32") == 64
    assert loop[0].count("phi <16 x float>") == 8
    assert not re.search(r"shufflevector <(16|32) x float>.*, <16 x float> %", loop[0])


_STEPS = """
threadgroup float left[8 * 36], right[32 * 20];
for (uint i = thread_index_in_simdgroup; i < 256; i += 32) left[i / 32 * 36 + i % 32] = a[i];
for (uint i = thread_index_in_simdgroup; i < 512; i += 32) right[i / 16 * 20 + i % 16] = b[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
simdgroup_float8x8 p, q[2], sums[2] = {simdgroup_float8x8(0), simdgroup_float8x8(0)};
#pragma unroll
for (uint k = 0; k < 32; k += 8) {
  simdgroup_load(p, left + k, 36);
  for (int j = 0; j < 2; j++) simdgroup_load(q[j], right + k * 20 + 8 * j, 20);
  for (int j = 0; j < 2; j++) simdgroup_multiply_accumulate(sums[j], p, q[j], sums[j]);
}
for (int j = 0; j < 2; j++) simdgroup_store(sums[j], y, 16, ulong2(8 * j, 0));
"""


def test_steps_that_add_to_the_same_sums_are_one_product() -> None:
    """Operands are read where they lie: no left matrix is copied, no sum leaves its register."""
    source = kernel_source(
        _STEPS,
        inputs={"a": mx.zeros((8, 32)), "b": mx.zeros((32, 16))},
        outputs={"y": mx.float32},
    )
    program = thread_program(source)
    known = planned(program, LaunchFacts(True, True, True))
    products = set(known(questions.matrix_products).values())
    assert [len(product.steps) for product in products] == [4]
    machine = machine_for("x86-64-v4")
    text = vector_ir(program, _ONE_SIMDGROUP, machine)
    assert text.count("call <16 x float> @llvm.fmuladd.v16f32") == 4 * 64
    memory = r"alloca \[\d+ x (float|<\d+ x float>)\]"
    assert not re.search(rf"%(?!rows\.)\S+ = {memory}", text)
    assert not re.search(memory, str(optimised(text, machine)))  # which leaves nothing of rows


_TALL = """
simdgroup_float8x8 p, q[2], sums[N][2];
for (int j = 0; j < 2; j++) simdgroup_load(q[j], b, 16, ulong2(8 * j, 0));
for (int i = 0; i < N; i++) {
  for (int j = 0; j < 2; j++) sums[i][j] = simdgroup_float8x8(0);
  simdgroup_load(p, a, 8, ulong2(0, 8 * i));
  for (int n = 0; n < 2; n++) {
    int j = serpentine && i % 2 ? 1 - n : n;
    simdgroup_multiply_accumulate(sums[i][j], p, q[j], sums[i][j]);
  }
}
for (int i = 0; i < N; i++) {
  for (int j = 0; j < 2; j++) simdgroup_store(sums[i][j], y, 16, ulong2(8 * j, 8 * i));
}
"""


@pytest.mark.parametrize("serpentine", ["false", "true"])
@pytest.mark.parametrize(
    ("cpu", "high", "loops"),
    [
        ("x86-64-v2", 2, 1),
        ("x86-64-v3", 3, 1),
        ("aarch64", 3, 1),
        ("x86-64-v4", 2, 0),
        ("x86-64-v4", 3, 1),
    ],
)
def test_products_one_above_the_other_share_a_loop(
    cpu: str, high: int, loops: int, serpentine: str
) -> None:
    """Where registers have no room for the sums of all products of 8 x 16: code for each would fill
    the cache of decoded instructions. Also where every other row goes through its columns
    backwards."""
    body = f"constexpr bool serpentine = {serpentine}; constexpr int N = {high};{_TALL}"
    inputs = {"a": mx.zeros((8 * high, 8)), "b": mx.zeros((8, 16))}
    source = kernel_source(body, inputs=inputs, outputs={"y": mx.float32})
    text = vector_ir(thread_program(source), _ONE_SIMDGROUP, machine_for(cpu))
    assert len(re.findall(r"= phi i64 \[ 0, ", text)) == loops
