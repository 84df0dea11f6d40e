"""Who is told that this is a Mac: the program, and packages that need MLX.

All others see the machine as it is. By `sys.platform` the standard library decides what system
calls there are, and packages that were installed for this machine which libraries they load.
"""

from __future__ import annotations

import re
import sys
import threading
from functools import lru_cache
from types import FrameType
from typing import Any

#: These need MLX, too, and have to know where they are.
_OURS = frozenset({"anymetal", "anymetal_start", "pytest_anymetal", "mlx"})
#: They read what a test replaces, to put it back.
_FOR_OTHERS = frozenset({"_pytest.monkeypatch"})
_INSTALLED = re.compile(r"[/\\](site|dist)-packages[/\\]")
_NEEDS_MLX = re.compile(r"mlx(?![a-z0-9])", re.IGNORECASE)


def see_a_mac(frame: FrameType) -> bool:
    """Whether the code of this frame is to believe that it runs on a Mac."""
    if frame.f_globals.get("__name__") in _FOR_OTHERS:
        return True
    package = _package(frame.f_globals)
    known = _known.get(package)
    if known is not None:
        return known
    if getattr(_thread, "decides", False):
        return False  # to decide takes imports, and an import hook may ask
    _thread.decides = True
    try:
        known = _known[package] = _is_told(package, frame.f_globals)
    finally:
        _thread.decides = False
    return known


#: What was found out; the code of a package comes from one place.
_known: dict[str, bool] = {}
_thread = threading.local()


def _package(names: dict[str, Any]) -> str:
    """The top-level package that code belongs to; of `python -m` the one of that module."""
    name = names.get("__name__") or "__main__"
    if name == "__main__":
        spec = names.get("__spec__")
        name = getattr(spec, "name", None) or name
    return str(name).partition(".")[0]


def _is_told(package: str, names: dict[str, Any]) -> bool:
    if package in _OURS or package in sys.stdlib_module_names:
        return False
    if not _INSTALLED.search(str(names.get("__file__", ""))):
        return True
    needs = [_needs_mlx(name) for name in _distributions().get(package, ())]
    return any(needs) or not needs


def _needs_mlx(distribution: str) -> bool:
    from importlib.metadata import requires

    return any(_NEEDS_MLX.match(requirement) for requirement in requires(distribution) or ())


@lru_cache(maxsize=1)
def _distributions() -> dict[str, list[str]]:
    """The installed distributions of each top-level package."""
    from importlib.metadata import packages_distributions

    return dict(packages_distributions())
