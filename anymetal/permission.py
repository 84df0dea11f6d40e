"""Whether the kernels that a file brings may run: kernels are native code with the user's rights.

A file of `mx.export_function` has them as text, behind the name of MLX's primitive. They are looked
for in the bytes, before MLX reads the file, and whatever looks like one counts as one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Literal, NamedTuple

from anymetal.errors import KernelRefusedError

Policy = Literal["run", "ask", "refuse"]

_PRIMITIVE = b"CustomKernel"
#: The primitive's name in a file, behind its length, and the two texts that follow: each has its
#: length in 64 bits in front.
_MARK = re.compile(re.escape(len(_PRIMITIVE).to_bytes(8, "little") + _PRIMITIVE))


class FoundKernel(NamedTuple):
    """A kernel in a file."""

    name: str
    text: str  #: all of the generated Metal


def kernels_in(data: bytes) -> list[FoundKernel]:
    """The kernels in the bytes of a file, each once; texts that end too early end there."""
    found = []
    for mark in _MARK.finditer(data):
        name, end = _text(data, mark.end())
        text, _ = _text(data, end)
        found.append(FoundKernel(name, text))
    return list(dict.fromkeys(found))


def _text(data: bytes, at: int) -> tuple[str, int]:
    begin = at + 8
    end = min(begin + int.from_bytes(data[at:begin], "little"), len(data))
    return data[begin:end].decode("utf-8", "replace"), end


class Permission:
    """Which kernels of one file may run."""

    def __init__(self, path: str, policy: Policy) -> None:
        """Asks, if that is the policy.

        Raises:
            ValueError: A policy that does not exist.
            KernelRefusedError: The file has kernels, and they may not run.
            OSError: The file cannot be read.
        """
        if policy not in ("run", "ask", "refuse"):
            raise ValueError(
                f'[import_function] kernels must be "run", "ask" or "refuse", not {policy!r}.'
            )
        self._path = path
        self._granted: set[str] | None = None  # texts; None: all
        if policy == "run":
            return
        kernels = kernels_in(Path(path).read_bytes())
        if policy == "refuse" and kernels:
            raise self._refusal([kernel.name for kernel in kernels])
        for number, kernel in enumerate(kernels, 1):
            if not _asked(path, kernel, f"{number} of {len(kernels)}"):
                raise self._refusal([kernel.name])
        self._granted = {kernel.text for kernel in kernels}

    def check(self, name: str, text: str) -> None:
        """Raises KernelRefusedError unless this kernel of the file may run."""
        if self._granted is not None and text not in self._granted:
            raise self._refusal([name])

    def _refusal(self, names: list[str]) -> KernelRefusedError:
        listed = ", ".join(f"`{name}`" for name in names)
        return KernelRefusedError(
            f"{self._path} brings {'a kernel' if len(names) == 1 else 'kernels'} that may not run: "
            f'{listed}. Kernels are native code with your rights; import with kernels="run" if you '
            "trust who made the file."
        )


def _asked(path: str, kernel: FoundKernel, place: str) -> bool:
    """Shows a kernel and asks for a yes on the terminal; without a terminal the answer is no."""
    if not (sys.stdin and sys.stdin.isatty()):
        return False
    print(f"{path} brings kernel {place}, `{kernel.name}`:\n\n{_printable(kernel.text)}\n")
    return input("Run it, as native code with your rights? [y/N] ").strip().lower() in ("y", "yes")


def _printable(text: str) -> str:
    """Without what could move the cursor or hide text on a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)
