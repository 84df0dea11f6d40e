"""NVIDIA's assembler, if it is there: on the PATH, or in the wheel `nvidia-cuda-nvcc`."""

from __future__ import annotations

import functools
import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest


@functools.cache
def ptxas() -> str | None:
    """Its path."""
    found = shutil.which("ptxas")
    spec = importlib.util.find_spec("nvidia") if found is None else None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        found = next((str(path) for path in Path(folder).glob("*/bin/ptxas")), found)
    return found


def assemble(ptx: str, architecture: str, folder: Path) -> None:
    """Fails if the assembler refuses a text; skips the test if there is none."""
    program = ptxas()
    if program is None:
        pytest.skip("no ptxas: pip install nvidia-cuda-nvcc")
    text, code = folder / "kernel.ptx", folder / "kernel.cubin"
    text.write_text(ptx)
    command = [program, "-arch", architecture, str(text), "-o", str(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}\n{ptx}"
    assert code.stat().st_size > 0
