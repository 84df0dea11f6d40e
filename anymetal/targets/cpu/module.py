"""The LLVM module of a kernel: the functions of its gangs, the entry, and what they refer to."""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.emission.emitter import constant_tables
from anymetal.ir.calls import BARRIER, LOG
from anymetal.pipeline.driver import run
from anymetal.simd import questions
from anymetal.simd.code import shared
from anymetal.simd.code.coroutine import DECLARATIONS
from anymetal.simd.emit.gang import GangFunction
from anymetal.simd.emit.runtime_calls import kernel_name
from anymetal.targets.cpu.entry import HAND_OVER, entry_function
from anymetal.targets.cpu.pipeline import PASSES, GangCompilation

#: stackrealign: vectors that LLVM keeps on the stack lie in whole cache lines.
#: null_pointer_is_valid: LLVM must not drop accesses to null, as they have to be reported.
#: reciprocal-estimates: those of 1 / sqrt(x) are NaN at 0 and infinity, in no math mode of Metal's.
_ATTRIBUTES = """\
attributes {} = {{ nounwind null_pointer_is_valid "stackrealign" "probe-stack"="inline-asm" \
"min-legal-vector-width"="512" "prefer-vector-width"="512" \
"reciprocal-estimates"="!sqrtf,!vec-sqrtf" {}}}"""
_METADATA = """\
!0 = !{}
!1 = !{i32 1}
"""
#: Declarations that the entry needs.
_EXTREMES = {
    f"llvm.{name}.i32": f"declare i32 @llvm.{name}.i32(i32, i32)" for name in ("umin", "umax")
}


def vector_ir(c: GangCompilation) -> str:
    """LLVM IR of the module for one class of launches, before LLVM's optimisation."""
    with c.stages.stage("vectorizer"):
        run(PASSES, c)
        return _module(c)


def _module(c: GangCompilation) -> str:
    variant, known = c.variant, c.known
    suspends = c.program.calls(BARRIER) and not c.alone  # gangs wait for each other
    marks = c.stages.marks() or c.lines
    if c.lines:
        c.lines.apart = suspends
    functions = [
        GangFunction(known, name, masked=masked, suspends=suspends, team=c.team, marks=marks)
        for name, masked, wanted in (
            ("gang.full", False, variant.full),
            ("gang.partial", True, variant.partial),
        )
        if wanted
    ]
    c.stages.vectorized(functions)
    sums, streamed = known(questions.privatised_sums), known(questions.streamed_bytes)
    declarations: dict[str, str] = {}
    for function in functions:
        declarations.update(function.w.declarations)
    for name in {HAND_OVER[one.type] for one in sums.values()}:
        declarations[name] = f"declare hidden void @{name}(ptr, ptr, i64, ptr, ptr)"
    if streamed:
        declarations["llvm.x86.sse.sfence"] = "declare void @llvm.x86.sse.sfence()"
    entry = entry_function(c, suspends, streamed=streamed // c.team, sums=sums)
    texts = [*(function.text for function in functions), entry]
    text = module_text(known, declarations, texts, suspends=suspends)
    return marks.declared(text) if marks else text


def module_text(
    known: Analyses,
    declarations: dict[str, str],
    functions: list[str],
    *,
    suspends: bool,
) -> str:
    """The module of these functions. `suspends`: some of them are coroutines."""
    program = known.program
    declarations = {**_EXTREMES, **declarations}
    if suspends:
        declarations["llvm.ptrmask.p0.i64"] = "declare ptr @llvm.ptrmask.p0.i64(ptr, i64)"
    inlining = shared.inlining("".join(functions))
    return "\n".join(
        [
            f'target triple = "{known.machine.triple}"',
            *constant_tables(program),
            *declarations.values(),
            DECLARATIONS if suspends else "",
            kernel_name(program.name) if program.calls(LOG) else "",
            *functions,
            _ATTRIBUTES.format("#0", ""),
            *([_ATTRIBUTES.format(shared.ATTRIBUTES, inlining)] if inlining else []),
            _METADATA,
        ]
    )
