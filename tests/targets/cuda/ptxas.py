"""NVIDIA's assembler as a test."""

from __future__ import annotations

import pytest

from anymetal.targets.cuda.ptxas import Assembled, assembled, ptxas


def assemble(ptx: str, architecture: str) -> Assembled:
    """Fails if the assembler refuses a text; skips the test if there is none."""
    if ptxas() is None:
        pytest.skip("no ptxas: pip install nvidia-cuda-nvcc")
    found = assembled(ptx, architecture)
    assert not isinstance(found, str), f"{found}\n{ptx}"
    return found
