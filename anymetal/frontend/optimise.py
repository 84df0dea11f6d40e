"""Raw LLVM IR from Clang to the optimised IR of one thread, with every call inlined.

Clang is used as a front end only (`-disable-llvm-passes`): before any optimisation, the text is
prepared for what LLVM does not know about Metal:

* threadgroup variables become globals. As stack variables of one thread LLVM would delete stores
  that only other threads read, and treat what others wrote as undefined;
* cross-lane functions read and write "inaccessible memory", so that no two calls are merged and
  none is moved into, or out of, control flow (readnone convergent calls may still be merged);
* every function is inlined, whatever its size, because the vectorizer sees one function;
* what C++ leaves undefined gets Metal's meaning (see defined.py).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

import llvmlite.binding as llvm

from anymetal.frontend import (
    convergence,
    index_overflow,
    observed,
    undefined,
    wrong_operands,
)
from anymetal.frontend.defined import define_semantics
from anymetal.frontend.known import Known, limits_of, with_known
from anymetal.frontend.profile import ANY_PROFILE, Profile
from anymetal.ir.calls import IN_THREADGROUP
from anymetal.ir.problem import Problem
from anymetal.ir.sizes import MAX_THREADS_PER_THREADGROUP
from anymetal.runtime import locks

KERNEL = "__am_kernel"
UNROLL, UNROLL_COUNT = "llvm.loop.unroll.full", "llvm.loop.unroll.count"
_HINT = re.compile(rf"{UNROLL}|{UNROLL_COUNT}")
THREADGROUP_PREFIX = "threadgroup."

#: Options that keep LLVM from what is bad for programs of lanes, here and in code generation.
OPTIONS = (
    # Stores at the ends of two branches must not become one store through a selected pointer: that
    # would be a scatter, and could move what returning threads write behind a barrier.
    "-sink-common-insts=false",
    # Nor shall a value that some way to here has computed already become a phi: computing it again
    # is cheaper than blending it, and leaves the form of addresses in sight (simd/access/tiles.py).
    "-enable-pre=false",
    # Nor shall blocks be doubled so that a later branch can be left out: lanes that come by
    # different ways would meet later, and by then have computed uniform values apart.
    "-jump-threading-threshold=0",
    # Nor shall a loop that copies a private array become a memcpy of unknown length: the array
    # could then not be stored lane by lane interleaved, and all accesses to it would be gathers.
    "-disable-loop-idiom-memcpy",
    # Loops may be unrolled to nearly the size that O3 allows (300, at which inner loops disappear
    # that SIMD-groups could share loads in): private arrays become registers, and what walks
    # through memory becomes neighbours (simd/access/groups.py).
    "-unroll-threshold=250",
    # Of two short sides of a branch, min(a, b) and max(a, b), say, both are computed: lanes that do
    # not agree do both anyway, one after the other.
    "-two-entry-phi-node-folding-threshold=12",
)

_FUNCTION = re.compile(r"^define .*?^}$", re.M | re.S)
_HEAD = re.compile(r"^define (.*?)@(\"[^\"]+\"|[\w.$]+)\(", re.M)
# Lines of a module are looked for by the newline in front of them: with `^`, Python's `re` takes
# ten times as long. The first line is none of these.
_ANNOTATION_STRING = re.compile(r'\n(@[\w.]+) = .*c"threadgroup\\00"')
_VARIABLE = re.compile(
    r"^ *call void @llvm\.var\.annotation\S*\(ptr ([%@][\w.]+|[%@]\"[^\"]+\"), ptr (@[\w.]+),.*\n",
    re.M,
)
_POINTER = re.compile(
    r"^( *%[\w.]+ =) call ptr @llvm\.ptr\.annotation\S*\(ptr (\S+), ptr @.*$", re.M
)
_ATTRIBUTES = re.compile(r"\nattributes #\d+ = .*")
_UNWANTED = re.compile(r' (?:\b(?:noinline|optnone|mustprogress)\b|"target-(?:cpu|features)"=\S+)')
#: `threadgroup float* p`, `threadgroup float* p[2]`: pointers to such memory, which are no such.
_POINTERS = re.compile(r"(?:\[\d+ x )*ptr\]*")
#: Features by which the optimiser judges what costs how much. Without them it takes a conversion of
#: half for a call that costs as much as 60 instructions, and unrolls no loop that has one.
_COSTS = {"x86_64": "+f16c"}
_LOOP_HINT = re.compile(r"(\n!\d+ = distinct !\{!\d+)(.*)\}$", re.M)
_CROSS_LANE = re.compile(rf"(\ndeclare .*@{convergence.CROSS_LANE}\(.*\)).*")
_POSITION = re.compile(r"(\ndeclare .*)(i32 @(__am_(?:lane|gang|thread_.|group_.))\()")


def optimise(
    raw: str,
    large: int = 0,
    profile: Profile = ANY_PROFILE,
    sanitized: bool = False,
    known: Known | None = None,
    threads: int = MAX_THREADS_PER_THREADGROUP,
) -> str:
    """Optimised LLVM IR text of `__am_kernel` out of Clang's raw output.

    `large`: how many times 2^31 bytes the largest array has (see indices.py). `sanitized`: with
    markers of what it does (observed.py, wrong_operands.py, index_overflow.py). `known`: what is
    known of the launches (known.py). `threads`: of a threadgroup, at most. What cannot become one
    function, such as recursion, has been refused before (see restrictions.py).
    """
    limits = limits_of(known, threads)
    with locks.llvm:
        if known:
            raw = with_known(raw, known)
        if sanitized:
            raw = wrong_operands.with_checks(raw)
        text = _optimised(prepare(raw, large, limits), profile, sanitized)
        if not convergence.at_risk(raw, text):
            return text
        raw = convergence.marked(raw)
        simplified = _simplified(prepare(raw, large, limits), profile)
        held = convergence.doubtful(raw, simplified, text)

        def prepared(held: set[convergence.Escape]) -> str:
            return prepare(convergence.held(raw, held), large, limits)

        return convergence.settled(_converging(prepared, held, profile, sanitized))


def unrolled(text: str, profile: Profile) -> str:
    """Optimised IR whose loops with hints are unrolled, optimised once more.

    It stays as it is if cross-lane calls would leave their loops by that.
    """
    with locks.llvm:
        module, machine = llvm.parse_assembly(text), host_machine(profile)
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
        passes = llvm.create_new_module_pass_manager()
        passes.add_loop_unroll_pass()
        passes.run(module, builder)
        # LLVM would print a warning for each hint that is left.
        left = _HINT.sub("am.was_not_unrolled", str(module))
        module = llvm.parse_assembly(left)
        _run_passes(module, machine)
        result = str(module)
        return text if convergence.escapes(result) - convergence.escapes(text) else result


def _converging(
    prepared: Callable[[set[convergence.Escape]], str],
    held: set[convergence.Escape],
    profile: Profile,
    sanitized: bool,
) -> str:
    """The program with all cross-lane calls in their loops (convergence.py)."""
    while True:
        found = convergence.escapes(_simplified(prepared(held), profile))
        if found & held:
            line = min(found & held).call.line
            raise Problem(f"a cross-lane call in line {line} does not stay in its loop")
        if not found:
            text = _optimised(prepared(held), profile, sanitized)
            # Those that are held may be in copies of the loop that are none any more.
            found = convergence.escapes(text) - held
            if not found:
                return text
        held |= found


def _optimised(text: str, profile: Profile, sanitized: bool) -> str:
    if sanitized:
        text = index_overflow.with_checks(_as_one(undefined.mark_undefined(text), profile))
        text = observed.with_accesses(text)
    module = llvm.parse_assembly(text)
    _run_passes(module, host_machine(profile))
    return str(module)


def _as_one(text: str, profile: Profile) -> str:
    """The program as one function whose variables are values; nothing else is optimised."""
    module = llvm.parse_assembly(text)
    builder = llvm.create_pass_builder(host_machine(profile), llvm.create_pipeline_tuning_options())
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)
    return str(module)


def _simplified(text: str, profile: Profile) -> str:
    """The program as one function without needless branches, but with all loops of the text."""
    module = llvm.parse_assembly(text)
    builder = llvm.create_pass_builder(host_machine(profile), llvm.create_pipeline_tuning_options())
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    for _ in range(2):
        passes.add_instruction_combine_pass()
        passes.add_new_gvn_pass()
        passes.add_simplify_cfg_pass()
    passes.run(module, builder)
    return str(module)


def prepare(raw: str, large: int, limits: Mapping[str, int] = IN_THREADGROUP) -> str:
    """The module with the edits that the module docstring lists.

    `limits`: how many values a position has at most, by the function that gives it."""
    annotations = set(_ANNOTATION_STRING.findall(raw))
    variables: list[str] = []

    def function(match: re.Match[str]) -> str:
        return _prepare_function(match.group(0), annotations, variables)

    text = define_semantics(_FUNCTION.sub(function, raw), large)
    text = _CROSS_LANE.sub(
        r"\1 convergent nounwind willreturn memory(inaccessiblemem: readwrite)", text
    )
    # With their ranges known, arithmetic of `short` becomes that of `int`, which is not cut short.
    text = _POSITION.sub(functools.partial(_with_range, limits), text)
    # A user's `noinline` would contradict `alwaysinline`, on which LLVM gives up the process. A
    # kernel that loops for ever must do so (and be stopped by Ctrl-C), not be deleted. Features are
    # those of `host_machine`.
    text = _ATTRIBUTES.sub(lambda match: _UNWANTED.sub("", match[0]), text)
    text = text.replace("llvm.loop.mustprogress", "am.loop")
    # Run-time unrolling of scalar loops would only be in the way of the vectorizer.
    no_unroll = f"!{next_metadata(text)}"
    text = _LOOP_HINT.sub(rf"\1\2, {no_unroll}}}", text)
    text += f'\n{no_unroll} = !{{!"llvm.loop.unroll.runtime.disable"}}\n'
    return text + "\n".join(variables) + "\n"


def _with_range(limits: Mapping[str, int], match: re.Match[str]) -> str:
    limit = limits.get(match[3], 0)  # none is known, or all numbers of 32 bits are below it
    return f"{match[1]}range(i32 0, {limit}) {match[2]}" if 0 < limit < 2**32 else match[0]


def next_metadata(text: str) -> int:
    """The first number that no metadata of a module has."""
    return 1 + max((int(n) for n in re.findall(r"\n!(\d+) =", text)), default=-1)


def _prepare_function(text: str, annotations: set[str], variables: list[str]) -> str:
    head = _HEAD.match(text)
    assert head, text[:200]
    if head.group(2) != KERNEL:
        text = text.replace(head.group(0), f"define internal {_plain(head)}@{head.group(2)}(", 1)
        first, rest = text.split("\n", 1)
        first = re.sub(r" comdat(\(\$\S+\))?", "", first)
        first = re.sub(r"\) (?:(?:local_)?unnamed_addr )?(?=[^)]*\{$)", ") alwaysinline ", first)
        text = f"{first}\n{rest}"
    if "@llvm.ptr.annotation" in text:
        text = _POINTER.sub(r"\1 getelementptr i8, ptr \2, i64 0", text)
    if "@llvm.var.annotation" not in text:
        return text
    found: dict[tuple[str, str], None] = {}

    def once(match: re.Match[str]) -> str:
        """However often the word was written, as later steps would compare each with all."""
        known = len(found)
        found.setdefault((match[1], match[2]))
        return match[0] if len(found) > known else ""

    text = _VARIABLE.sub(once, text)
    for variable, string in found:
        if string in annotations:
            text = _hoist_variable(text, variable, variables)
    return _VARIABLE.sub("", text)


def _plain(head: re.Match[str]) -> str:
    """Return type and parameter attributes of a definition, without linkage words."""
    words = r"\b(dso_local|linkonce_odr|weak_odr|internal|external|available_externally|hidden) "
    return re.sub(words, "", head.group(1))


def _unconstructed(text: str, variable: str) -> str:
    """Without the call of a constructor for a variable, or for each element of an array: threads
    would make it anew one after the other, and Metal leaves threadgroup memory as it is."""
    annotated = r"^.*@llvm\.var\.annotation.*\n"
    elements = (
        rf"  %\S+ = getelementptr .*, ptr {re.escape(variable)}, .*\n.*\n"
        r"  br label %(?P<loop>[\w.]+).*\n\n(?P=loop):.*\n  %\S+ = phi .*\n"
    )
    this = rf"(?:{re.escape(variable)}|%arrayctor\.cur\d*)"
    constructor = rf"  call void @\S*C[12]E[^(]*\(ptr [^%@]*{this}[,)].*\n"
    pattern = rf"(?P<kept>(?:{annotated})+(?:{elements})?){constructor}"
    return re.sub(pattern, r"\g<kept>", text, flags=re.M)


def _hoist_variable(text: str, variable: str, variables: list[str]) -> str:
    """Turn an annotated stack variable that is no pointer into threadgroup memory."""
    pattern = re.compile(rf"^ *{re.escape(variable)} = alloca (.*), align (\d+).*\n", re.M)
    alloca = pattern.search(text)
    if alloca is None or _POINTERS.fullmatch(alloca.group(1)):
        return text
    name = f'@"{THREADGROUP_PREFIX}{len(variables)}.{variable.strip("%").strip(chr(34))}"'
    variables.append(f"{name} = external global {alloca.group(1)}, align {alloca.group(2)}")
    text = pattern.sub("", _unconstructed(text, variable))
    text = re.sub(
        rf"^.*@llvm\.lifetime\.\w+\.p0\(ptr {re.escape(variable)}\).*\n", "", text, flags=re.M
    )
    return re.sub(rf"{re.escape(variable)}(?![\w.\"$-])", lambda _: name, text)


@functools.cache
def _set_options() -> None:
    for option in OPTIONS:
        llvm.set_option("anymetal", option)


@functools.cache
def host_machine(profile: Profile) -> Any:
    _set_options()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(profile.triple)
    features = ",".join(filter(None, (profile.features, _COSTS.get(profile.architecture))))
    return target.create_target_machine(cpu=profile.cpu, features=features, opt=2)


def _run_passes(module: Any, machine: Any) -> None:
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_vectorization = False
    tuning.slp_vectorization = False
    tuning.loop_interleaving = False
    tuning.loop_unrolling = True
    builder = llvm.create_pass_builder(machine, tuning)
    first = llvm.create_new_module_pass_manager()
    first.add_sroa_pass()  # before functions are copied, which are shorter by then
    first.add_always_inliner_pass()
    first.run(module, builder)
    builder.getModulePassManager().run(module, builder)
    # The shape that the vectorizer wants: no switches, one return, loops in canonical form.
    last = llvm.create_new_module_pass_manager()
    last.add_lower_switch_pass()
    last.add_unify_function_exit_nodes_pass()
    last.add_loop_simplify_pass()
    last.add_lcssa_pass()
    last.add_global_dead_code_eliminate_pass()
    last.run(module, builder)
    try:
        module.verify()
    except RuntimeError as error:
        raise Problem(f"LLVM rejects the thread program: {error}") from error
