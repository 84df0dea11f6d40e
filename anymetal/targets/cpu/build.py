"""From a kernel to a shared library, in whatever process: this is what a helper is asked for.

The front end is of Clang's making, so it starts first, and what the rest needs is imported
meanwhile: nearly all that a helper has to import.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

from anymetal import debug
from anymetal.frontend.clang import compile_to_ir
from anymetal.runtime import turns, zig
from anymetal.source import KernelSource
from anymetal.targets.cpu.stages import Stages
from anymetal.targets.cpu.variant import Variant

_RESTRICTIONS = "anymetal.frontend.restrictions"  # which the front end asks first
_COMPILER = "anymetal.targets.cpu.compiler"

#: What a follower of a compilation is told: the times of its stages, or a text and its name.
Note = dict[str, float] | tuple[str, str]


def build(
    note: Callable[[Note], None], source: KernelSource, variant: Variant, level: int
) -> bytes:
    """The library of a kernel, which exports what `compile_kernel` says; raises what that does.

    `level` of `ANYMETAL_DEBUG`: `note` is told what it asks for.
    """
    stages = _Told(note, level)
    try:
        if _COMPILER not in sys.modules:
            importing = threading.Thread(target=_import_compiler, daemon=True)
            zig.meanwhile.append(importing.start)
        with stages.stage("front end"):
            raw = compile_to_ir(source)
        code = _import_compiler().compile_kernel(source, variant, stages, raw)
        with stages.stage("link"):
            return zig.link_shared(code)
    finally:
        note(stages.times)


def _import_compiler() -> Any:
    with turns.llvm:  # nobody shall fork while it is imported
        import_module(_RESTRICTIONS)
        return import_module(_COMPILER)


class _Told(Stages):
    def __init__(self, note: Callable[[Note], None], level: int) -> None:
        super().__init__()
        self._note, self.level = note, level

    def made(self, what: str, text: Callable[[], str]) -> None:
        if self.level >= debug.LEVELS[what]:
            self._note((what, text()))
