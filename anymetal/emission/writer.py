"""Writes LLVM IR text: fresh names, blocks, and declarations of what is called."""

from __future__ import annotations

from collections.abc import Callable

from anymetal.ir import types as t
from anymetal.ir.types import Type

#: An intrinsic for debug information; without that information it is just a label.
_LABEL = "llvm.codeview.annotation"


class Writer:
    """The text of one LLVM function body, plus the module's declarations."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[str] = []
        self.entry_lines: list[str] = []  #: allocas, placed at the top of the function
        self.declarations: dict[str, str] = {}
        self.count = 0
        self.mark = ""  #: appended to each instruction (see marks.py)
        self.at = "begin"  #: the block that is being written

    def fresh(self, prefix: str = "t") -> str:
        self.count += 1
        return f"{prefix}.{self.count}"

    def value(self, text: str) -> str:
        """Append an instruction with a result; returns its name."""
        name = f"%{self.fresh()}"
        self.lines.append(f"  {name} = {text}{self.mark}")
        return name

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}{self.mark}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.at = name

    def two_ways(
        self, condition: str, names: tuple[str, str, str], yes: Callable[[], None],
        no: Callable[[], None],
    ) -> None:  # fmt: skip
        """What `yes` writes if the condition holds, else what `no` writes. The labels of both, and
        of where they meet, have these names."""
        one, other, end = map(self.fresh, names)
        self.do(f"br i1 {condition}, label %{one}, label %{other}")
        for label, write in ((one, yes), (other, no)):
            self.label(label)
            write()
            self.do(f"br label %{end}")
        self.label(end)

    def repeat(self, stop: int, step: int, write: Callable[[str], None]) -> None:
        """What `write` writes, for each of 0, step, 2 step, … below `stop`, in a loop that LLVM
        does not unroll. It is given the name of that i64."""
        first, loop, behind = self.at, self.fresh("repeat"), self.fresh("behind")
        at, following = f"%{self.fresh()}", f"%{self.fresh()}"
        self.do(f"br label %{loop}")
        self.label(loop)
        place = len(self.lines)
        write(at)
        self.do('call void asm sideeffect "", ""() noduplicate')
        self.do(f"{following} = add nuw nsw i64 {at}, {step}")
        more = self.value(f"icmp ult i64 {following}, {stop}")
        phi = f"{at} = phi i64 [ 0, %{first} ], [ {following}, %{self.at} ]"
        self.lines.insert(place, f"  {phi}{self.mark}")
        self.do(f"br i1 {more}, label %{loop}, label %{behind}")
        self.label(behind)

    def end_block(self) -> None:
        """Ends the block by a branch that LLVM must not look through and that costs nothing: its
        scheduler does not mix what is in front and behind."""
        behind = self.fresh("behind")
        self.do(f'callbr void asm sideeffect "", ""() memory(none) to label %{behind} []')
        self.label(behind)

    def boundary(self) -> None:
        """A label, for free, that LLVM's scheduler moves nothing across, within a block. (Between
        blocks LLVM moves a value with one use to that use: good for sums, too late for loads.)"""
        self.declarations[_LABEL] = f"declare void @{_LABEL}(metadata)"
        self.do(f"call void @{_LABEL}(metadata !0)")

    def made_here(self, name: str, type_: str, register: str) -> str:
        """A value, in one of these registers, that LLVM does not make later on, just in front of a
        use in another block: what it is made of would have to be kept until then."""
        return self.value(f'call {type_} asm "", "={register},0"({type_} {name})')

    def hidden(self, address: str) -> str:
        """The same address, of which LLVM does not know where it leads."""
        return self.value(f'call ptr asm sideeffect "", "=r,0"(ptr {address})')

    def forget_loads(self) -> None:
        """From here on LLVM does not reuse values that were loaded before."""
        self.do('call void asm sideeffect "", "~{memory}"()')

    def alloca(self, type_: Type | str, prefix: str = "slot", align: int = 0) -> str:
        name = f"%{self.fresh(prefix)}"
        suffix = f", align {align}" if align else ""
        self.entry_lines.append(f"  {name} = alloca {type_}{suffix}")
        return name

    # -- types and constants --------------------------------------------------------------

    def vector(self, type_: Type) -> str:
        """The type of one value per lane."""
        if isinstance(type_, t.Struct):
            return "{ " + ", ".join(self.vector(f) for f in type_.fields) + " }"
        return f"<{self.width} x {type_}>"

    def splat_constant(self, type_: Type, text: str) -> str:
        if text in ("poison", "undef", "zeroinitializer"):
            return text
        if type_.is_ptr:
            return "zeroinitializer"
        return f"splat ({type_} {text})"

    def numbers(self, type_: Type, values: list[int]) -> str:
        """A constant vector of integers."""
        return "<" + ", ".join(f"{type_} {v}" for v in values) + ">"

    def shuffle(self, vector: str, picks: list[int], first: str, second: str = "poison") -> str:
        """These elements of two vectors of the type `vector`, the second behind the first; any for
        -1."""
        order = ", ".join(f"i32 {n}" if n >= 0 else "i32 poison" for n in picks)
        both = f"{vector} {first}, {vector} {second}"
        return self.value(f"shufflevector {both}, <{len(picks)} x i32> <{order}>")

    def lanes(self, type_: Type, stride: int = 1) -> str:
        assert isinstance(type_, t.Int)
        wrap = 1 << type_.bits
        return self.numbers(type_, [i * stride % wrap for i in range(self.width)])

    def splat(self, type_: Type, scalar: str) -> str:
        vector = self.vector(type_)
        if type_ in (
            t.HALF,
            t.BFLOAT,
        ):  # as integers, which are easier to move (see passes/legalise_floats.py)
            word = self.value(f"bitcast {type_} {scalar} to i16")
            return self.value(f"bitcast {self.vector(t.I16)} {self.splat(t.I16, word)} to {vector}")
        one = self.value(f"insertelement {vector} poison, {type_} {scalar}, i64 0")
        return self.value(
            f"shufflevector {vector} {one}, {vector} poison, <{self.width} x i32> zeroinitializer"
        )

    # -- calls ----------------------------------------------------------------------------

    def call(
        self,
        result: str,
        callee: str,
        args: list[tuple[str, str]],
        flags: str = "",
        attributes: str = "",
    ) -> str:
        """Call `callee`, declaring it on first use. An argument type may carry attributes."""
        plain = ", ".join(type_.split(" align ")[0] for type_, _ in args)
        self.declarations.setdefault(callee, f"declare {result} @{callee}({plain}) {attributes}")
        text = f"call {flags + ' ' if flags else ''}{result} @{callee}(" + ", ".join(
            f"{type_} {value}" for type_, value in args
        )
        if result == "void":
            self.do(text + ")")
            return ""
        return self.value(text + ")")


def suffix(type_: Type, width: int = 0) -> str:
    """LLVM's name of a type in an overloaded intrinsic: f32, v32i8, v32p0."""
    names = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "ptr": "p0"}
    name = names.get(str(type_), str(type_))
    return f"v{width}{name}" if width else name
