"""The second target runs `.metal` cases through the same front end and middle as the CPU target."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import mlx.core as mx
import pytest

import anymetal
from anymetal import targets
from anymetal.errors import UnsupportedFeatureError
from anymetal.testing.metal_case import parse, run
from tests.targets.second.target import HostTarget

_KERNELS = Path(__file__).parents[2] / "kernels"
_CASES = [
    "algorithms/matmul_naive",
    "algorithms/mandelbrot",
    "atomics/fetch_add_device",
    "atomics/compare_exchange",
    "math/exp",
    "math/frexp",
    "math/pow",
    "strided/elem_to_loc",
    "strided/gather",
    "strided/shape_arithmetic",
    "threadgroup/index_taken_apart",
    "types/bfloat_arithmetic",
    "types/half_arithmetic",
    "types/private_arrays",
    "types/vector_division_and_shifts",
    "types/vectors_of_uchar",
]


@pytest.fixture(autouse=True)
def second() -> Iterator[None]:
    """The target in use."""
    targets.select(HostTarget())
    yield
    targets.select(None)


@pytest.mark.parametrize("name", _CASES)
def test_case(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_CHECK", "1")
    case = parse(_KERNELS / f"{name}.metal")
    for dtype in case.dtypes[:2]:
        run(case, dtype)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("threadgroup_barrier(mem_flags::mem_threadgroup);", "waits for other threads"),
        ("o[i] = simd_sum(x[i]);", "SIMD-group"),
    ],
)
def test_what_takes_other_threads_is_refused(line: str, message: str) -> None:
    kernel = anymetal.metal_kernel(
        name="together",
        input_names=["x"],
        output_names=["o"],
        source=f"uint i = thread_position_in_grid.x;\no[i] = x[i];\n{line}",
    )
    with pytest.raises(UnsupportedFeatureError, match=rf"together.*:3:.*{message}"):
        kernel(
            inputs=[mx.zeros((4,))],
            output_shapes=[(4,)],
            output_dtypes=[mx.float32],
            grid=(4, 1, 1),
            threadgroup=(4, 1, 1),
        )


def _kernel(text: str = "o[0] = x[0];") -> anymetal.MetalKernel:
    return anymetal.metal_kernel(name="alone", input_names=["x"], output_names=["o"], source=text)


def test_a_target_need_not_know_mlx_graph() -> None:
    def run(x: mx.array) -> mx.array:
        kernel = _kernel()
        one = {"grid": (1, 1, 1), "threadgroup": (1, 1, 1)}
        return kernel(inputs=[x], output_shapes=[(4,)], output_dtypes=[mx.float32], **one)[0]

    assert run(mx.ones((4,)))[0].item() == 1
    with pytest.raises(ValueError, match=r"`alone` runs at once.*'host'"):
        mx.compile(run)(mx.ones((4,)))


def test_a_target_need_not_run_kernels_of_libraries() -> None:
    library = anymetal.metal_library("kernel void f(device float* o [[buffer(0)]]) { o[0] = 1; }")
    with pytest.raises(UnsupportedFeatureError, match=r"`f`.*'host'"):
        library.f(mx.zeros((4,)), grid=(1, 1, 1), threadgroup=(1, 1, 1))


def test_a_target_takes_no_file_of_another() -> None:
    code = (
        "import sys, tests.targets.second.target; "
        "found = [m for m in sys.modules if m.startswith(('anymetal.targets.cpu', "
        "'anymetal.simd', 'anymetal.analysis.uniformity'))]; assert not found, found"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=_KERNELS.parents[1])
