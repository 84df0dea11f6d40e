"""Sizes and offsets of types are those of LLVM on our targets."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from anymetal.ir import types as t
from tests.ir.programs import named, program

TYPES = [
    t.I1, t.I8, t.I16, t.Int(24), t.I32, t.I64, t.HALF, t.BFLOAT, t.FLOAT, t.DOUBLE, t.PTR,
    t.Vector(2, t.HALF), t.Vector(3, t.FLOAT), t.Vector(4, t.I8), t.Vector(3, t.I64),
    t.Vector(8, t.I1), t.Vector(20, t.I1),
    t.Array(5, t.I16), t.Array(3, t.Vector(3, t.HALF)), t.Array(0, t.FLOAT),
    t.Struct(()), t.Struct((t.I8, t.I64, t.I8)), t.Struct((t.I8, t.I64, t.I8), packed=True),
    t.Struct((t.I8, t.Array(2, t.Struct((t.HALF, t.PTR))), t.Vector(3, t.FLOAT), t.I1)),
]  # fmt: skip


def layout_of(type_: str) -> tuple[llvm.TargetData, llvm.TypeRef]:
    """LLVM's idea of a type."""
    llvm.initialize_native_target()
    machine = llvm.Target.from_default_triple().create_target_machine()
    module = llvm.parse_assembly(f"@g = global {type_} zeroinitializer")
    return machine.target_data, module.get_global_variable("g").global_value_type


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_size(type_: t.Type) -> None:
    """The distance between two elements of an array of this type."""
    layout, theirs = layout_of(str(type_))
    assert type_.size == layout.get_abi_size(theirs)


@pytest.mark.parametrize(
    "struct", [type_ for type_ in TYPES if isinstance(type_, t.Struct)], ids=str
)
def test_offsets(struct: t.Struct) -> None:
    layout, theirs = layout_of(str(struct))
    fields = range(len(struct.fields))
    assert struct.offsets[:-1] == tuple(layout.get_element_offset(theirs, i) for i in fields)


def test_the_reader_agrees() -> None:
    for type_ in TYPES:
        read = program(f"%p = getelementptr {type_}, ptr %a, i64 1\nret void")
        assert named(read, "p").arg == (type_.size,)
