"""Positions of threads: the context of a gang, and the intrinsics that read it."""

from __future__ import annotations

from collections.abc import Callable

from anymetal.ir import types as t
from anymetal.ir.model import Instr
from anymetal.simd.code.gang_context import GangEmitter

_UNIFORM = [f"{what}_{axis}" for what in ("group", "size", "full_size", "grid") for axis in "xyz"]
#: Parameters of a gang function behind the buffers.
CONTEXT_NAMES = [*_UNIFORM, "gang", "active"]
CONTEXT = [
    *(f"i32 %{name}" for name in CONTEXT_NAMES),
    "i1 %streaming",  #: whether stores of results bypass the caches
    "ptr %sums",  #: a worker's own arrays (see simd/access/privatised_sums.py), or null
    "i64 %sums.bytes",  #: of that one whose size the launch knows
    "ptr %locks",  #: of the launch (see additions.cpp), or null while a thread is alone in it
    "ptr noalias %private",  #: memory for large private arrays (see private_memory.py), or null
    "ptr %threadgroup",
    "ptr %cancel",
]


class Positions(GangEmitter):
    """Emits the position intrinsics."""

    def emit(self, instr: Instr) -> bool:
        """Whether the callee is a position intrinsic; then it is emitted."""
        name = instr.arg.removeprefix("__am_")
        if name in _UNIFORM:
            self.v.define(instr, f"%{name}")
        elif name == "gang":
            self.v.define(instr, self._simdgroup())
        elif name == "lane":
            self.v.define(instr, self._first_lane())
        elif name in ("thread_x", "thread_y", "thread_z"):
            self._thread(instr, name[-1])
        else:
            return False
        return True

    def _simdgroup(self) -> str:
        """The number of the SIMD-group. Gangs that are not 32 wide share one."""
        shift = 5 - (self.w.width.bit_length() - 1)
        return "%gang" if shift == 0 else self.w.value(f"lshr i32 %gang, {shift}")

    def _first_lane(self) -> str:
        if self.w.width == 32:
            return "0"
        first = self.w.value(f"mul i32 %gang, {self.w.width}")
        return self.w.value(f"and i32 {first}, 31")

    def _thread(self, instr: Instr, axis: str) -> None:
        """A position in the threadgroup, from the linear index of lane 0."""
        first = self.w.value(f"mul i32 %gang, {self.w.width}")
        if self.known.launch.linear:
            self.v.define(instr, self._component(first, axis, "i32", lambda scalar: scalar))
            return
        vector = self.w.vector(t.I32)
        index = self.w.value(f"add {vector} {self.w.splat(t.I32, first)}, {self.w.lanes(t.I32)}")
        spread = self._component(index, axis, vector, lambda scalar: self.w.splat(t.I32, scalar))
        self.v.define(instr, vector=spread)

    def _component(self, index: str, axis: str, type_: str, spread: Callable[[str], str]) -> str:
        """x, y or z of an index in the threadgroup, for scalars or vectors."""
        if self.known.launch.flat:
            return index if axis == "x" else spread("0")
        row = self._divide(type_, index, "%size_x", spread)
        if axis == "x":
            return self._rest(type_, index, row, spread("%size_x"))
        plane = self._divide(type_, row, "%size_y", spread)
        return plane if axis == "z" else self._rest(type_, row, plane, spread("%size_y"))

    def _divide(self, type_: str, index: str, size: str, spread: Callable[[str], str]) -> str:
        """index / size as index * (floor(2^20 / size) + 1) >> 20. That is exact for index, size <=
        1024, as the error index / 2^20 is below 1 / size; and the factor is the same for all
        gangs."""
        quotient = self.w.value(f"udiv i32 {1 << 20}, {size}")
        scale = spread(self.w.value(f"add i32 {quotient}, 1"))
        product = self.w.value(f"mul {type_} {index}, {scale}")
        return self.w.value(f"lshr {type_} {product}, {spread('20')}")

    def _rest(self, vector: str, index: str, quotient: str, size: str) -> str:
        whole = self.w.value(f"mul {vector} {quotient}, {size}")
        return self.w.value(f"sub {vector} {index}, {whole}")
