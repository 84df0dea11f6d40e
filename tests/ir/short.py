"""LLVM IR of a thread in short: `out[g * n + lane] = a[i] + 1` stands for its instructions.

    g = gang()                  a call of __am_gang
    x = fmuladd(x, y, z)        a call of llvm.fmuladd.f32; reduce_… are ours
    v = a[2 * g + 1]            a signed index, an address and a load
    c = v < 2                   a comparison
    br i1 %c, label %then, label %end       any other line is LLVM IR; %c is c

Nothing is folded or shared: each operation becomes one instruction, in order.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import NamedTuple

_OPS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "udiv",
    ast.Mod: "urem", ast.LShift: "shl", ast.RShift: "lshr", ast.BitAnd: "and", ast.BitOr: "or",
    ast.BitXor: "xor", ast.Lt: "lt", ast.GtE: "ge", ast.Gt: "gt", ast.LtE: "le",
}  # fmt: skip


class _Operand(NamedTuple):
    text: str
    type_: str


def llvm(text: str, arrays: Mapping[str, str] | None = None) -> str:
    """The lines of LLVM IR. `arrays`: types of elements other than float."""
    writer = _Writer(arrays or {})
    for line in filter(None, map(str.strip, text.splitlines())):
        writer.line(line)
    return "\n".join(writer.lines)


class _Writer:
    def __init__(self, arrays: Mapping[str, str]) -> None:
        self.arrays = arrays
        self.lines: list[str] = []
        self.variables: dict[str, _Operand] = {}

    def line(self, text: str) -> None:
        try:
            (statement,) = ast.parse(text).body
        except SyntaxError:
            self.raw(text)
            return
        assert isinstance(statement, ast.Assign), text
        (target,) = statement.targets
        value = self.value(statement.value, target.id if isinstance(target, ast.Name) else "")
        if isinstance(target, ast.Name):
            self.variables[target.id] = value
        else:
            assert isinstance(target, ast.Subscript)
            type_, address = self.address(target)
            self.lines.append(f"store {type_} {_of_type(value, type_)}, ptr {address}")

    def raw(self, text: str) -> None:
        self.lines.append(text)
        if result := re.match(
            r"%(\w+) = (?:phi|load|fpext|select i1 %\w+,) (\w+)(?: %\w+ to (\w+))?", text
        ):
            name, type_, to = result.groups()
            self.variables[name] = _Operand(f"%{name}", to or type_)

    def value(self, tree: ast.expr, name: str = "") -> _Operand:
        match tree:
            case ast.Constant(value):
                return _Operand(str(value), "")
            case ast.UnaryOp(ast.USub(), ast.Constant(value)):
                return _Operand(f"-{value}", "")
            case ast.Name(variable):
                return self.variables.get(variable, _Operand(f"%{variable}", "i32"))
            case ast.Call(ast.Name(position), []):
                return self.do(f"call i32 @__am_{position}()", "i32", name)
            case ast.Call(ast.Name(function), operands):
                floats = ", ".join(f"float {_of_type(self.value(o), 'float')}" for o in operands)
                ours = function.startswith("reduce_")
                callee = f"__am_{function}" if ours else f"llvm.{function}.f32"
                return self.do(f"call float @{callee}({floats})", "float", name)
            case ast.Subscript():
                type_, address = self.address(tree)
                return self.do(f"load {type_}, ptr {address}", type_, name)
            case ast.BinOp(left, operation, right):
                return self.binary(_OPS[type(operation)], left, right, name)
            case ast.Compare(left, [operation], [right]):
                a, b = self.value(left), self.value(right)
                kind = "fcmp o" if a.type_ == "float" else "icmp s"
                compare = f"{kind}{_OPS[type(operation)]} {a.type_} {a.text}"
                return self.do(f"{compare}, {_of_type(b, a.type_)}", "i1", name)
        raise AssertionError(ast.unparse(tree))

    def binary(self, op: str, left: ast.expr, right: ast.expr, name: str) -> _Operand:
        a, b = self.value(left), self.value(right)
        type_ = a.type_ or b.type_ or "i32"
        prefix = "f" if type_ == "float" else ""
        operands = f"{_of_type(a, type_)}, {_of_type(b, type_)}"
        return self.do(f"{prefix}{op} {type_} {operands}", type_, name)

    def address(self, tree: ast.Subscript) -> tuple[str, str]:
        assert isinstance(tree.value, ast.Name)
        array, index = tree.value.id, self.value(tree.slice)
        type_ = self.arrays.get(array, "float")
        wide = index.text
        if index.type_ == "i32":
            wide = self.do(f"sext i32 {index.text} to i64", "i64").text
        return type_, self.do(f"getelementptr {type_}, ptr %{array}, i64 {wide}", "ptr").text

    def do(self, instruction: str, type_: str, name: str = "") -> _Operand:
        taken = {line.split(" = ")[0] for line in self.lines}
        result = f"%{name}" if name and f"%{name}" not in taken else f"%.{len(self.lines)}"
        self.lines.append(f"{result} = {instruction}")
        return _Operand(result, type_)


def _of_type(operand: _Operand, type_: str) -> str:
    """A constant becomes one of the type of what it meets."""
    return f"{float(operand.text)}" if not operand.type_ and type_ == "float" else operand.text
