"""Kernels that were not written for this benchmark, to judge passes by (benchmarks/verdicts.py).

`*.metal` are in the style of kernels in public projects: each file has several, one behind each
line `// kernel: NAME`, with directives as in tests/kernels/README.md, but nothing expected.
`mlx.py` has kernels of MLX itself, from the headers of the installed one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

_HERE = Path(__file__).parent
_KERNEL = re.compile(r"^// kernel: (\w+)$", re.M)


class Kernel(NamedTuple):
    """A launch of one kernel, whose text gets a comment so that it is compiled anew."""

    name: str
    make: Callable[[str], Callable[[], list[Any]]]


@functools.cache
def texts() -> dict[str, str]:
    """The text of each kernel of `*.metal`, by its name."""
    found: dict[str, str] = {}
    for file in sorted(_HERE.glob("*.metal")):
        _, *parts = _KERNEL.split(file.read_text())
        found.update(zip(parts[::2], parts[1::2], strict=True))
    return found


def kernels() -> list[Kernel]:
    """All of them."""
    from benchmarks.others import mlx

    return [*(_case(name, text) for name, text in texts().items()), *mlx.kernels()]


def _case(name: str, text: str) -> Kernel:
    def make(comment: str) -> Callable[[], list[Any]]:
        from anymetal.testing.metal_case import inputs, launcher, read

        case = read(Path(name), text)
        case.header += "\n" + comment
        return launcher(case, case.dtypes[0], inputs(case, case.dtypes[0]))

    return Kernel(name, make)
