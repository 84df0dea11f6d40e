"""Floats that become bfloat by themselves, which Metal refuses: `bfloat b = 0.5f;`.

Clang's syntax tree shows them. (Its warning of narrower types leaves out what bfloat has exactly.)
"""

from __future__ import annotations

from anymetal.frontend.complaints import CONVERSION, Complaint
from anymetal.frontend.tree import Node, Tree, type_of
from anymetal.source import KernelSource

_FLOATS = ("float", "double")  #: to Clang, literals without a suffix are double
_SAYS = "a float does not become a bfloat by itself in Metal: write bfloat({})"

#: Characters of the largest text that is looked at: the tree of a large library is many times that.
_LARGEST = 50_000
#: Characters of the longest expression that is quoted.
_QUOTED = 30

#: What takes arguments: vectors have constructors and operators of their own for numbers.
_TAKES = ("CXXConstructExpr", "CXXTemporaryObjectExpr", "CXXOperatorCallExpr")


def are_possible(source: KernelSource) -> bool:
    """Whether there may be any in this text."""
    texts = source.parts.values()
    types = (source.template_arguments, *(one.declaration for one in source.parameters))
    mentioned = any("bfloat" in text for text in (*texts, *types))
    return mentioned and sum(map(len, texts)) <= _LARGEST


def complaints_in(tree: Tree) -> list[Complaint]:
    """All of them, at their places in the user's text."""
    found = {tree.location(node): node for node in tree.nodes() if _converts(tree, node)}
    return [
        Complaint(*place, CONVERSION, _SAYS.format(_quoted(tree.text(node))))
        for place, node in found.items()
        if place
    ]


def _quoted(text: str) -> str:
    return text if 0 < len(text) <= _QUOTED and "\n" not in text else "x"


def _converts(tree: Tree, node: Node) -> bool:
    if node.get("castKind") != "FloatingCast" or type_of(node) != "__bf16":
        return False
    asked = node["kind"] != "ImplicitCastExpr" or node.get("isPartOfExplicitCast")
    if asked or type_of(node["inner"][0]) not in _FLOATS:
        return False
    return tree.parent.get(id(node), {}).get("kind") not in _TAKES
