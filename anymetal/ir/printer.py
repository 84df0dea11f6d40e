"""Prints a thread program for people: one instruction a line, with the user's line behind it."""

from __future__ import annotations

from anymetal.ir.model import Argument, Const, ConstVector, Global, Instr, Program, Value
from anymetal.ir.types import Type


def print_program(program: Program) -> str:
    """The whole program as text."""
    lines = []
    for variable in program.globals.values():
        kind = "threadgroup" if variable.threadgroup else "constant"
        lines.append(f"{kind} {variable.name} : {variable.value_type}")
    lines.append(f"thread {program.name}({', '.join(map(_parameter, program.args))}) {{")
    for block in program.blocks:
        lines.append(f"{block.name}:")
        lines.extend(f"  {print_instr(instr)}" for instr in block.instrs)
    return "\n".join([*lines, "}"]) + "\n"


def _parameter(argument: Argument) -> str:
    return f"{argument.type.space} {argument.name}".lstrip()


def _spelled(type_: Type) -> str:
    """With the address space of a pointer."""
    return f"{type_.space} {type_}".lstrip()


def print_instr(instr: Instr) -> str:
    result = f"{instr.name or '%?'}: {_spelled(instr.type)} = " if instr.has_result else ""
    flags = f" {instr.flags}" if instr.flags else ""
    text = f"{result}{instr.op}{flags} {_operands(instr)}".rstrip()
    return f"{text:<72} ; {instr.loc}" if instr.loc else text


def _operands(instr: Instr) -> str:
    names = [print_value(v) for v in instr.operands]
    listed = ", ".join(names)
    match instr.op:
        case "phi":
            pairs = zip(names, instr.arg, strict=True)
            return ", ".join(f"[{name}, {block.name}]" for name, block in pairs)
        case "br":
            return ", ".join([*names, *(block.name for block in instr.arg)])
        case "call":
            return f"@{instr.arg}({listed})"
        case "gep":
            terms = [f"{n} * {s}" for n, s in zip(names[1:], instr.arg[:-1], strict=True)]
            return " + ".join([names[0], *terms, str(instr.arg[-1])])
        case "icmp" | "fcmp":
            return f"{instr.arg} {listed}"
        case "alloca":
            type_, align = instr.arg
            return f"{type_} align {align}"
        case "atomicrmw":
            operation, access = instr.arg
            return f"{operation} {listed} {access}"
        case _:
            return listed if instr.arg is None else f"{listed} {instr.arg}"


def print_value(value: Value) -> str:
    match value:
        case Const():
            return value.text
        case ConstVector():
            return "<" + ", ".join(map(print_value, value.elements)) + ">"
        case Argument() | Global() | Instr():
            return value.name or "%?"
    return "?"
