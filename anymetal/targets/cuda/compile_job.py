"""From a kernel to PTX: what a helper process is started for."""

from __future__ import annotations

from collections.abc import Callable

from anymetal.frontend.known import Known
from anymetal.source import KernelSource
from anymetal.targets.cuda import compiler
from anymetal.targets.cuda.names import Form


def build(
    note: Callable[[object], None],
    source: KernelSource,
    architecture: str,
    form: Form,
    large: int,
    known: Known | None,
) -> tuple[str, str]:
    """LLVM IR and PTX of a kernel; raises what the compiler does. There is nothing to note."""
    ir = compiler.llvm_ir(source, architecture, form, large, known=known)
    return ir, compiler.ptx(ir, architecture)
