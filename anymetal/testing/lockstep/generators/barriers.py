"""Threadgroup memory between barriers, without races: in each phase a thread writes its own place
and behind the barrier reads any. Threadgroups of all shapes, at the edge of the grid, too."""

from __future__ import annotations

import random

from anymetal.testing.lockstep.case import Case, Extent
from anymetal.testing.lockstep.generators.common import (
    THREADS,
    element_leaf,
    finish,
    input_of,
    starts,
)
from anymetal.testing.lockstep.text import Text

GROUPS: tuple[tuple[Extent, Extent], ...] = (
    ((64, 1, 1), (64, 1, 1)),
    ((256, 1, 1), (128, 1, 1)),
    ((512, 1, 1), (256, 1, 1)),
    ((1024, 1, 1), (1024, 1, 1)),
    ((99, 3, 1), (33, 3, 1)),
    ((16, 8, 4), (8, 8, 4)),
    ((7, 1, 1), (7, 1, 1)),
    ((150, 1, 1), (64, 1, 1)),
    ((3, 2, 1), (1, 1, 1)),
    ((32, 32, 1), (16, 16, 1)),
    ((64, 8, 1), (32, 8, 1)),
    ((40, 12, 1), (8, 8, 1)),
    ((32, 16, 1), (32, 4, 1)),
    ((64, 1, 1), (32, 1, 1)),
    ((128, 2, 1), (64, 2, 1)),
    ((192, 1, 1), (96, 1, 1)),
)
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
_TYPES = ("uint", "uint", "int", "uchar", "ushort", "ulong")


def generate(rng: random.Random) -> Case:
    """A case."""
    text = Text(rng)
    grid, threadgroup = rng.choice(GROUPS)
    inputs = [input_of(rng, "x", "uint", 512)]
    starts(text, inputs)
    text.line("uint t = thread_index_in_threadgroup;")
    text.line(THREADS)
    element_leaf(text, inputs)
    if rng.random() < 0.12:  # returned threads count as arrived; nobody reads their places
        with text.block("if (n > 8u)"):
            text.line("if (t >= n - 3u) return;")
            text.line("n -= 3u;")
    for _ in range(rng.randint(1, 3)):
        _phase(text)
        if text.chance(0.5):
            text.assign()
    return finish(text, inputs, grid, threadgroup)


def _phase(text: Text) -> None:
    rng = text.rng
    element, name = rng.choice(_TYPES), text.fresh("m")
    if element == "ulong":
        size = 1024
    else:
        size = rng.choice((1024, 1024, 1056))
    shape = rng.randrange(6)
    text.lines.insert(0, f"threadgroup {element} {name}[{size}];")
    value = text.integer("uint", 1)
    text.line(f"{name}[t] = ({element})({value});")
    text.line(BARRIER)
    result = text.declare("uint", "0u", "r").name
    if shape == 0:
        text.line(f"{result} = (uint){name}[(t + {rng.randrange(1, 40)}u) % n];")
    elif shape == 1:
        text.line(f"{result} = (uint){name}[n - 1u - t];")
    elif shape == 2:  # a reduction by halves, whose loop is the same for all threads
        text.line(f"uint {name}n = n;")
        with text.block(f"while ({name}n > 1u)"):
            text.line(f"uint {name}h = ({name}n + 1u) / 2u;")
            text.line(f"if (t + {name}h < {name}n) {name}[t] += {name}[t + {name}h];")
            text.line(BARRIER)
            text.line(f"{name}n = {name}h;")
        text.line(f"{result} = (uint){name}[0];")
    elif shape == 3:  # a scan
        text.line(f"for (uint {name}s = 1u; {name}s < n; {name}s *= 2u) {{")
        text.line(f"{element} {name}v = t >= {name}s ? {name}[t - {name}s] : ({element})0;")
        text.line(BARRIER)
        text.line(f"{name}[t] += {name}v;")
        text.line(BARRIER)
        text.line("}")
        text.line(f"{result} = (uint){name}[t];")
    elif shape == 4:  # everybody reads a row of what all have written
        count = rng.choice((4, 8, 16, 32))
        text.line(f"for (uint {name}k = 0u; {name}k < {count}u; {name}k++) {{")
        index = rng.choice((f"{name}k % n", f"(t / 8u + {name}k) % n", f"(t + {name}k * 5u) % n"))
        text.line(f"{result} = {result} * 3u + (uint){name}[{index}];")
        text.line("}")
    else:
        with text.block(f"if ({text.condition()})"):
            text.line(f"{result} = (uint){name}[(uint)({text.integer('uint', 1)}) % n];")
    text.line(BARRIER)
