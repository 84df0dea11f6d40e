"""The texts of kernels as files beside their machine code, for debuggers and profilers.

    <cache directory>/texts/<digest>/<name>

Line tables name these paths (simd/code/line_table.py). The names are those that people know, so
that `break saxpy.metal:3` is a breakpoint; texts that are alike are one file.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from anymetal.runtime import cache_folder, files, growth

FOLDER = "texts"
_DIGITS = 16  #: of a digest, in the name of a folder


class Text(NamedTuple):
    """A text that people shall find under this name."""

    name: str  #: of a file
    content: str

    @property
    def path(self) -> Path:
        """Where its file is, or would be."""
        return cache_folder.directory() / FOLDER / files.digest(*self)[:_DIGITS] / self.name


def keep(texts: Iterable[Text]) -> None:
    """Writes the files that are not there. A disk without room for them is no error: debuggers then
    show the names and lines of kernels, but not their texts."""
    for text in texts:
        path = text.path
        with contextlib.suppress(OSError):
            if path.exists():
                os.utime(path)  # what was not used for longest is removed first
            else:
                files.write(path, text.content.encode(errors="replace"), f"text {text.name}")
                growth.note(path.parents[2], len(text.content))
