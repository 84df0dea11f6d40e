"""The second target's lowering table: how the code of one thread asks for what a host has."""

from __future__ import annotations

from typing import ClassVar

from anymetal.emission.lowering import Lowering
from anymetal.errors import UnsupportedFeatureError
from anymetal.ir.calls import plain_name
from anymetal.ir.model import Argument, Instr

#: Where a thread stands, in the order in which `place` holds it.
PLACES = ["lane", "gang"] + [
    f"{what}_{axis}" for what in ("thread", "group", "size", "full_size", "grid") for axis in "xyz"
]


class HostThread(Lowering):
    """A function `(ptr buffers, ptr place, ptr threadgroup)`. Threads run one after the other, so
    none can wait for another. Address spaces have the numbers that they have on GPUs; to this
    processor they are all the same."""

    spaces: ClassVar = {"device": 1, "threadgroup": 3, "constant": 4, "thread": 5}

    def parameters(self) -> list[str]:
        return ["ptr %buffers", "ptr %place", "ptr addrspace(3) %threadgroup"]

    def buffer(self, argument: Argument) -> str:
        at = f"%at.{argument.index}"
        address = f"%buffer.{argument.index}"
        self.w.entry_lines += [
            f"  {at} = getelementptr ptr, ptr %buffers, i64 {argument.index}",
            f"  {address} = load {self.spelled(argument.type)}, ptr {at}",
        ]
        return address

    def position(self, name: str) -> str:
        address = self.w.value(f"getelementptr i32, ptr %place, i64 {PLACES.index(name)}")
        return self.w.value(f"load i32, ptr {address}")

    def barrier(self, instr: Instr) -> None:
        self._refuse(instr, "waits for other threads at a barrier")

    def cross_lane(self, instr: Instr, names: list[str]) -> str:
        self._refuse(instr, "takes part in a function of its SIMD-group")
        return ""

    def log(self, instr: Instr, names: list[str]) -> None:
        self._refuse(instr, "prints")

    def stray(self, instr: Instr, names: list[str]) -> None:
        self._refuse(instr, "checks bounds")

    def _refuse(self, instr: Instr, what: str) -> None:
        raise UnsupportedFeatureError(
            f"{instr.loc}: a thread {what} ({plain_name(instr.arg)}), but on this target threads "
            "run one after the other and by themselves. Select the CPU target."
        )
