"""A rule about types: constants that widen half.

What depends on a guess about dtypes must hold with all guesses (see guess.py).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from anymetal.errors import AnyMetalError
from anymetal.findings.model import Finding
from anymetal.frontend.clang import syntax_tree
from anymetal.frontend.tree import Node, Tree, stripped, type_of
from anymetal.ir.model import Location
from anymetal.lint.fixes import Edit
from anymetal.lint.look import Look

_ARITHMETIC = ("+", "-", "*", "/")
_PLAIN_NUMBER = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?")


def check(look: Look) -> Iterator[Finding]:
    """AM304: what is found with all types that compile."""
    if not _PLAIN_NUMBER.search(look.kernel.header.value + look.kernel.body.value):
        return
    common: dict[Location, Finding] | None = None
    for made in look.compiled.sources:
        try:
            tree = Tree(*syntax_tree(made.source))
        except (AnyMetalError, RecursionError):
            return  # not for the text alone: Clang has accepted it before
        found: dict[Location, Finding] = {}
        for location, finding in _check(look, tree):
            found.setdefault(location, finding)
        common = found if common is None else {k: v for k, v in common.items() if k in found}
        if not common:
            return
    yield from (common or {}).values()


def _check(look: Look, tree: Tree) -> Iterator[tuple[Location, Finding]]:
    for node in tree.nodes():
        if node.get("kind") in ("BinaryOperator", "CompoundAssignOperator"):
            yield from _widened(look, tree, node)


def _widened(look: Look, tree: Tree, node: Node) -> Iterator[tuple[Location, Finding]]:
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
        yield location, _constant(look, location, text)
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
