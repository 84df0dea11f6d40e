"""The same kernel becomes the same machine code in every process.

Sets of names have another order in each, as Python salts the hashes of text.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_KERNELS = Path(__file__).parents[2] / "kernels"
_CASES = (
    "threadgroup/rows_loaded_in_turns",
    "threadgroup/rows_read_again",
    "threadgroup/histogram",
    "large/typical_row_kernel",
)
_COMPILE = """\
import hashlib, sys
from pathlib import Path
from anymetal.targets.cpu.code_lookup import follow
from anymetal.targets.cpu.compiler import compile_kernel
from anymetal.testing.metal_case import parse, run

for path in map(Path, sys.argv[1:]):
    kernels = follow()
    case = parse(path)
    run(case, case.dtypes[0])
    for source, variant in kernels:
        print(path.stem, hashlib.sha256(compile_kernel(source, variant)).hexdigest())
"""


def _codes(salt: int) -> list[str]:
    paths = [str(_KERNELS / f"{case}.metal") for case in _CASES]
    command = [sys.executable, "-c", _COMPILE, *paths]
    salted = os.environ | {"PYTHONHASHSEED": str(salt)}
    done = subprocess.run(command, env=salted, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_code_is_the_same_in_every_process() -> None:
    first = _codes(1)
    assert {line.split()[0] for line in first} == {Path(case).name for case in _CASES}
    assert _codes(2) == first
