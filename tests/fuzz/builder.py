"""Small hand-made cases for the tests of the fuzzer's own parts."""

from __future__ import annotations

import numpy as np

from anymetal.testing.fuzz.launch import LaunchSize
from anymetal.testing.fuzz.tree import (
    Assign,
    Attribute,
    Binary,
    Block,
    Buffer,
    Case,
    Constant,
    Expr,
    Function,
    Load,
    Statement,
    Variable,
)
from anymetal.testing.fuzz.types import BOOL, INT, UINT, Array, Type

TID = Attribute(UINT, "thread_position_in_grid", "x")
LANE = Attribute(UINT, "thread_index_in_simdgroup", "")


def integer(value: int, kind: Type = INT) -> Constant:
    return Constant(kind, value)


def variable(name: str, kind: Type = INT) -> Variable:
    return Variable(kind, name)


def compare(op: str, left: Expr, right: Expr) -> Binary:
    return Binary(BOOL, op, left, right)


def out(value: Expr, op: str = "=") -> Statement:
    """`out[tid] op value;`"""
    return Assign(Load(INT, "out", TID), op, value)


def slot(index: Expr = TID) -> Load:
    """`shared[index]`, threadgroup memory."""
    return Load(INT, "shared", index)


def case(
    *body: Statement,
    threads: int = 40,
    group: int = 64,
    inputs: dict[str, Array] | None = None,
    functions: tuple[Function, ...] = (),
) -> Case:
    """A 1-D launch with an int output `out`, int inputs, and a threadgroup array `shared`."""
    buffers = [
        Buffer(name, INT, data.size, "input", data.astype(np.int32))
        for name, data in (inputs or {}).items()
    ]
    buffers.append(Buffer("out", INT, threads, "output"))
    buffers.append(Buffer("shared", INT, group, "threadgroup"))
    block: Block = body
    launch = LaunchSize((threads, 1, 1), (group, 1, 1))
    return Case(0, launch, tuple(buffers), functions, block)
