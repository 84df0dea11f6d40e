"""Rules about types: calls that Metal finds ambiguous, and constants that widen half.

What depends on a guess about dtypes must hold with all guesses (see guess.py).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence

from anymetal.errors import AnyMetalError
from anymetal.findings.model import Finding
from anymetal.ir.model import Location
from anymetal.lint.fixes import Edit
from anymetal.lint.look import Look
from anymetal.lint.tree import Node, Tree, stripped, type_of

#: Clang's names of scalar types, and Metal's.
_SCALARS = {
    "bool": "bool",
    "char": "char",
    "signed char": "char",
    "unsigned char": "uchar",
    "short": "short",
    "unsigned short": "ushort",
    "int": "int",
    "unsigned int": "uint",
    "long": "long",
    "unsigned long": "ulong",
    "_Float16": "half",
    "float": "float",
}
_INTEGERS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
_FLOATS = ("half", "float")
_PROMOTED = ("bool", "char", "uchar", "short", "ushort")
#: Functions whose arguments all have one type, and the types that there are functions for.
_OVERLOADS: dict[str, Sequence[str]] = {
    **dict.fromkeys(("min", "max", "clamp", "min3", "max3", "median3"), (*_INTEGERS, *_FLOATS)),
    **dict.fromkeys(
        (
            "fmin fmax fmin3 fmax3 fmedian3 pow powr fmod atan2 copysign fdim fma mix step "
            "smoothstep sqrt rsqrt exp exp2 exp10 log log2 log10 sin cos tan sinh cosh tanh asin "
            "acos atan asinh acosh atanh floor ceil round rint trunc fract fabs"
        ).split(),
        _FLOATS,
    ),
}
_SELECT = ("bool", *_INTEGERS, *_FLOATS)
_EXACT, _PROMOTION, _CONVERSION = range(3)

_ARITHMETIC = ("+", "-", "*", "/")
_PLAIN_NUMBER = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?")
_CALL = re.compile(rf"\b(?:{'|'.join((*_OVERLOADS, 'select'))})\s*\(")
_Found = dict[tuple[str, Location], Finding]


def check(look: Look) -> Iterator[Finding]:
    """AM303, AM304: what is found with all types that compile."""
    text = look.kernel.header.value + look.kernel.body.value
    if not (_CALL.search(text) or _PLAIN_NUMBER.search(text)):
        return
    common: _Found | None = None
    for source, _ in look.compiled.sources:
        try:
            tree = Tree(source)
        except (AnyMetalError, RecursionError):
            return  # not for the text alone: Clang has accepted it before
        found: _Found = {}
        for code, location, finding in _check(look, tree):
            found.setdefault((code, location), finding)
        common = found if common is None else {k: v for k, v in common.items() if k in found}
        if not common:
            return
    yield from (common or {}).values()


def _check(look: Look, tree: Tree) -> Iterator[tuple[str, Location, Finding]]:
    own = {node["id"] for node in tree.nodes() if node.get("kind") == "FunctionDecl"}
    for node in tree.nodes():
        kind = node.get("kind")
        if kind == "CallExpr":
            yield from _ambiguous(look, tree, node, own)
        elif kind in ("BinaryOperator", "CompoundAssignOperator"):
            yield from _widened(look, tree, node)


# -- AM303 ------------------------------------------------------------------------------------


def _ambiguous(
    look: Look, tree: Tree, call: Node, own: set[str]
) -> Iterator[tuple[str, Location, Finding]]:
    callee, *arguments = call["inner"]
    declared = stripped(callee).get("referencedDecl", {})
    name = declared.get("name", "")
    types = [_SCALARS.get(type_of(stripped(argument)), "") for argument in arguments]
    overloads = _OVERLOADS.get(name)
    if name == "select":
        overloads, types = _SELECT, types[:2]
    location = tree.location(call)
    is_metals = declared.get("kind") == "FunctionDecl" and declared.get("id") not in own
    if overloads is None or location is None or not is_metals or not types or not all(types):
        return
    if not _is_ambiguous(types, overloads):
        return
    place = look.place(location)
    shown = ", ".join(types)
    yield (
        "AM303",
        location,
        look.finding(
            "AM303",
            place,
            f"Metal finds {name}({shown}) ambiguous: no function of this name fits best",
            hint="convert the arguments to one type, as in "
            f"{name}({', '.join(f'{_wanted(types)}(…)' for _ in types[:1])}, …)"
            if len(types) > 1
            else f"convert the argument, as in {name}(float(…))",
        ),
    )


def _wanted(types: list[str]) -> str:
    """The type that the author most likely means."""
    for type_ in ("float", "half", "ulong", "long", "uint"):
        if type_ in types:
            return type_
    return "int"


def _is_ambiguous(types: Sequence[str], overloads: Sequence[str]) -> bool:
    """Whether C++ finds no best among functions with all parameters of one type."""
    ranks = [[_rank(given, wanted) for given in types] for wanted in overloads]
    return not any(
        all(
            other is best
            or (
                all(a <= b for a, b in zip(best, other, strict=True))
                and any(a < b for a, b in zip(best, other, strict=True))
            )
            for other in ranks
        )
        for best in ranks
    )


def _rank(given: str, wanted: str) -> int:
    if given == wanted:
        return _EXACT
    return _PROMOTION if given in _PROMOTED and wanted == "int" else _CONVERSION


# -- AM304 ------------------------------------------------------------------------------------


def _widened(look: Look, tree: Tree, node: Node) -> Iterator[tuple[str, Location, Finding]]:
    """`h * 0.5` is computed in float; that the result goes into a half again shows that it need
    not be."""
    left, right = node["inner"]
    if node["kind"] == "CompoundAssignOperator":
        if node.get("opcode", "")[:-1] not in _ARITHMETIC or type_of(left) != "_Float16":
            return
        pairs = [(right, left)]
    else:
        if node.get("opcode") not in _ARITHMETIC or type_of(node) != "float":
            return
        if not _becomes_half(tree, node):
            return
        pairs = [(left, right), (right, left)]
    for literal, other in pairs:
        number = stripped(literal)
        location = tree.location(number)
        text = tree.text(number)
        if number.get("kind") != "FloatingLiteral" or location is None:
            continue
        if type_of(stripped(other)) != "_Float16" or not _PLAIN_NUMBER.fullmatch(text):
            continue
        place = look.place(location)
        if place is None:
            continue
        yield "AM304", location, _constant(look, location, text)
        return


def _constant(look: Look, location: Location, text: str) -> Finding:
    exact = _fits_half(text)
    hint = f"write {text}h" if exact else f"write {text}h, which is rounded to half"
    part = look.part(location) or "source"
    place = look.kernel.place(part, location.line, location.column, len(text))
    result = look.finding(
        "AM304",
        place,
        f"the constant {text} is a float, so this arithmetic in half is done in float",
        hint=hint,
    )
    if exact:
        look.fix(result, Edit.insertion(look.kernel, part, location, text, f"{text}h"))
    return result


def _becomes_half(tree: Tree, node: Node) -> bool:
    """Whether the result of an operation is converted to half at once."""
    parent = tree.parent.get(id(node), {})
    while parent.get("kind") == "ParenExpr":
        parent = tree.parent.get(id(parent), {})
    return parent.get("castKind") == "FloatingCast" and type_of(parent) == "_Float16"


def _fits_half(text: str) -> bool:
    """Whether half has this very number."""
    value = float(text)
    try:
        return bool(struct.unpack("e", struct.pack("e", value))[0] == value)
    except OverflowError:
        return False
