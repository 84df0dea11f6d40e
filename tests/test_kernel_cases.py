"""Every `.metal` file under tests/kernels is a test; README.md there describes the format."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from anymetal import targets
from anymetal.errors import UnsupportedFeatureError
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.testing.metal_case import MetalCase, parse, run

FOLDER = Path(__file__).parent / "kernels"
#: Sums of products are fused where the processor does that, and Metal does not promise it.
FUSED = FOLDER / "vec" / "fused_products.metal"
CASES = [parse(path) for path in sorted(FOLDER.rglob("*.metal"))]


@pytest.fixture(scope="module", autouse=True)
def checked() -> Iterator[None]:
    """What is compiled here follows the grammar (ir/spec.py) after every pass."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANYMETAL_CHECK", "1")
        yield


def _quick(case: MetalCase) -> str:
    """The dtype that runs by default, drawn by the case's name: each dtype has its cases."""
    return random.Random(case_name(case, "")).choice(case.dtypes)


def case_name(case: MetalCase, dtype: str) -> str:
    return "-".join(filter(None, (str(case.path.relative_to(FOLDER)), dtype)))


def fuses() -> bool:
    machine = machine_for(os.environ.get("ANYMETAL_CPU", ""))
    return machine.architecture != "x86_64" or "fma" in machine.enabled


@pytest.mark.parametrize(
    ("case", "dtype"),
    [
        pytest.param(
            case,
            dtype,
            id=case_name(case, dtype),
            marks=[] if dtype == quick else pytest.mark.slow,
        )
        for case in CASES
        for quick in [_quick(case)]
        for dtype in case.dtypes
    ],
)
def test_kernel(case: MetalCase, dtype: str) -> None:
    if case.path == FUSED and not fuses():
        pytest.skip("this processor has no fused multiply-add")
    try:
        run(case, dtype)
    except UnsupportedFeatureError as error:
        if not targets.active().on_gpu:
            raise
        pytest.skip(str(error))  # os_log: MLX's GPUs have no way to hand that on
