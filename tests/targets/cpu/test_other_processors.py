"""Kernels with products of matrices compile for processors that this machine is not: their vectors
must fit registers of any size."""

from __future__ import annotations

from pathlib import Path

import pytest

from anymetal import targets
from anymetal.targets.cpu import code_lookup
from anymetal.targets.cpu.compiler import compile_kernel
from anymetal.targets.cpu.reporting import GangStages
from anymetal.testing.metal_case import parse, run

_KERNELS = Path(__file__).parents[2] / "kernels"
_CASES = sorted(path for kind in ("matrix", "tensor") for path in (_KERNELS / kind).glob("*.metal"))


@pytest.mark.parametrize("path", _CASES, ids=lambda path: path.stem)
def test_products_of_matrices(path: Path) -> None:
    targets.select(None)  # the one in use knows the case as it was compiled before
    case, asked = parse(path), code_lookup.follow()
    run(case, case.dtypes[0])
    for source, launch in list(asked)[:1]:  # none if the case is one of an error
        assert compile_kernel(source, launch._replace(cpu="cortex-a76"), GangStages())
