"""What the threads of a SIMD-group compute together, as instructions of a warp.

All threads that the SIMD-group has execute these instructions (see lowering.py and in_step.py),
those that are inactive in Metal's sense, too: they only give nothing. So the mask of an instruction
is always that of the threads that there are, `existing`, and never a guess about which of them
have come to the same place at the same time.
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.calls import MATRIX_FMA, SHUFFLE
from anymetal.ir.model import Instr
from anymetal.ir.problem import Problem
from anymetal.ir.sizes import SIMD_GROUP

LANE = "%lane"

#: (operation, element) -> what combines two values, and its identity: -0.0 + x is x for all x, and
#: so is minnum(NaN, x).
_REDUCTIONS = {
    ("add", "f32"): ("fadd", "-0.0"), ("mul", "f32"): ("fmul", "1.0"),
    ("min", "f32"): ("llvm.minnum.f32", "0x7FF8000000000000"),
    ("max", "f32"): ("llvm.maxnum.f32", "0x7FF8000000000000"),
    ("add", "i32"): ("add", "0"), ("mul", "i32"): ("mul", "1"),
    ("min", "i32"): ("llvm.smin.i32", "2147483647"),
    ("max", "i32"): ("llvm.smax.i32", "-2147483648"),
    ("add", "u32"): ("add", "0"), ("mul", "u32"): ("mul", "1"),
    ("min", "u32"): ("llvm.umin.i32", "-1"), ("max", "u32"): ("llvm.umax.i32", "0"),
    ("and", "u32"): ("and", "-1"), ("or", "u32"): ("or", "0"), ("xor", "u32"): ("xor", "0"),
}  # fmt: skip
_STEPS = (1, 2, 4, 8, 16)


class Collective:
    """Emits cross-lane calls. `active`, an i1, says whether a thread takes part. `whole`: every
    SIMD-group has all its lanes."""

    def __init__(self, writer: Writer, whole: bool = False) -> None:
        self.w, self.whole = writer, whole
        self.existing = "-1" if whole else "%existing"
        self._known: dict[tuple[str, ...], str] = {}  #: what was computed in the block `_block`
        self._block = ""

    def _once(self, *key: str, make: Callable[[], str]) -> str:
        """A value that depends on nothing but `key`: computed once in a block of code. LLVM does
        not do that for what threads compute together."""
        if self._block != self.w.at:
            self._block = self.w.at
            self._known.clear()
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def emit(self, instr: Instr, names: list[str], active: str) -> str:
        kind = instr.arg.removeprefix("__am_").split("_")
        if instr.arg == SHUFFLE:
            return self._shuffle(names[0], names[1], active)
        if instr.arg == MATRIX_FMA:
            return self._matrix_fma(names, active)
        match kind[0]:
            case "ballot":
                return self.ballot(self._both(active, names[0]))
            case "simdgroup":
                self.meet()
                return ""
            case "reduce":
                return self._reduce(instr.type, *_REDUCTIONS[kind[1], kind[2]], names[0], active)
            case "scan" | "xscan":
                operation, identity = _REDUCTIONS[kind[1], kind[2]]
                identity = "0.0" if operation == "fadd" else identity
                value = self._where(active, instr.type, names[0], identity)
                return self._scan(instr.type, operation, identity, value, kind[0] == "xscan")
        raise Problem(f"no instructions of a warp: {instr.arg}")

    # -- what there are instructions for --------------------------------------------------

    def meet(self) -> None:
        """The threads wait for each other and see what the others have written."""
        self.w.call("void", "llvm.nvvm.bar.warp.sync", [("i32", self.existing)])

    def ballot(self, bit: str) -> str:
        """A word with a bit for each lane."""
        return self.w.call(
            "i32", "llvm.nvvm.vote.ballot.sync", [("i32", self.existing), ("i1", bit)]
        )

    def any(self, bit: str) -> str:
        """Whether the bit is set in any lane."""
        return self.w.call("i1", "llvm.nvvm.vote.any.sync", [("i32", self.existing), ("i1", bit)])

    def _fetch(self, type_: t.Type, value: str, lane: str) -> str:
        """The value of a lane; anything if that does not exist."""
        return self._once("fetch", value, lane, make=lambda: self._fetched(type_, value, lane))

    def _fetched(self, type_: t.Type, value: str, lane: str) -> str:
        word = value if type_ == t.I32 else self.w.value(f"bitcast {type_} {value} to i32")
        args = [("i32", self.existing), ("i32", word), ("i32", lane), ("i32", str(SIMD_GROUP - 1))]
        word = self.w.call("i32", "llvm.nvvm.shfl.sync.idx.i32", args)
        return word if type_ == t.I32 else self.w.value(f"bitcast i32 {word} to {type_}")

    # -- words of LLVM --------------------------------------------------------------------

    def _both(self, active: str, bit: str) -> str:
        return bit if active == "true" else self._where(active, t.I1, bit, "false")

    def _where(self, condition: str, type_: t.Type, yes: str, no: str) -> str:
        if condition == "true":
            return yes
        text = f"select i1 {condition}, {type_} {yes}, {type_} {no}"
        return self._once(text, make=lambda: self.w.value(text))

    def _integer(self, operation: str, left: str, right: str | int) -> str:
        text = f"{operation} i32 {left}, {right}"
        return self._once(text, make=lambda: self.w.value(text))

    def _combined(self, type_: t.Type, operation: str, left: str, right: str) -> str:
        if operation.startswith("llvm."):
            return self.w.call(str(type_), operation, [(str(type_), left), (str(type_), right)])
        return self.w.value(f"{operation} {type_} {left}, {right}")

    def _has(self, mask: str, lane: str) -> str:
        """Whether a lane, of 32, is in a mask."""
        if mask == "-1":
            return "true"
        bit = self._integer("and", self._integer("lshr", mask, lane), 1)
        return self._integer("icmp ne", bit, 0)

    # -- what takes several ---------------------------------------------------------------

    def _shuffle(self, value: str, lane: str, active: str) -> str:
        """0 where the lane is inactive or there is none."""
        mask = self.existing if active == "true" else self.ballot(active)
        lane = self.w.value(f"freeze i32 {lane}")  # an inactive thread may have none
        place = self._integer("and", lane, SIMD_GROUP - 1)
        fetched = self._fetch(t.I32, value, place)
        inside = self._integer("icmp ult", lane, SIMD_GROUP)
        given = self._where(inside, t.I1, self._has(mask, place), "false")
        return self._where(given, t.I32, fetched, "0")

    def _reduce(self, type_: t.Type, operation: str, identity: str, value: str, active: str) -> str:
        """A butterfly: lanes exchange what they have over growing distances. Sums of pairs do not
        depend on who adds them, so all lanes have the same bits in the end, unless some are
        missing; then lane 0 has the result."""
        value = self._where(active, type_, value, identity)
        for step in _STEPS:
            partner = self._integer("xor", LANE, step)
            other = self._fetch(type_, value, partner)
            other = self._where(self._has(self.existing, partner), type_, other, identity)
            value = self._combined(type_, operation, value, other)
        return value if self.whole else self._fetch(type_, value, "0")

    def _scan(
        self, type_: t.Type, operation: str, identity: str, value: str, exclusive: bool
    ) -> str:
        """A prefix in steps of doubling distance (Hillis and Steele, 1986)."""
        if exclusive:
            value = self._shifted(type_, value, 1, identity)
        for step in _STEPS:
            before = self._shifted(type_, value, step, identity)
            value = self._combined(type_, operation, value, before)
        return value

    def _shifted(self, type_: t.Type, value: str, step: int, filling: str) -> str:
        place = self._integer("and", self._integer("sub", LANE, step), SIMD_GROUP - 1)
        other = self._fetch(type_, value, place)
        return self._where(self._integer("icmp uge", LANE, step), type_, other, filling)

    def _matrix_fma(self, names: list[str], active: str) -> str:
        """c + the sum over k of a(row, k) * b(k, column), in the order of k. Rows are in bits 4, 2
        and 1 of the lane number, pairs of columns in bits 3 and 0 (simdgroup_matrix.h)."""
        *factors, total = names
        mask = self.existing if active == "true" else self.ballot(active)
        row, column = self._integer("and", LANE, 0b10110), self._integer("and", LANE, 0b01001)
        for k in range(8):
            of_left = self._integer("or", row, (k & 4) << 1 | (k & 2) >> 1)
            of_right = self._integer("or", column, (k & 4) << 2 | (k & 3) << 1)
            left, right = (
                self._where(self._has(mask, lane), t.FLOAT, self._fetch(t.FLOAT, name, lane), "0.0")
                for name, lane in ((factors[k & 1], of_left), (factors[2], of_right))
            )
            terms = [("float", name) for name in (left, right, total)]
            total = self.w.call("float", "llvm.fma.f32", terms)
        return total
