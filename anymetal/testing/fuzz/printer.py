"""A case as Metal text: the kernel's body, its header, and a note on its launch."""

from __future__ import annotations

from math import isinf, isnan

from anymetal.testing.fuzz.tree import (
    Advance,
    Assign,
    Atomic,
    AtomicLoad,
    Attribute,
    Barrier,
    Binary,
    Block,
    Break,
    Call,
    Case,
    Cast,
    CastLoad,
    Component,
    Constant,
    Construct,
    Continue,
    CrossLane,
    Declare,
    DeclareArray,
    DeclarePointer,
    Expr,
    FunctionCall,
    If,
    Load,
    Loop,
    PointerLoad,
    Return,
    Statement,
    Switch,
    Swizzle,
    Ternary,
    Unary,
    Variable,
    walk,
)
from anymetal.testing.fuzz.types import Type

RECORD = "struct Record { int a; float b; short c; uchar d[2]; };\n"
_VOTE_MASKS = ("ballot", "active_threads_mask")  #: return a simd_vote, which must be cast
_INDENT = "    "


def header(case: Case) -> str:
    """Struct and helper functions in front of the kernel."""
    text = RECORD if any(isinstance(node, CastLoad) for node in walk(case.body)) else ""
    for function in case.functions:
        parameters = ", ".join(f"{p.type.name} {p.name}" for p in function.parameters)
        text += f"inline {function.result.name} {function.name}({parameters}) {{\n"
        text += "".join(_INDENT + line + "\n" for line in _Printer(case).block(function.body))
        text += "}\n"
    return text


def body(case: Case) -> str:
    """The source argument of `metal_kernel`."""
    lines = [
        f"threadgroup {_element(buffer.type, buffer.atomic)} {buffer.name}[{buffer.size}];"
        for buffer in case.threadgroup_arrays()
    ]
    lines += _Printer(case).block(case.body)
    return "".join(_INDENT + line + "\n" for line in lines)


def _element(kind: Type, atomic: bool) -> str:
    return f"atomic_{kind.name}" if atomic else kind.name


def constant(kind: Type, value: int | float | bool) -> str:
    """A literal of exactly this type."""
    if kind.kind == "bool":
        return "true" if value else "false"
    if kind.is_float:
        if isnan(value) or isinf(value):
            return "NAN" if isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
        text = f"{float(value)!r}f"
        return _signed(text) if kind.base == "float" else f"{kind.base}({text})"
    suffix = {"uint": "u", "long": "L", "ulong": "UL"}.get(kind.base, "")
    low, _ = kind.limits
    if kind.bits >= 32 and kind.kind == "int" and value == low:
        text = f"({int(value) + 1}{suffix} - 1)"  # the number itself is no literal in C++
    else:
        text = f"{int(value)}{suffix}"
    return f"{kind.name}({text})" if kind.bits < 32 else _signed(text)


