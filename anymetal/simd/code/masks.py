"""Execution masks: which lanes are active. None stands for "all lanes", known when compiling."""

from __future__ import annotations

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.machine import Machine

Mask = str | None


class Masks:
    """Operations on masks. Conditions are combined by select, never by `and`: the condition of an
    inactive lane may be poison."""

    def __init__(self, writer: Writer, machine: Machine) -> None:
        self.w = writer
        self.type = writer.vector(t.I1)
        self.all_true = "splat (i1 true)"
        #: What passes from block to block. LLVM would take vectors of i1 apart there, lane by lane,
        #: if their bytes did not fit a register.
        self.in_bytes = writer.width > machine.vector_bytes
        #: NEON finds the largest byte of a vector in one instruction, but makes no bits of lanes.
        self.folds = self.in_bytes and machine.architecture == "aarch64"
        self.kept_type = writer.vector(t.I8) if self.in_bytes else self.type

    def text(self, mask: Mask) -> str:
        return self.all_true if mask is None else mask

    def kept(self, mask: str) -> str:
        """A mask as it is kept for other blocks."""
        if not self.in_bytes:
            return mask
        if mask == self.all_true:
            return "splat (i8 -1)"
        if mask == "zeroinitializer":
            return mask
        # What LLVM could see through it would turn into a vector of i1 again.
        wide = self.w.value(f"sext {self.type} {mask} to {self.kept_type}")
        fenced, suffix = f"<{self.w.width // 4} x float>", f"v{self.w.width // 4}f32"
        floats = self.w.value(f"bitcast {self.kept_type} {wide} to {fenced}")
        kept = self.w.call(fenced, f"llvm.arithmetic.fence.{suffix}", [(fenced, floats)])
        return self.w.value(f"bitcast {fenced} {kept} to {self.kept_type}")

    def taken(self, kept: str) -> str:
        """A mask that was kept."""
        if not self.in_bytes:
            return kept
        return self.w.value(f"icmp ne {self.kept_type} {kept}, zeroinitializer")

    def both(self, mask: Mask, condition: str, negate: bool = False) -> str:
        """Lanes of `mask` for which the vector `condition` holds (or does not)."""
        if negate:
            condition = self.w.value(f"xor {self.type} {condition}, {self.all_true}")
        if mask is None:
            return condition
        return self.w.value(
            f"select {self.type} {mask}, {self.type} {condition}, {self.type} zeroinitializer"
        )

    def without(self, mask: Mask, some: str) -> str:
        """Lanes of `mask` except for `some` of its lanes."""
        return self.w.value(f"xor {self.type} {self.text(mask)}, {some}")

    def either(self, a: str, b: Mask) -> str:
        return self.w.value(f"or {self.type} {a}, {self.text(b)}")

    def blend(self, type_: t.Type, yes: str, no: str, mask: Mask) -> str:
        """Active lanes take vector `yes`, the others the scalar constant `no`."""
        if mask is None:
            return yes
        vector = self.w.vector(type_)
        other = self.w.splat_constant(type_, no)
        return self.w.value(f"select {self.type} {mask}, {vector} {yes}, {vector} {other}")

    def bits(self, mask: Mask) -> str:
        """The mask as an integer, lane 0 in bit 0."""
        width = self.w.width
        return "-1" if mask is None else self.w.value(f"bitcast {self.type} {mask} to i{width}")

    def turned(self, mask: Mask) -> Mask:
        """The mask with the last lane first."""
        if mask is None:
            return None
        bits, width = f"i{self.w.width}", self.w.width
        turned = self.w.call(bits, f"llvm.bitreverse.{bits}", [(bits, self.bits(mask))])
        return self.w.value(f"bitcast i{width} {turned} to {self.type}")

    def word(self, mask: Mask) -> str:
        """The same as 32 bits; lanes that the gang does not have are 0."""
        return self.as_i32(self.bits(mask))

    def any(self, mask: Mask) -> str:
        if mask is None:
            return "true"
        if self.folds:
            return self.w.value(f"icmp ne i8 {self._folded('umax', mask)}, 0")
        return self.w.value(f"icmp ne i{self.w.width} {self.bits(mask)}, 0")

    def all(self, mask: Mask) -> str:
        if mask is None:
            return "true"
        if self.folds:
            return self.w.value(f"icmp eq i8 {self._folded('umin', mask)}, -1")
        return self.w.value(f"icmp eq i{self.w.width} {self.bits(mask)}, -1")

    def count(self, mask: Mask) -> str:
        """How many lanes are active, as i32."""
        if mask is None:
            return str(self.w.width)
        if self.folds:
            ones = self.w.value(f"zext {self.type} {mask} to {self.kept_type}")
            callee = f"llvm.vector.reduce.add.v{self.w.width}i8"
            sum_ = self.w.call("i8", callee, [(self.kept_type, ones)])
            return self.w.value(f"zext i8 {sum_} to i32")
        word = f"i{self.w.width}"
        return self.as_i32(self.w.call(word, f"llvm.ctpop.{word}", [(word, self.bits(mask))]))

    def _folded(self, how: str, mask: str) -> str:
        callee = f"llvm.vector.reduce.{how}.v{self.w.width}i8"
        return self.w.call("i8", callee, [(self.kept_type, self.kept(mask))])

    def as_i32(self, number: str) -> str:
        """A number that has as many bits as the gang has lanes."""
        width = self.w.width
        if width == 32:
            return number
        return self.w.value(f"{'zext' if width < 32 else 'trunc'} i{width} {number} to i32")

    def last_lane(self, mask: str) -> str:
        """Number of the highest active lane, as i32."""
        word = f"i{self.w.width}"
        zeros = self.w.call(word, f"llvm.ctlz.{word}", [(word, self.bits(mask)), ("i1", "true")])
        lane = self.w.value(f"sub {word} {self.w.width - 1}, {zeros}")
        return self.as_i32(lane)
