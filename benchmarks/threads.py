"""How many threads contenders use, and that those rest while somebody else has his turn.

Threads of OpenMP (PyTorch) and OpenBLAS (NumPy) wait for more work in a loop, some milliseconds
long, and would take a processor away from who comes next.
"""

from __future__ import annotations

import os

_COUNTS = ("ANYMETAL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
#: OpenBLAS counts in powers of two of processor cycles; this is about 20 µs.
_RESTING = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0", "OPENBLAS_THREAD_TIMEOUT": "16"}


def prepare(count: int) -> None:
    """For the libraries that are imported from now on."""
    os.environ.update(dict.fromkeys(_COUNTS, str(count)))
    os.environ.update(_RESTING)
