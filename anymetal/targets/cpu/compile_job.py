"""From a kernel to a shared library: what a helper process is started for.

Clang reads the kernel first, as a process of its own. Meanwhile everything else is imported, which
is nearly all that a helper has to import.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from anymetal import debug
from anymetal.errors import AnyMetalError, CompilerError
from anymetal.frontend.batch import Raw, compile_batch
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.complaints import Complaint, noted
from anymetal.pipeline.stages import Times
from anymetal.runtime import locks, zig
from anymetal.source import KernelSource, LibrarySource
from anymetal.targets.cpu.front_end_profile import profile_for
from anymetal.targets.cpu.reporting import GangStages
from anymetal.targets.cpu.variant import Variant

if TYPE_CHECKING:
    from anymetal.ir.model import Program
    from anymetal.ir.spec import Stage
    from anymetal.pipeline.inspection import Inspector

_RESTRICTIONS = "anymetal.frontend.restrictions"  # which the front end asks first
_COMPILER = "anymetal.targets.cpu.compiler"


#: A note about a compilation: how long it took, or a text with its name.
Note = Times | tuple[str, str]


def build(
    note: Callable[[Note], None], source: KernelSource, variant: Variant, wanted: debug.Wanted
) -> bytes:
    """The library of a kernel, which exports what `compile_kernel` says; raises what that does.

    `note` gets what `ANYMETAL_DEBUG` asks for.
    """
    stages = _Told(note, wanted)
    try:
        if _COMPILER not in sys.modules:
            importing = threading.Thread(target=_import_compiler, daemon=True)
            zig.meanwhile.append(importing.start)
        with stages.stage("front end"):
            heard: list[Complaint] = []
            raw = compile_to_ir(source, profile_for(variant.cpu), heard)
        made: bytes = _import_compiler().compile_kernel(source, variant, stages, raw, noted(heard))
        return made
    finally:
        note(Times(stages.times, stages.passes))


#: A kernel's place among those of a request, a version of it, and machine code or an error.
Made = tuple[int, Variant, "bytes | AnyMetalError"]


def build_batch(
    note: Callable[[Made], None], wanted: Sequence[tuple[LibrarySource, Sequence[Variant]]]
) -> None:
    """Tells `note` of each version of each kernel as soon as it is made."""
    compiler = _import_compiler()
    profile = profile_for(wanted[0][1][0].cpu)
    raws = compile_batch([source for source, _ in wanted], profile)
    for place, ((source, variants), raw) in enumerate(zip(wanted, raws, strict=True)):
        for variant in variants:
            note((place, variant, _made(compiler, source, variant, raw)))
        gc.collect()  # a helper does so behind a request only


def _made(
    compiler: Any, source: LibrarySource, variant: Variant, raw: Raw | AnyMetalError
) -> bytes | AnyMetalError:
    if isinstance(raw, AnyMetalError):
        return raw
    try:
        made: bytes = compiler.compile_kernel(source, variant, None, raw.ir, noted(raw.heard))
        return made
    except AnyMetalError as error:
        return error
    except Exception as error:  # a mistake of ours in this kernel: the others can be made
        return CompilerError(source.name, f"{type(error).__name__}: {error}")


def _import_compiler() -> Any:
    with locks.llvm:  # no fork while it is imported
        import_module(_RESTRICTIONS)
        return import_module(_COMPILER)


class _Told(GangStages):
    def __init__(self, note: Callable[[Note], None], wanted: debug.Wanted) -> None:
        super().__init__(wanted)
        self._note = note
        self._inspector: Inspector | None = None

    def made(self, what: str, text: Callable[[], str]) -> None:
        if self.wanted.shows(what):
            self._note((what, text()))

    def passed(self, name: str, program: Program, stage: Stage, changed: bool) -> None:
        if not self.wanted.of_passes:
            return
        from anymetal.pipeline import inspection  # only whoever asks waits for it

        if self.wanted.check and changed:
            inspection.check_behind(name, program, stage)
        if self._inspector is None:
            self._inspector = inspection.Inspector(
                self.wanted, lambda what, text: self._note((what, text))
            )
        self._inspector.passed(name, program)
