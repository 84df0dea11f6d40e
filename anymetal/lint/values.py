"""What expressions of a Python program are, as far as that is known without running it.

Only names that are bound once, to something known, have a value. Nothing of the program is
executed: strings, numbers, tuples and a few methods of strings are computed here.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anymetal.lint.literals import constant, formatted
from anymetal.lint.text import File, Text

_MOST_STEPS = 2000
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Unknown:
    """The one object that stands for values that are not known."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Dotted:
    """Something that an import names, such as mlx.core.float32."""

    path: str


@dataclass
class Scope:
    """The names that a module or a function binds."""

    node: ast.AST
    parent: Scope | None
    bound: dict[str, list[ast.AST]] = field(default_factory=dict)
    elsewhere: set[str] = field(default_factory=set)  #: names of outer scopes that it binds

    def bind(self, name: str, value: ast.AST) -> None:
        self.bound.setdefault(name, []).append(value)


class Module:
    """A parsed file: its scopes, and what its expressions are."""

    def __init__(self, file: File, tree: ast.Module) -> None:
        self.file = file
        self.tree = tree
        self.scope_of: dict[ast.AST, Scope] = {}  #: the scope in which a node stands
        self.parent: dict[ast.AST, ast.AST] = {}
        self._steps = 0
        self._enter(tree, Scope(tree, None))

    # -- scopes ---------------------------------------------------------------------------

    def _enter(self, node: ast.AST, scope: Scope) -> None:
        work: list[tuple[ast.AST, Scope]] = [(node, scope)]
        while work:
            at, inside = work.pop()
            self.scope_of[at] = inside
            self._bind(at, inside)
            own = inside
            if isinstance(at, (*FUNCTIONS, ast.ClassDef)):
                own = Scope(at, inside)
                if not isinstance(at, ast.ClassDef):
                    for argument in _arguments(at):
                        own.bind(argument.arg, argument)
            for child in ast.iter_child_nodes(at):
                self.parent[child] = at
                outer = isinstance(at, (*FUNCTIONS, ast.ClassDef)) and _is_outside(at, child)
                work.append((child, inside if outer else own))

    def _bind(self, node: ast.AST, scope: Scope) -> None:
        """Notes what a node binds in its scope."""
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            self._bind_target(node.targets[0], node.value, scope)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind_target(target, node.value, scope)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._bind_target(node.target, node.value, scope)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                scope.bind((alias.asname or alias.name).split(".")[0], node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            scope.bind(node.name, node)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            scope.elsewhere.update(node.names)
            top = scope
            while top.parent is not None:
                top = top.parent
                for name in node.names:
                    top.bind(name, node)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            parent = self.parent.get(node)
            if not (isinstance(parent, (ast.Assign, ast.AnnAssign)) and _is_target(node, parent)):
                scope.bind(node.id, node)

    def _bind_target(self, target: ast.expr, value: ast.expr, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.bind(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            if len(values) == len(target.elts):
                for one, its in zip(target.elts, values, strict=True):
                    self._bind_target(one, its, scope)
            else:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        scope.bind(part.id, part)

    def binding(self, name: ast.Name) -> ast.AST | None:
        """What a name is bound to, if that is one thing."""
        scope: Scope | None = self.scope_of[name]
        first = True
        while scope is not None:
            skipped = isinstance(scope.node, ast.ClassDef) and not first
            if name.id in scope.bound and name.id not in scope.elsewhere and not skipped:
                bound = scope.bound[name.id]
                return bound[0] if len(bound) == 1 else None
            scope, first = scope.parent, False
        return None

    def functions_around(self, node: ast.AST) -> Iterator[Function]:
        """The functions that a node stands in, from the inside out."""
        scope: Scope | None = self.scope_of[node]
        while scope is not None:
            if isinstance(scope.node, FUNCTIONS):
                yield scope.node
            scope = scope.parent

    def offset(self, node: ast.expr | ast.stmt) -> int:
        """Where in the file a node begins."""
        return self.file.offset(node.lineno, node.col_offset)

    # -- values ---------------------------------------------------------------------------

    def value(self, node: ast.AST | None) -> Any:
        """A `Text`, number, tuple, `Dotted` or None (of the program), or UNKNOWN."""
        self._steps = 0
        return self._value(node)

    def text(self, node: ast.AST | None) -> Text | None:
        """The value, if it is a string."""
        value = self.value(node)
        return value if isinstance(value, Text) else None

    def dotted(self, node: ast.expr) -> str:
        """The full name of what an expression names; with "?" in front if its first is unknown."""
        value = self.value(node)
        if isinstance(value, Dotted):
            return value.path
        names: list[str] = []
        at: ast.expr = node
        while isinstance(at, ast.Attribute):
            names.insert(0, at.attr)
            at = at.value
        return ".".join(["?", *names]) if names else ""

    def _value(self, node: ast.AST | None) -> Any:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            return UNKNOWN
        handler = getattr(self, f"_value_{type(node).__name__}", None)
        return handler(node) if handler else UNKNOWN

    def _value_Constant(self, node: ast.Constant) -> Any:
        return constant(node, self.file) if isinstance(node.value, str) else node.value

    def _value_JoinedStr(self, node: ast.JoinedStr) -> Any:
        made = formatted(node, self.file, self._as_text)
        return UNKNOWN if made is None else made

    def _value_Name(self, node: ast.Name) -> Any:
        bound = self.binding(node)
        if isinstance(bound, (ast.Import, ast.ImportFrom)):
            return Dotted(_imported(bound, node.id))
        return self._value(bound) if isinstance(bound, ast.expr) and bound is not node else UNKNOWN

    def _value_Attribute(self, node: ast.Attribute) -> Any:
        value = self._value(node.value)
        return Dotted(f"{value.path}.{node.attr}") if isinstance(value, Dotted) else UNKNOWN

    def _value_Tuple(self, node: ast.Tuple | ast.List) -> Any:
        return tuple(self._value(one) for one in node.elts)

    _value_List = _value_Tuple

    def _value_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self._value(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(value, (int, float)):
            return -value
        return UNKNOWN

    def _value_BinOp(self, node: ast.BinOp) -> Any:
        left, right = self._value(node.left), self._value(node.right)
        if isinstance(left, Text) and isinstance(right, Text):
            return left + right if isinstance(node.op, ast.Add) else UNKNOWN
        compute = _ARITHMETIC.get(type(node.op))
        numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
        if compute is None or not numbers:
            return UNKNOWN
        try:
            return compute(left, right)
        except (ArithmeticError, ValueError):
            return UNKNOWN

    def _value_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute):
            value = self._value(node.func.value)
            if isinstance(value, Text):
                return self._method(value, node.func.attr, node)
            if node.func.attr == "read_text":
                return self._read(node.func.value)
        name = self._value(node.func)
        if isinstance(name, Dotted) and name.path == "textwrap.dedent" and len(node.args) == 1:
            text = self._value(node.args[0])
            return text.dedented() if isinstance(text, Text) else UNKNOWN
        return UNKNOWN

    def _method(self, text: Text, name: str, call: ast.Call) -> Any:
        values = [self._as_text(argument) for argument in call.args]
        if name in ("strip", "lstrip", "rstrip") and not values:
            return text.stripped(name != "rstrip", name != "lstrip")
        if name == "replace" and len(values) == 2 and values[0] and values[1] is not None:
            return text.replaced(values[0].value, values[1])
        if name == "format":
            return self._format(text, values, call)
        return UNKNOWN

    def _format(self, text: Text, values: list[Text | None], call: ast.Call) -> Any:
        """`str.format` with plain fields, all of them known."""
        fields: dict[str, Text | None] = {str(i): value for i, value in enumerate(values)}
        fields |= {k.arg: self._as_text(k.value) for k in call.keywords if k.arg}
        parts: list[Text] = []
        at = number = 0
        for brace in re.finditer(r"\{\{|\}\}|\{(\w*)\}|[{}]", text.value):
            parts.append(text[at : brace.start()])
            at = brace.end()
            if brace[0] in ("{{", "}}"):
                parts.append(text[brace.start() : brace.start() + 1])
                continue
            value = fields.get(brace[1] or str(number)) if brace[1] is not None else None
            if value is None:
                return UNKNOWN
            number += not brace[1]
            parts.append(Text.at(value.value, text.places[brace.start()]))
        return Text.joined([*parts, text[at:]])

    def _read(self, path: ast.expr) -> Any:
        """`Path("k.metal").read_text()`, next to the program; its places are in another file."""
        if not (isinstance(path, ast.Call) and self.dotted(path.func) == "pathlib.Path"):
            return UNKNOWN
        name = self._value(path.args[0]) if len(path.args) == 1 else UNKNOWN
        if not isinstance(name, Text):
            return UNKNOWN
        try:
            return Text.at(
                (Path(self.file.name).parent / name.value).read_text(), self.offset(path)
            )
        except (OSError, UnicodeDecodeError):
            return UNKNOWN

    def _as_text(self, node: ast.expr) -> Text | None:
        """What a placeholder or an argument becomes in a string."""
        value = self._value(node)
        if isinstance(value, Text):
            return value
        return Text.at(str(value), self.offset(node)) if isinstance(value, (int, float)) else None


def _arguments(node: Function) -> list[ast.arg]:
    of = node.args
    extra = [one for one in (of.vararg, of.kwarg) if one]
    return [*of.posonlyargs, *of.args, *of.kwonlyargs, *extra]


def _is_outside(node: ast.AST, child: ast.AST) -> bool:
    """Whether a child of a function or class belongs to the scope around it."""
    decorators = getattr(node, "decorator_list", [])
    if isinstance(node, FUNCTIONS):
        return child in decorators or child is node.args
    return child in decorators or child in getattr(node, "bases", [])


def _is_target(name: ast.Name, assignment: ast.Assign | ast.AnnAssign) -> bool:
    targets = assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]
    return any(name is target for target in targets)


def _imported(node: ast.Import | ast.ImportFrom, name: str) -> str:
    """The full name behind a name that an import binds."""
    for alias in node.names:
        if (alias.asname or alias.name).split(".")[0] != name:
            continue
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            return f"{module}.{alias.name}" if module else alias.name
        return alias.name if alias.asname else name
    return name
