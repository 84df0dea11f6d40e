"""Cross-lane functions: shuffles, ballots, reductions and scans under the current mask."""

from __future__ import annotations

from anymetal.analysis.lane_numbers import lane_numbers
from anymetal.ir import types as t
from anymetal.ir.model import Instr, Value
from anymetal.simd.code.deinterleave import split
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.code.tables import look_up
from anymetal.simd.lanes.broadcast import Broadcast
from anymetal.simd.lanes.reductions import reduce_lanes, scan_lanes

#: (operation, element type) -> (vector.reduce kind, identity). -0.0 + x is x for all x, and so is
#: minnum(NaN, x).
_REDUCTIONS = {
    ("add", "f32"): ("fadd", "-0.0"), ("mul", "f32"): ("fmul", "1.0"),
    ("min", "f32"): ("fmin", "0x7FF8000000000000"), ("max", "f32"): ("fmax", "0x7FF8000000000000"),
    ("add", "i32"): ("add", "0"), ("mul", "i32"): ("mul", "1"),
    ("min", "i32"): ("smin", "2147483647"), ("max", "i32"): ("smax", "-2147483648"),
    ("add", "u32"): ("add", "0"), ("mul", "u32"): ("mul", "1"),
    ("min", "u32"): ("umin", "-1"), ("max", "u32"): ("umax", "0"),
    ("and", "u32"): ("and", "-1"), ("or", "u32"): ("or", "0"), ("xor", "u32"): ("xor", "0"),
}  # fmt: skip


class CrossLane(GangEmitter):
    """Emits cross-lane calls, except products of matrices (matrices.py). An inactive lane gives 0
    to shuffles and matrices, and nothing to the others."""

    def __init__(self, c: GangContext) -> None:
        super().__init__(c)
        self.numbers, self.spread = c.known(lane_numbers), Broadcast(c)
        self.buffer = ""

    def emit(self, instr: Instr, mask: Mask) -> None:
        kind = instr.arg.removeprefix("__am_").split("_")
        if kind[0] == "shuffle":
            self._shuffle(instr, mask)
        elif kind[0] == "ballot":
            self._ballot(instr, mask)
        elif kind[0] == "simdgroup":
            pass  # lanes run in lockstep, so their accesses are in order already
        elif kind[0] == "reduce":
            reduction, identity = _REDUCTIONS[kind[1], kind[2]]
            vector = self.masks.blend(instr.type, self.v.vector(instr.operands[0]), identity, mask)
            self.v.define(instr, reduce_lanes(self.w, reduction, instr.type, vector))
        else:
            self._scan(instr, kind[1], exclusive=kind[0] == "xscan", mask=mask)

    def _ballot(self, instr: Instr, mask: Mask) -> None:
        active = self.masks.both(mask, self.v.vector(instr.operands[0]))
        self.v.define(instr, self.masks.word(active))

    # -- shuffles -------------------------------------------------------------------------

    def _shuffle(self, instr: Instr, mask: Mask) -> None:
        value, lane = instr.operands
        source = self._kept(self.masks.blend(value.type, self.v.vector(value), "0", mask), mask)
        known = self.numbers(lane)
        stored = self.spread.lane(value, known[0]) if known is not None and mask is None else ""
        if self.v.shape(lane).is_uniform and stored:
            self.v.define(instr, stored)
        elif self.v.shape(lane).is_uniform:
            in_memory = mask is None and value in self.v.laid_out and known is None
            self.v.define(instr, self._read(value, lane) if in_memory else self._pick(source, lane))
        elif known is not None:
            self.v.define(instr, vector=self._permute(source, known))
        else:
            self.v.define(instr, vector=self._looked_up(source, self.v.vector(lane)))

    def _kept(self, source: str, mask: Mask) -> str:
        """What is shuffled, in registers. LLVM 22 makes one instruction of a masked load and a
        permutation under the same mask, which permutes first: active lanes would get what lies in
        memory for lanes that are not. Assembly without instructions keeps the two apart."""
        if mask is None or not self.machine.permutes_under_masks:
            return source
        words, width = self.machine.words, self.w.width
        register = f"<{words} x i32>"
        parts = split(self.w, t.I32, source, width, words)
        low, high = (self.w.made_here(part, register, self.machine.any_register) for part in parts)
        return self.w.shuffle(register, list(range(width)), low, high)

    def _read(self, value: Value, lane: Value) -> str:
        """The element of a lane, read from memory; a zero lies behind the lanes' elements."""
        index, width = self.v.scalar(lane), self.w.width
        inside = self.w.value(f"icmp ult i32 {index}, {width}")
        safe = self.w.value(f"select i1 {inside}, i32 {index}, i32 {width}")
        address = self.w.value(f"getelementptr i32, ptr {self.v.layout(value)}, i32 {safe}")
        return self.w.value(f"load i32, ptr {address}, align 4")

    def _pick(self, source: str, lane: Value) -> str:
        vector, width = self.w.vector(t.I32), self.w.width
        index = self.v.scalar(lane)
        inside = self.w.value(f"icmp ult i32 {index}, {width}")
        safe = self.w.value(f"and i32 {index}, {width - 1}")
        picked = self.w.value(f"extractelement {vector} {source}, i32 {safe}")
        return self.w.value(f"select i1 {inside}, i32 {picked}, i32 0")

    def _permute(self, source: str, lanes: tuple[int, ...]) -> str:
        picks = [min(n, self.w.width) for n in lanes]
        return self.w.shuffle(self.w.vector(t.I32), picks, source, "zeroinitializer")

    def _looked_up(self, source: str, lanes: str) -> str:
        """Elements by numbers that only the data tell; zeros where there are no such lanes."""
        w, vector, width = self.w, self.w.vector(t.I32), self.w.width
        inside = w.value(f"icmp ult {vector} {lanes}, {w.splat_constant(t.I32, str(width))}")
        words = self.machine.words
        if not self.machine.permutes(t.I32.size) or width < 2 * words:
            return self._through_memory(source, lanes, inside)
        parts = split(w, t.I32, source, width, words)
        found = look_up(w, self.machine, t.I32, parts, lanes)
        return w.value(
            f"select {w.vector(t.I1)} {inside}, {vector} {found}, {vector} zeroinitializer"
        )

    def _through_memory(self, source: str, lanes: str, inside: str) -> str:
        """The same by way of memory."""
        w, vector, width = self.w, self.w.vector(t.I32), self.w.width
        if not self.buffer:
            self.buffer = w.alloca(vector, "shuffle", 128)
        w.do(f"store {vector} {source}, ptr {self.buffer}, align 128")
        safe = w.value(f"and {vector} {lanes}, {w.splat_constant(t.I32, str(width - 1))}")
        pointers = w.value(f"getelementptr i32, ptr {self.buffer}, {vector} {safe}")
        args = [
            (f"{w.vector(t.PTR)} align 4", pointers),
            (w.vector(t.I1), inside),
            (vector, "zeroinitializer"),
        ]
        return w.call(vector, f"llvm.masked.gather.v{width}i32.v{width}p0", args)

    # -- scans ----------------------------------------------------------------------------

    def _scan(self, instr: Instr, operation: str, exclusive: bool, mask: Mask) -> None:
        type_ = instr.type
        identity = {"add": "0", "mul": "1"}[operation] + (".0" if type_.is_float else "")
        vector = self.masks.blend(type_, self.v.vector(instr.operands[0]), identity, mask)
        scanned = scan_lanes(self.w, operation, type_, vector, exclusive, self.machine)
        self.v.define(instr, vector=scanned)
