"""A Python interpreter that can be started beside this process.

`sys.executable` need not be one: if Python is part of an application, it is that application, which
would be opened once more. So a program is judged by its name and by the Python that is installed
around it; a helper checks that it is the same Python (helper_main.py).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator

_NAMES = re.compile(r"\.?(python|pypy)[\d.]*[a-z]*(-dbg|-wrapped)?")


def interpreter() -> str | None:
    """The path of one; None if this Python is part of an application that brings none."""
    for path in _candidates():
        if os.path.isabs(path) and os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None


def search_path() -> list[str]:
    """Where this process finds modules, as another process may be told."""
    folders = []
    for folder in sys.path:
        if isinstance(folder, str):  # others are for finders that somebody has installed
            try:
                folders.append(os.path.abspath(folder))
            except FileNotFoundError:  # relative to a directory that is gone
                continue
    return folders


def _candidates() -> Iterator[str]:
    if not getattr(sys, "frozen", False):  # PyInstaller and its like: Python inside a program
        for path in (sys.executable, getattr(sys, "_base_executable", None)):
            if path and _NAMES.fullmatch(os.path.basename(path)):
                yield path
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        for name in (f"python{version}", "python3"):
            yield os.path.join(sys.base_exec_prefix, "bin", name)
