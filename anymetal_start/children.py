"""Child processes inherit what was installed: forked ones as they are, new ones by variables.

Python looks for a module `sitecustomize` when it starts. `inherited/`, which is put in front of
PYTHONPATH, has one that comes here. ANYMETAL_INSTALL names the arguments of `anymetal.install`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from anymetal_start.environment import in_front

VARIABLE = "ANYMETAL_INSTALL"
_FOLDER = os.path.join(os.path.dirname(__file__), "inherited")


def environment(arguments: Sequence[str]) -> dict[str, str]:
    """Variables by which new Python processes come to call `install` with these arguments, and with
    those that they would call it with before."""
    names = dict.fromkeys([*(inherited() or ()), *arguments])
    return {VARIABLE: ",".join(names), "PYTHONPATH": in_front(_FOLDER, "PYTHONPATH")}


def inherited() -> dict[str, bool] | None:
    """The arguments of `install` that a parent process has left; None if there are none."""
    text = os.environ.get(VARIABLE)
    if text is None:
        return None
    return {name: True for name in text.split(",") if name}


def begin() -> None:
    """At the start of a child process: be a Mac at once, and install when MLX is imported."""
    arguments = inherited()
    if arguments is None:
        return
    if arguments.get("pretend_mac"):
        from anymetal_start import mac

        mac.apply()
    sys.meta_path.insert(0, _WhenMlxComes())


class _WhenMlxComes(MetaPathFinder):
    """Has `anymetal` imported, which installs itself, right behind `mlx.core`."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name != "mlx.core":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Then(spec.loader)
        return spec


class _Then(Loader):
    """A module's own loader, with something to do behind it."""

    def __init__(self, real: Loader) -> None:
        self._real = real

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._real
        module.__loader__ = self._real
        self._real.exec_module(module)
        import anymetal  # noqa: F401
