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
from typing import Any

import llvmlite.binding as llvm

from anymetal.errors import UnsupportedFeatureError
from anymetal.frontend.defined import define_semantics
from anymetal.ir.calls import plain_name
from anymetal.ir.problem import Problem

KERNEL = "__am_kernel"
THREADGROUP_PREFIX = "threadgroup."

_FUNCTION = re.compile(r"^define .*?^}$", re.M | re.S)
_HEAD = re.compile(r"^define (.*?)@(\"[^\"]+\"|[\w.$]+)\(", re.M)
_ANNOTATION_STRING = re.compile(r'^(@[\w.]+) = .*c"threadgroup\\00"', re.M)
_VARIABLE = re.compile(
    r"^ *call void @llvm\.var\.annotation\S*\(ptr ([%@][\w.]+|[%@]\"[^\"]+\"), ptr (@[\w.]+),.*$",
    re.M,
)
_POINTER = re.compile(
    r"^( *%[\w.]+ =) call ptr @llvm\.ptr\.annotation\S*\(ptr (\S+), ptr @.*$", re.M
)
_LOOP_HINT = re.compile(r"^(!\d+ = distinct !\{!\d+)(.*)\}$", re.M)
_CROSS_LANE = re.compile(
    r"^(declare .*@__am_(?:shuffle|ballot|reduce_\w+|scan_\w+|xscan_\w+)\(.*\)).*$", re.M
)


def optimise(raw: str, large: bool = False) -> str:
    """Optimised LLVM IR text of `__am_kernel` out of Clang's raw output.

    `large` says that arrays may have 2^31 elements or more (see defined.py).
    Raises UnsupportedFeatureError for what cannot become one function (recursion, calls of
    unknown functions are found later, by the reader).
    """
    _refuse_recursion(raw)
    _refuse_static(raw)
    module = llvm.parse_assembly(prepare(raw, large))
    _run_passes(module)
    return str(module)


def prepare(raw: str, large: bool) -> str:
    """The text edits of the module docstring."""
    annotations = set(_ANNOTATION_STRING.findall(raw))
    variables: list[str] = []

    def function(match: re.Match[str]) -> str:
        return _prepare_function(match.group(0), annotations, variables)

    text = define_semantics(_FUNCTION.sub(function, raw), large)
    text = _CROSS_LANE.sub(
        r"\1 convergent nounwind willreturn memory(inaccessiblemem: readwrite)", text
    )
    # A kernel that loops for ever must do so (and be stopped by Ctrl-C), not be deleted.
    text = re.sub(r"\bmustprogress ", "", text).replace("llvm.loop.mustprogress", "am.loop")
    # Run-time unrolling of scalar loops would only be in the way of the vectorizer.
    no_unroll = f"!{_next_metadata(text)}"
    text = _LOOP_HINT.sub(rf"\1\2, {no_unroll}}}", text)
    text += f'\n{no_unroll} = !{{!"llvm.loop.unroll.runtime.disable"}}\n'
    return text + "\n".join(variables) + "\n"


def _next_metadata(text: str) -> int:
    return 1 + max((int(n) for n in re.findall(r"^!(\d+) =", text, re.M)), default=-1)


def _prepare_function(text: str, annotations: set[str], variables: list[str]) -> str:
    head = _HEAD.match(text)
    assert head, text[:200]
    if head.group(2) != KERNEL:
        text = text.replace(head.group(0), f"define internal {_plain(head)}@{head.group(2)}(", 1)
        first, rest = text.split("\n", 1)
        first = re.sub(r" comdat(\(\$\S+\))?", "", first)
        first = re.sub(r"\) (?:(?:local_)?unnamed_addr )?(?=[^)]*\{$)", ") alwaysinline ", first)
        text = f"{first}\n{rest}"
    text = _POINTER.sub(r"\1 getelementptr i8, ptr \2, i64 0", text)
    for variable, string in _VARIABLE.findall(text):
        if string in annotations:
            text = _hoist_variable(text, variable, variables)
    return _VARIABLE.sub("", text)


def _plain(head: re.Match[str]) -> str:
    """Return type and parameter attributes of a definition, without linkage words."""
    words = r"\b(dso_local|linkonce_odr|weak_odr|internal|external|available_externally|hidden) "
    return re.sub(words, "", head.group(1))


def _hoist_variable(text: str, variable: str, variables: list[str]) -> str:
    """Turn an annotated stack variable that is no pointer into threadgroup memory."""
    pattern = re.compile(rf"^ *{re.escape(variable)} = alloca (.*), align (\d+).*\n", re.M)
    alloca = pattern.search(text)
    if alloca is None or alloca.group(1) == "ptr":
        return text
    name = f'@"{THREADGROUP_PREFIX}{len(variables)}.{variable.strip("%").strip(chr(34))}"'
    variables.append(f"{name} = external global {alloca.group(1)}, align {alloca.group(2)}")
    text = pattern.sub("", text)
    text = re.sub(
        rf"^.*@llvm\.lifetime\.\w+\.p0\(ptr {re.escape(variable)}\).*\n", "", text, flags=re.M
    )
    return re.sub(rf"{re.escape(variable)}(?![\w.\"$-])", name, text)


def _refuse_recursion(raw: str) -> None:
    """Metal has no recursion in kernels that MLX can launch, and inlining would not end."""
    calls: dict[str, set[str]] = {}
    for match in _FUNCTION.finditer(raw):
        head = _HEAD.match(match.group(0))
        if head:
            body = match.group(0)[head.end() :]
            calls[head.group(2)] = set(re.findall(r"call [^@\n]*@(\"[^\"]+\"|[\w.$]+)\(", body))
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            cycle = " -> ".join(plain_name(n) for n in (*path[path.index(name) :], name))
            raise UnsupportedFeatureError(
                f"recursion is not supported in a kernel: {cycle}. Rewrite it as a loop."
            )
        if name in done or name not in calls:
            return
        for callee in calls[name]:
            visit(callee, (*path, name))
        done.add(name)

    visit(KERNEL, ())


def _refuse_static(raw: str) -> None:
    """Variables that outlive a thread would be shared by all of them, on all workers."""
    found = re.search(r"^@([\w.$]+) = (?!external)[\w ()]*\bglobal\b", raw, re.M)
    if found:
        name = plain_name(found.group(1))
        raise UnsupportedFeatureError(
            f"`{name}` is a static or program-scope variable: Metal allows only `constant` there. "
            "Use a local variable, threadgroup memory, or make it `constant`."
        )


@functools.cache
def _machine() -> Any:
    # Stores at the ends of two branches must not become one store through a selected pointer: that
    # would be a scatter, and could move what returning threads write behind a barrier.
    llvm.set_option("anymetal", "-sink-common-insts=false")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(opt=2)


def _run_passes(module: Any) -> None:
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_vectorization = False
    tuning.slp_vectorization = False
    tuning.loop_interleaving = False
    tuning.loop_unrolling = True
    builder = llvm.create_pass_builder(_machine(), tuning)
    first = llvm.create_new_module_pass_manager()
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
