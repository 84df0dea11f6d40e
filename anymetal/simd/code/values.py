"""The forms in which a value of the thread program exists in the generated code.

A uniform value is one scalar. A strided one is the scalar base of lane 0 (and, if inexact, also a
vector). A varying one is a vector with one element per lane. Values used outside the block that
defines them travel through stack slots: linearization breaks dominance, and LLVM's mem2reg builds
SSA form again better than we could.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from anymetal.analysis.ranges import Bounds
from anymetal.analysis.uniformity import Shape, Shapes
from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.model import Argument, Block, Const, Global, Instr, Program, Value
from anymetal.ir.tokens import quoted

SCALAR, VECTOR = "scalar", "vector"


class Values:
    """Maps values to names in one generated function."""

    def __init__(
        self,
        program: Program,
        shapes: Shapes,
        demanded: set[Value],
        writer: Writer,
        globals_: dict[str, str],
        needed: set[Value] | None = None,
        laid_out: set[Value] | None = None,
    ) -> None:
        self.shapes = shapes
        self.demanded = demanded  #: inexact strided values that are also needed as vectors
        self.writer = writer
        self.globals = globals_  #: name of a Global -> text of its address
        self.entry = program.blocks[0]
        #: values that other blocks use; those in `needed` are not operands there
        self.escaping = _escaping(program) | (needed or set())
        self.laid_out = laid_out or set()  #: vectors that are also written to memory
        self.layouts: dict[Value, str] = {}
        self.told: dict[Value, Callable[[str], None]] = {}  #: called with the name of a vector
        self.slots: dict[tuple[Value, str], str] = {}
        self.permanent: dict[tuple[Value, str], str] = {}  #: defined in the entry block
        self.local: dict[tuple[object, str], str] = {}
        self.derived: dict[Value, Callable[[Value], str]] = {}  #: makes vectors out of other forms
        self.block = self.entry
        self.bound = Bounds()

    def enter(self, block: Block) -> None:
        """Begins a block: names of other blocks are not valid in it."""
        self.block = block
        self.local = {}

    @contextlib.contextmanager
    def apart(self) -> Iterator[None]:
        """For what runs on one side of a branch within a block: names of before are valid there,
        and those made there are not valid behind it."""
        before = self.local
        self.local = dict(before)
        yield
        self.local = before

    def forms(self, value: Value) -> tuple[str, ...]:
        shape = self.shapes[value]
        if shape.is_varying:
            return (VECTOR,)
        return (SCALAR, VECTOR) if value in self.demanded else (SCALAR,)

    # -- definitions ----------------------------------------------------------------------

    def define(self, instr: Instr, scalar: str = "", vector: str = "") -> None:
        for form, name in ((SCALAR, scalar), (VECTOR, vector)):
            if name:
                self.local[instr, form] = name
                if self.block is self.entry:
                    self.permanent[instr, form] = name
                elif instr in self.escaping and form in self.forms(instr):
                    self.store_slot(instr, form, name)
                if form == VECTOR and instr in self.told:
                    self.told[instr](name)
                if form == VECTOR and instr in self.laid_out:
                    self.writer.do(
                        f"store {self.form_type(instr, form)} {name}, ptr {self.layout(instr)}"
                    )

    def make_again(self, value: Value, made: Callable[[Value], str]) -> None:
        """Forgets the vector of a value: `made` makes it where it is needed next."""
        self.local.pop((value, VECTOR), None)
        self.permanent.pop((value, VECTOR), None)
        self.derived[value] = made

    def layout(self, value: Value) -> str:
        """Where a vector is kept in memory; a zero follows it."""
        if value not in self.layouts:
            width = self.writer.width
            where = self.writer.alloca(f"[{2 * width} x {value.type}]", "layout", 128)
            last = f"{where}.last"
            self.writer.entry_lines += [
                f"  {last} = getelementptr {value.type}, ptr {where}, i32 {width}",
                f"  store {value.type} 0, ptr {last}",
            ]
            self.layouts[value] = where
        return self.layouts[value]

    def form_type(self, value: Value, form: str) -> str:
        return str(value.type) if form == SCALAR else self.writer.vector(value.type)

    def slot(self, value: Value, form: str) -> str:
        key = value, form
        if key not in self.slots:
            type_ = self.form_type(value, form)
            self.slots[key] = self.writer.alloca(type_)
        return self.slots[key]

    def store_slot(self, value: Value, form: str, name: str) -> None:
        self.writer.do(f"store {self.form_type(value, form)} {name}, ptr {self.slot(value, form)}")

    def load_slot(self, value: Value, form: str) -> str:
        return self.writer.value(
            f"load {self.form_type(value, form)}, ptr {self.slot(value, form)}"
        )

    def at_hand(self, value: Value) -> bool:
        """Whether the current block can use a value that is no operand in it."""
        if not isinstance(value, Instr):
            return True
        return value.block in (self.block, self.entry) or value in self.escaping

    # -- uses -----------------------------------------------------------------------------

    def shape(self, value: Value) -> Shape:
        return self.shapes[value]

    def scalar(self, value: Value) -> str:
        """The scalar form: the value of a uniform one, the base of a strided one."""
        if isinstance(value, Const):
            return value.text
        if isinstance(value, Argument):
            return buffer_name(value)
        if isinstance(value, Global):
            return self.globals[value.name]
        return self._find(value, SCALAR)

    def vector(self, value: Value) -> str:
        """One element per lane, whatever the shape."""
        if isinstance(value, Const):
            return self.writer.splat_constant(value.type, value.text)
        key = value, VECTOR
        if key not in self.local:
            if VECTOR in self.forms(value) and isinstance(value, Instr):
                return self._find(value, VECTOR)
            self.local[key] = self._spread(value)
        return self.local[key]

    def _find(self, value: Value, form: str) -> str:
        key = value, form
        if key in self.permanent:
            return self.permanent[key]
        if key not in self.local:
            made = self.derived.get(value)
            assert made or value in self.escaping, f"{value} was not made in this block"
            self.local[key] = made(value) if made else self.load_slot(value, form)
        return self.local[key]

    def _spread(self, value: Value) -> str:
        writer, shape, base = self.writer, self.shapes[value], self.scalar(value)
        if isinstance(value.type, t.Struct):
            return self._spread_struct(value.type, base)
        if not shape.stride:
            return writer.splat(value.type, base)
        if value.type.is_ptr:
            offsets = writer.lanes(t.I64, shape.stride)
            return writer.value(f"getelementptr i8, ptr {base}, <{writer.width} x i64> {offsets}")
        offsets = writer.lanes(value.type, shape.stride)
        vector = writer.vector(value.type)
        return writer.value(f"add {vector} {writer.splat(value.type, base)}, {offsets}")

    def _spread_struct(self, type_: t.Struct, base: str) -> str:
        writer, result = self.writer, "poison"
        for i, field in enumerate(type_.fields):
            part = writer.splat(field, writer.value(f"extractvalue {type_} {base}, {i}"))
            result = writer.value(
                f"insertvalue {writer.vector(type_)} {result}, {writer.vector(field)} {part}, {i}"
            )
        return result


def buffer_name(argument: Argument) -> str:
    """The name of a buffer in generated code, which must not meet one of ours."""
    return f"%{quoted('buffer.' + argument.name.strip('%'))}"


def _escaping(program: Program) -> set[Value]:
    """Instructions with a use in another block; a phi uses its operand in the predecessor."""
    result: set[Value] = set()
    for block in program.blocks:
        for instr in block.instrs:
            sources = instr.arg if instr.op == "phi" else [block] * len(instr.operands)
            for operand, where in zip(instr.operands, sources, strict=True):
                if isinstance(operand, Instr) and operand.block is not where:
                    result.add(operand)
    return result
