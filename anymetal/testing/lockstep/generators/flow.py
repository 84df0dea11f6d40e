"""Odd control flow: falling through a switch, leaving loops in every way at every depth, loops that
are entered in the middle, and lanes that meet just before they part."""

from __future__ import annotations

import random

from anymetal.testing.lockstep.case import Case
from anymetal.testing.lockstep.generators.common import (
    element_leaf,
    finish,
    input_of,
    launch,
    starts,
)
from anymetal.testing.lockstep.text import Text

_MEETINGS = (
    "simd_sum({v})", "simd_max({v})", "(uint)simd_ballot_({c})", "simd_prefix_exclusive_sum({v})",
    "simd_xor({v})", "quad_sum({v})", "simd_broadcast_first({v})",
)  # fmt: skip


class _Flow:
    def __init__(self, text: Text, meets: bool) -> None:
        self.text = text
        self.rng = text.rng
        self.meets = meets
        self.returns = text.rng.random() < 0.3
        self.left = 22  #: statements

    def statements(self, deep: int, loop: bool, switch: bool = False) -> None:
        """Some statements; `loop`: inside of one."""
        for _ in range(self.rng.randint(1, 3)):
            self.left -= 1
            roll = self.rng.random()
            if self.left < 0 or not deep or roll < 0.3:
                self.text.assign(1)
            elif roll < 0.45:
                with self.text.block(f"if ({self.text.condition()})"):
                    self.statements(deep - 1, loop, switch)
                    self.leave(loop, switch)
                if self.text.chance(0.4):
                    with self.text.block("else"):
                        self.statements(deep - 1, loop, switch)
            elif roll < 0.65:
                self.loop(deep - 1)
            elif roll < 0.8:
                self.switch(deep - 1, loop)
            elif self.meets:
                self.meet()
            else:
                self.text.assign(2)

    def meet(self) -> None:
        value = f"(uint)({self.text.integer('uint', 1)})"
        call = self.rng.choice(_MEETINGS)
        if "ballot" in call:
            call = "(uint)(ulong)simd_ballot({c})"
        call = call.format(v=value, c=self.text.condition())
        target = self.rng.choice(
            [v for v in self.text.variables if v.type == "uint" and not v.fixed]
        )
        self.text.line(f"{target.name} {self.text.choose('+=', '^=', '=')} {call};")

    def leave(self, loop: bool, switch: bool) -> None:
        """Perhaps the end of the block, in front of which lanes may meet."""
        if not self.text.chance(0.6):
            return
        ways = (["break", "continue"] if loop and not switch else []) + (
            ["continue"] if loop else []
        )
        if self.returns and self.text.chance(0.3):
            ways = ["return"]
        if not ways:
            return
        if self.meets and self.text.chance(0.6):
            self.meet()
        way = self.rng.choice(ways)
        if way == "return":
            self.text.line(f"y[gid] = {self.text.mixed()};")
        self.text.line(f"{way};")

    def loop(self, deep: int) -> None:
        """A bounded loop of any kind."""
        counter = self.text.fresh("i")
        bound = self.rng.choice(
            ("5", "(int)(gid & 7u)", "9", f"(int)({self.text.integer('uint', 1)} & 7u)")
        )
        shape = self.rng.randrange(3)
        known = len(self.text.variables)
        if shape == 0:
            with self.text.loop(f"for (int {counter} = 0; {counter} < {bound}; {counter}++)"):
                self.statements(deep, True)
                self.leave(True, False)
        elif shape == 1:
            self.text.line(f"int {counter} = 0;")
            with self.text.loop("while (true)"):
                self.text.line(f"if ({counter}++ >= {bound}) break;")
                self.statements(deep, True)
        else:
            self.text.line(f"int {counter} = 0;")
            limit = self.rng.choice(("4", "(int)(gid % 5u)"))
            with self.text.loop("while (true)"):
                self.statements(deep, False)  # nothing passes over the end
                self.text.line(f"if (++{counter} > {limit}) break;")
        del self.text.variables[known:]

    def switch(self, deep: int, loop: bool) -> None:
        """With and without breaks, and a default in any place."""
        labels: list[str] = [f"case {number}:" for number in range(self.rng.randint(2, 4))]
        labels.insert(self.rng.randint(0, len(labels)), "default:")
        with self.text.block(f"switch ((int)({self.text.integer('uint', 1)} & 3u))"):
            for label in labels:
                with self.text.block(label):
                    self.statements(deep, loop, True)
                if self.text.chance(0.6):
                    self.text.line("break;")


def generate(rng: random.Random) -> Case:
    """A case."""
    text = Text(rng)
    inputs = [input_of(rng, "x", "uint", 64), input_of(rng, "z", "uint", 128)]
    starts(text, inputs)
    element_leaf(text, inputs)
    roll = rng.random()
    if roll < 0.15:
        _duff(text)
    elif roll < 0.3:
        _into_loop(text)
    _Flow(text, meets=rng.random() < 0.6).statements(3, False)
    return finish(text, inputs, *launch(rng))


def _duff(text: Text) -> None:
    """A loop whose first iteration begins in the middle."""
    rng = text.rng
    value, count = text.variables[0].name, text.fresh("n")
    text.line(f"int {count} = (int)(({text.integer('uint', 1)} & 15u) + 1u);")
    text.line(f"int {count}t = ({count} + 3) / 4;")
    with text.block(f"switch ({count} & 3)"):
        text.line("case 0: do {")
        text.line(f"{value} = {value} * {rng.randrange(3, 99, 2)}u + 1u;")
        for label in (3, 2, 1):
            text.line(f"case {label}: {value} ^= {value} >> {rng.randrange(1, 31)};")
        text.line(f"}} while (--{count}t > 0);")


def _into_loop(text: Text) -> None:
    """A switch whose case lies within a loop within it."""
    value, count = text.variables[0].name, text.fresh("n")
    text.line(f"int {count} = 0;")
    with text.block(f"switch ((int)({text.integer('uint', 1)} & 1u))"):
        text.line("default:")
        text.line(f"for (; {count} < 4; {count}++) {{")
        text.line(f"{value} += 3u;")
        text.line(f"case 1: {value} *= 5u;")
        text.line(f"if (({value} & 7u) == 2u) break;")
        text.line("}")