def _signed(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


class _Printer:
    def __init__(self, case: Case) -> None:
        self.buffers = {buffer.name: buffer for buffer in case.buffers}

    # ---------------------------------------------------------------------------- statements

    def block(self, statements: Block) -> list[str]:
        return [line for statement in statements for line in self.statement(statement)]

    def _braced(self, head: str, statements: Block, tail: str = "") -> list[str]:
        inner = [_INDENT + line for line in self.block(statements)]
        return [f"{head} {{", *inner, f"}}{tail}"]

    def statement(self, node: Statement) -> list[str]:
        match node:
            case Declare(variable, value):
                return [f"{variable.type.name} {variable.name} = {self.text(value)};"]
            case DeclareArray(name, kind, values):
                items = ", ".join(self.text(value) for value in values)
                return [f"{kind.name} {name}[{len(values)}] = {{{items}}};"]
            case DeclarePointer():
                return [self._pointer(node)]
            case Advance(pointer, step):
                return [f"{pointer} += {self.text(step)};"]
            case Assign(target, op, value):
                return [f"{self.text(target)} {op} {self.text(value)};"]
            case If(condition, then, otherwise):
                lines = self._braced(f"if ({self.text(condition)})", then)
                if otherwise:
                    lines[-1:] = self._braced("} else", otherwise)
                return lines
            case Loop():
                return self._loop(node)
            case Switch(selector, arms):
                lines = [f"switch ({self.text(selector)}) {{"]
                for arm in arms:
                    labels = [f"case {label}:" for label in arm.labels]
                    labels += ["default:"] if arm.default else []
                    lines += self._braced(" ".join(labels), arm.body)
                return [*lines, "}"]
            case Break():
                return ["break;"]
            case Continue():
                return ["continue;"]
            case Return(value):
                return ["return;" if value is None else f"return {self.text(value)};"]
            case Barrier(flags):
                return [f"threadgroup_barrier(mem_flags::{flags});"]
            case Atomic(op, buffer, index, value):
                name = "atomic_store" if op == "store" else f"atomic_fetch_{op}"
                place = self._atomic_place(buffer, index)
                return [f"{name}_explicit({place}, {self.text(value)}, memory_order_relaxed);"]
        raise TypeError(f"unknown node {node!r}")

    def _pointer(self, node: DeclarePointer) -> str:
        buffer = self.buffers.get(node.first.buffer)
        space = {"input": "const device", "threadgroup": "threadgroup"}.get(
            buffer.space if buffer else "private", "thread"
        )
        if buffer and buffer.space == "input" and buffer.size < 8:
            space = "const constant"
        place = f"&{self.text(node.first)}"
        if node.condition is not None and node.second is not None:
            place = f"{self.text(node.condition)} ? {place} : &{self.text(node.second)}"
        return f"{space} {node.type.name}* {node.name} = {place};"

    def _loop(self, node: Loop) -> list[str]:
        counter = node.counter.name
        start = f"{node.counter.type.name} {counter} = {self.text(node.start)}"
        test = f"{counter} {node.test} {self.text(node.limit)}"
        if node.condition is not None:
            test += f" && {self.text(node.condition)}"
        step = f"{counter} {node.op} {node.step}"
        inner = [_INDENT + line for line in self.block(node.body)]
        if node.kind == "for":
            return [f"for ({start}; {test}; {step}) {{", *inner, "}"]
        iteration = [f"{_INDENT}{step};", *inner]
        if node.kind == "while":
            return [f"{start};", f"while ({test}) {{", *iteration, "}"]
        if node.kind == "do":
            return [f"{start};", "do {", *iteration, f"}} while ({test});"]
        leave = f"{_INDENT}if (!({test})) break;"
        return [f"{start};", "for (;;) {", leave, *iteration, "}"]

    # --------------------------------------------------------------------------- expressions

    def text(self, node: Expr) -> str:
        match node:
            case Constant(kind, value):
                return constant(kind, value)
            case Attribute(_, name, component):
                return f"{name}.{component}" if component else name
            case Variable(_, name):
                return name
            case Unary(_, op, operand):
                return f"({op}{self.text(operand)})"
            case Binary(_, op, left, right):
                return f"({self.text(left)} {op} {self.text(right)})"
            case Ternary(_, condition, yes, no):
                return f"({self.text(condition)} ? {self.text(yes)} : {self.text(no)})"
            case Cast(kind, operand):
                return f"{kind.name}({self.text(operand)})"
            case Call(kind, name, arguments):
                return f"{self._callee(name, kind)}({self._list(arguments)})"
            case Construct(kind, arguments):
                return f"{kind.name}({self._list(arguments)})"
            case Swizzle(_, operand, components):
                return f"{self.text(operand)}.{components}"
            case Component(_, operand, index):
                return f"{self.text(operand)}[{self.text(index)}]"
            case Load(_, buffer, index) if index is not None:
                return f"{buffer}[{self.text(index)}]"
            case Load(_, buffer, _):
                return buffer
            case CastLoad():
                return self._cast_load(node)
            case PointerLoad(_, pointer, offset):
                return f"{pointer}[{self.text(offset)}]"
            case CrossLane(_, name, arguments):
                call = f"{name}({self._list(arguments)})"
                masks = name.partition("_")[2] in _VOTE_MASKS
                vote = f"{name.partition('_')[0]}_vote::vote_t"
                return f"((uint)({vote}){call})" if masks else call
            case FunctionCall(_, name, arguments):
                return f"{name}({self._list(arguments)})"
            case AtomicLoad(_, buffer, index):
                place = self._atomic_place(buffer, index)
                return f"atomic_load_explicit({place}, memory_order_relaxed)"
        raise TypeError(f"unknown node {node!r}")

    def _list(self, arguments: tuple[Expr, ...]) -> str:
        return ", ".join(self.text(argument) for argument in arguments)

    @staticmethod
    def _callee(name: str, kind: Type) -> str:
        return f"as_type<{kind.name}>" if name == "as_type" else name

    def _cast_load(self, node: CastLoad) -> str:
        buffer = self.buffers[node.buffer]
        space = "const constant" if buffer.size < 8 else "const device"
        space = "device" if buffer.space == "output" else space
        layout = "Record" if node.layout is None else node.layout.name
        place = f"(({space} {layout}*){node.buffer})[{self.text(node.index)}]"
        return f"{place}.{node.field}" if node.field else place

    def _atomic_place(self, buffer: str, index: Expr) -> str:
        place = f"&{buffer}[{self.text(index)}]"
        if self.buffers[buffer].space == "threadgroup":
            return place
        return f"(device atomic_{self.buffers[buffer].type.name}*){place}"
