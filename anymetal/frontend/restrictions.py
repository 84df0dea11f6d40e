"""What Metal or AnyMetal refuses and only Clang's output shows, with its place in the user's text:
recursion, functions without a body, variables that outlive a thread, threadgroup variables outside
of the kernel function, atomic variables of one thread.

The raw IR has the facts, as names are resolved and templates are functions there. The line table
has the places; those of variables are found among the words of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from anymetal.errors import AnyMetalError, MetalCompileError, UnsupportedFeatureError
from anymetal.frontend import constants
from anymetal.frontend.forbidden import Finding, reason_for
from anymetal.frontend.line_table import Places
from anymetal.frontend.metal_tokens import Token, tokenize
from anymetal.frontend.reducible import Tangled, reducible
from anymetal.frontend.storage import OUTSIDE_OF_KERNEL, PROGRAM_SCOPE, STATIC
from anymetal.frontend.unit import KERNEL_SYMBOL
from anymetal.ir.calls import is_known, plain_name
from anymetal.ir.tokens import plain
from anymetal.source import KernelSource

_NAME = r"[\w.$]+|\"[^\"]+\""
_FUNCTION = re.compile(r"^define .*?@(\"[^\"]+\"|[\w.$]+)\(.*?^}$", re.M | re.S)
_CALL = re.compile(
    r"\bcall [^@\n]*@(?P<callee>\"[^\"]+\"|[\w.$]+)\((?P<rest>.*?)(?:, !dbg (?P<place>!\d+))?$",
    re.M,
)
_GLOBAL = re.compile(rf"^@(?P<name>{_NAME}) = (?!external)[\w ()]*\bglobal\b", re.M)
_ELSEWHERE = re.compile(rf"^@(?P<name>{_NAME}) = external [\w ()]*\b(?:global|constant)\b", re.M)
#: Memory of the stack that is asked for while the kernel runs; the address of a label.
_GROWS = re.compile(r" = alloca .*, i64 [%\d].*?(?:!dbg (!\d+))?$", re.M)
_LABEL = re.compile(r"\bblockaddress\(.*?(?:!dbg (!\d+))?$", re.M)
_ASSEMBLY = re.compile(r"^module asm |\bcall [^@\n]*\basm\b", re.M)
_DELETE = re.compile(r"_Zd[la]")
_TEXTURE = "4__am7texture"  #: all functions of textures (include/anymetal/texture.h), mangled
_ANNOTATION = "llvm.var.annotation"
#: Types that are atomic, or have an atomic part, and variables of such types.
_ATOMIC = r'%"struct\.metal::atomic[\w.]*"'
_TYPE = re.compile(rf"^(?P<name>%(?:{_NAME})) = type (?P<parts>.*)$", re.M)
_VARIABLE = re.compile(r"^ *(?P<name>%[^ ]+) = alloca (?P<type>.*?), align", re.M)
#: Functions of fragments (include/anymetal/texture.h).
_OF_FRAGMENTS = frozenset(
    f"metal::{name}" for name in ("discard_fragment", "dfdx", "dfdy", "fwidth")
)
_TRAPS = frozenset({"llvm.trap", "llvm.debugtrap", "llvm.ubsantrap"})
_CONSTRAINED = "llvm.experimental.constrained."
_OWN = ("__am_", "llvm.")


PRIVATE_ATOMIC = (
    "'{}' is in thread memory, for which Metal has no atomic functions: each thread has one of its "
    "own. If the threads of a threadgroup shall share it, write `threadgroup` in front"
)


class _Call(NamedTuple):
    callee: str
    operands: str
    place: str  #: its line table entry, "" for calls in our headers


def check(source: KernelSource, ir: str) -> None:
    """Raises an error for the first such thing in the raw IR of the kernel: UnsupportedFeatureError
    for recursion, which Metal has and AnyMetal lacks, else MetalCompileError."""
    places = Places(source, ir)
    for match in _GLOBAL.finditer(ir):
        if not plain(match["name"]).startswith(_OWN):
            raise _outliving(source, match["name"])
    if "asm " in ir and _ASSEMBLY.search(ir):  # whatever its spelling in the text
        raise MetalCompileError(source.name, f"error: {reason_for('asm')}")
    functions = {match[1]: match[0] for match in _FUNCTION.finditer(ir)}
    calls: dict[str, list[_Call]] = {}
    _follow(KERNEL_SYMBOL, functions, calls, places)
    kernels = {call.callee for call in calls[KERNEL_SYMBOL]}
    elsewhere = [match["name"] for match in _ELSEWHERE.finditer(ir)]
    atomic = _atomic_types(ir)
    for name, made in calls.items():
        for call in made:
            if call.callee.startswith(_ANNOTATION):
                variable = call.operands.removeprefix("ptr ").split(",")[0]
                if name not in kernels and _is_memory(variable, functions[name]):
                    raise places.error(
                        call.place,
                        OUTSIDE_OF_KERNEL.format(plain(variable)),
                    )
            elif call.callee.startswith(_CONSTRAINED):
                raise places.error(
                    call.place,
                    "Metal has one floating-point environment: rounding modes and exceptions can "
                    "neither be set nor asked for",
                )
            elif call.callee in _TRAPS:
                raise places.error(call.place, "a kernel cannot trap: Metal has no such function")
            elif call.place and call.callee not in functions and not is_known(call.callee):
                raise places.error(call.place, _undefined(call.callee))
        if atomic and (private := _private(functions[name], atomic)):
            raise places.error(
                _first_use(private, functions[name]), PRIVATE_ATOMIC.format(plain(private[1:]))
            )
        for variable in elsewhere:
            use = rf"@{re.escape(variable)}(?![\w.$]).*?(?:!dbg (!\d+))?$"
            if found := re.search(use, functions[name], re.M):
                raise places.error(
                    found[1] or "",
                    f"variable '{plain_name(variable)}' is declared, but the kernel's text "
                    "does not define it",
                )
        if grows := _GROWS.search(functions[name]):
            raise places.error(grows[1] or "", "an array must have a fixed size: there is no heap")
        if label := _LABEL.search(functions[name]):
            raise places.error(label[1] or "", "the address of a label cannot be taken in Metal")
        if entries := constants.without_value(functions[name]):
            raise places.error(
                entries[0],
                "the value of a constant expression here is undefined: it divides by zero, shifts "
                "by more bits than there are, or is too large for its type",
            )


def untangled(source: KernelSource, ir: str) -> str:
    """The raw IR without loops that are entered in several places.

    Raises UnsupportedFeatureError for one that cannot be taken apart.
    """
    try:
        return reducible(ir)
    except Tangled as tangled:
        place = Places(source, ir).name(f"!{tangled.place}")
        raise UnsupportedFeatureError(
            f"{place}a `switch` that jumps into this loop is not supported. Write the first "
            "iteration in front of the loop."
        ) from None


def _follow(
    name: str,
    functions: dict[str, str],
    calls: dict[str, list[_Call]],
    places: Places,
) -> None:
    """Collects the calls of a function and of all that it calls."""

    def enter(name: str) -> Iterator[_Call]:
        calls[name] = [
            _Call(match["callee"], match["rest"], match["place"] or "")
            for match in _CALL.finditer(functions[name])
        ]
        return iter(calls[name])

    path = {name: enter(name)}  #: the functions that led here, with the calls still to follow
    while path:
        last = next(reversed(path))
        call = next(path[last], None)
        if call is None:
            del path[last]
        elif call.callee in path:
            way = [*path, call.callee]
            names = " -> ".join(map(plain_name, way[way.index(call.callee) :]))
            raise UnsupportedFeatureError(
                f"{places.name(call.place)}recursion is not supported in a kernel: {names}. "
                "Rewrite it as a loop."
            )
        elif call.callee in functions and call.callee not in calls:
            path[call.callee] = enter(call.callee)


def _is_memory(variable: str, function: str) -> bool:
    """Whether the annotated variable is threadgroup memory, and no pointer to such."""
    alloca = re.search(rf"^ *{re.escape(variable)} = alloca (.*), align", function, re.M)
    return alloca is not None and not re.fullmatch(r"(?:\[\d+ x )*ptr\]*", alloca[1])


def _atomic_types(ir: str) -> re.Pattern[str] | None:
    """What types of variables look like that have an atomic part, if there are any."""
    if "metal::atomic" not in ir:
        return None
    names = [_ATOMIC]
    types = {match["name"]: match["parts"] for match in _TYPE.finditer(ir)}
    while True:
        parts = re.compile(rf"(?:{'|'.join(names)})(?![\w.\"$])")
        found = [name for name, made_of in types.items() if parts.search(made_of)]
        if not found:
            return parts
        for name in found:
            del types[name]
        names += map(re.escape, found)


def _private(function: str, types: re.Pattern[str]) -> str:
    """A variable of such a type that is used and no threadgroup memory, "" if there is none."""
    for variable in _VARIABLE.finditer(function):
        if types.search(variable["type"]):
            name = re.escape(variable["name"])
            shared = rf"@{re.escape(_ANNOTATION)}\S*\(ptr {name},"
            used = rf"^(?!.*@llvm\.lifetime).* {name}(?![\w.$]).*!dbg"
            if re.search(used, function, re.M) and not re.search(shared, function):
                return variable["name"]
    return ""


def _first_use(variable: str, function: str) -> str:
    """The line table entry of the first instruction that has one and this operand."""
    use = re.search(rf" {re.escape(variable)}(?![\w.$]).*?!dbg (!\d+)$", function, re.M)
    return use[1] if use else ""


def _undefined(callee: str) -> str:
    if _DELETE.match(callee):
        return reason_for("delete")
    if _TEXTURE in callee:
        return "textures are not supported: only buffers are. Pass the data as a buffer"
    if plain_name(callee).partition("<")[0] in _OF_FRAGMENTS:
        return f"'{plain_name(callee)}' is for fragment functions; a kernel has no fragments"
    return (
        f"function '{plain_name(callee)}' is called, but it is declared only: Metal has no such "
        "function, and the kernel's text does not define it"
    )


def _outliving(source: KernelSource, symbol: str) -> AnyMetalError:
    """The error about a static or program-scope variable that is no constant."""
    from anymetal.frontend.diagnostics import error_at

    name = plain_name(symbol)
    declared = [
        (part, token, words)
        for part, text in source.parts.items()
        for token, words in _declarations(tokenize(text), name.rpartition("::")[2])
    ]
    local = plain(symbol).startswith("_ZZ")
    declared.sort(key=lambda found: ("static" in found[2]) != local)
    words = declared[0][2] if declared else set()
    if words & {"constant", "constexpr", "const"}:
        text = f"initializer of '{name}' in constant address space is not a constant expression"
    elif local:
        text = STATIC.format(name)
    else:
        text = PROGRAM_SCOPE.format(name)
    if declared:
        part, token, _ = declared[0]
        return error_at(source, [Finding(part, token.start, text)])
    word = re.compile(rf"\b{re.escape(name.rpartition('::')[2])}\b")  # in a macro, say
    for part, written in source.parts.items():
        if found := word.search(written):
            return error_at(source, [Finding(part, found.start(), text)])
    return MetalCompileError(source.name, f"error: {text}")


def _declarations(tokens: list[Token], name: str) -> Iterator[tuple[Token, set[str]]]:
    """Places that look like the declaration of a variable, with the words in front of it."""
    words: set[str] = set()
    for index, token in enumerate(tokens):
        if token.text in (";", "{", "}") or token.kind == "directive":
            words = set()
        elif token.text == name and (words or tokens[index - 1].text == "}"):
            after = tokens[index + 1].text if index + 1 < len(tokens) else ""
            if after in ("=", ";", "[", "{", ","):
                yield token, words
        if token.kind == "word":
            words.add(token.text)
