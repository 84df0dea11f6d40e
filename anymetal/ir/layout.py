"""How the scalars of a type lie in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from anymetal.ir import types as t

#: Bytes at the end of a struct that are as many as this are no padding.
_MOST_PADDING = 16


def scalars(type_: t.Type, offset: int = 0) -> Iterator[tuple[int, t.Type]]:
    """Offset and type of each scalar; what is left between them is padding.

    An odd integer, such as the i48 that a struct of an int and a short is passed as, counts as
    what it is loaded and stored as.
    """
    if isinstance(type_, (t.Array, t.Vector)):
        for number in range(type_.count):
            yield from scalars(type_.element, offset + number * type_.element.size)
    elif isinstance(type_, t.Struct):
        fields = list(zip(type_.fields, type_.offsets, strict=False))
        if len(fields) > 1 and _fills_up(fields[-1][0]):
            fields.pop()
        for field, at in fields:
            yield from scalars(field, offset + at)
    elif is_odd(type_):
        for at, part in pieces(type_.bits // 8):
            yield offset + at, part
    else:
        yield offset, type_


def is_odd(type_: t.Type) -> TypeGuard[t.Int]:
    """Whether this is an integer of whole bytes that no instruction loads or stores at once."""
    return isinstance(type_, t.Int) and type_.bits % 8 == 0 and type_.bits not in (8, 16, 32, 64)


def pieces(length: int) -> list[tuple[int, t.Int]]:
    """(offset, type) of accesses that cover `length` bytes: 4 bytes each, then what is left."""
    found, at = [], 0
    while at < length:
        size = 4 if length - at >= 4 else 2 if length - at >= 2 else 1
        found.append((at, t.Int(size * 8)))
        at += size
    return found


def _fills_up(field: t.Type) -> bool:
    """Whether the last field of a struct is bytes with which Clang fills it up to its size."""
    return isinstance(field, t.Array) and field.element == t.I8 and field.count < _MOST_PADDING


def marked(type_: t.Type) -> bytes:
    """As many bytes as the type has: 255 for those of scalars, 0 for padding."""
    result = bytearray(type_.size)
    for offset, scalar in scalars(type_):
        result[offset : offset + scalar.size] = b"\xff" * scalar.size
    return bytes(result)
