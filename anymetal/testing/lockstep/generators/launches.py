"""Launches that take the ways of large ones: results past the caches, what the next
gang reads, runs side by side, places that follow from data, long iterations."""

from __future__ import annotations

import random
from math import prod

import numpy as np

from anymetal.testing.lockstep.case import Case, Extent, Input, Output
from anymetal.testing.lockstep.generators.common import GID, input_of
from anymetal.testing.lockstep.text import Text

_LAUNCHES: tuple[tuple[Extent, Extent], ...] = (
    ((2048, 1, 1), (256, 1, 1)), ((1024, 4, 1), (256, 1, 1)), ((512, 8, 1), (32, 8, 1)),
    ((4096, 1, 1), (32, 1, 1)), ((1024, 2, 1), (1024, 1, 1)), ((3000, 1, 1), (128, 1, 1)),
)  # fmt: skip


def generate(rng: random.Random) -> Case:
    """A case."""
    make = rng.choice((_gather, _rows, _blocks, _long, _stream, _sorted_runs, _table))
    return make(rng)


def _case(
    text: Text, inputs: list[Input], outputs: list[Output], launch: tuple[Extent, Extent]
) -> Case:
    low = text.rng.random() < 0.8
    return Case("", "", 0, text.body, tuple(inputs), tuple(outputs), *launch, low_limits=low)


def _numbers(rng: random.Random, name: str, size: int, below: int) -> Input:
    """Indices."""
    data = np.random.default_rng(rng.getrandbits(64)).integers(0, below, size, dtype=np.uint32)
    return Input(name, "uint", data)


def _gather(rng: random.Random) -> Case:
    """Rows of a table, which another array names."""
    text = Text(rng)
    launch = rng.choice(_LAUNCHES)
    threads, rows = prod(launch[0]), rng.choice((64, 500))
    width = rng.choice((1, 4, 32, 64))
    inputs = [
        _numbers(rng, "which", threads, rows),
        input_of(rng, "x", rng.choice(("uint", "uchar", "int")), rows * width),
    ]
    text.line(GID)
    text.line("uint s = 0;")
    index = rng.choice(("gid", "gid", f"(gid * 3u) % {threads}u", "(gid / 32u)"))
    if rng.random() < 0.5:
        bound = rng.choice((width, min(width, 8)))
        text.line(
            f"for (uint k = 0; k < {bound}u; k++) s += (uint)x[which[{index}] * {width}u + k];"
        )
    else:
        text.line(f"uint r = which[{index}];")
        text.line(f"s = (uint)x[r * {width}u + gid % {width}u];")
        if rng.random() < 0.4:
            text.line(f"s += (uint)x[which[s % {threads}u] * {width}u];")
    if rng.random() < 0.3:
        text.line("if ((s & 1u) == 0u) s *= 5u;")
    text.line("y[gid] = s;")
    return _case(text, inputs, [Output("y", "uint", threads)], launch)


def _rows(rng: random.Random) -> Case:
    """Each SIMD-group walks along a few rows side by side."""
    text = Text(rng)
    rows, columns = rng.choice(((4, 2048), (8, 1024), (3, 4096), (6, 512)))
    launch = ((columns, 1, 1), (rng.choice((32, 64, 256)), 1, 1))
    if rng.random() < 0.4:
        launch = ((columns, 4, 1), (32, rng.choice((1, 4)), 1))
    inputs = [
        input_of(rng, "x", rng.choice(("uint", "ushort", "int")), rows * columns * 4),
        input_of(rng, "n", "int", 8),
    ]
    inputs[1].data[:] = [rows, columns, 1, 2, 3, 4, 5, 6]
    text.line(GID)
    text.line("uint c = thread_position_in_grid.x;")
    text.line("uint s = 0;")
    bound = rng.choice((str(rows), "(uint)n[0]"))
    step = rng.choice((f"{columns}u", "(uint)n[1]"))
    text.line(f"for (uint r = 0; r < {bound}; r++) {{")
    text.line(f"s = s * 3u + (uint)x[r * {step} + c];")
    if rng.random() < 0.5:
        text.line(f"s += (uint)x[(r + {rows}u) * {step} + c];")
    if rng.random() < 0.3:
        text.line(f"s ^= (uint)x[(r + {2 * rows}u) * {step} + c];")
    text.line("}")
    text.line("y[gid] = s;")
    return _case(text, inputs, [Output("y", "uint", prod(launch[0]))], launch)


def _blocks(rng: random.Random) -> Case:
    """Threadgroups load rows of a tile, and each thread reads all of it."""
    text = Text(rng)
    side = rng.choice((8, 16, 32))
    wide = rng.choice((128, 256))
    launch = ((wide, side * 2, 1), (side, min(side, 1024 // side), 1))
    inputs = [input_of(rng, "x", rng.choice(("uint", "int")), wide * side * 4)]
    text.line(GID)
    text.line("uint tx = thread_position_in_threadgroup.x;")
    text.line("uint ty = thread_position_in_threadgroup.y;")
    text.line(f"threadgroup uint tile[{side}][{side + 1}];")
    text.line("uint s = 0;")
    text.line(f"for (uint b = 0; b < {rng.choice((2, 4))}u; b++) {{")
    rows = rng.choice(("thread_position_in_grid.y", "b * 8u + ty"))
    text.line(
        f"tile[ty][tx] = (uint)x[(({rows}) * {wide}u + b * {side}u + tx) % {wide * side * 4}u];"
    )
    text.line("threadgroup_barrier(mem_flags::mem_threadgroup);")
    with text.block(f"for (uint k = 0; k < {launch[1][1]}u; k++)"):
        text.line(f"s += tile[k][tx] * (tile[ty][k % {side}u] | 1u);")
    text.line("threadgroup_barrier(mem_flags::mem_threadgroup);")
    text.line("}")
    text.line("y[gid] = s;")
    return _case(text, inputs, [Output("y", "uint", prod(launch[0]))], launch)


def _long(rng: random.Random) -> Case:
    """Much is read, and then computed with for long."""
    text = Text(rng)
    launch = rng.choice(_LAUNCHES[:4])
    threads, count = prod(launch[0]), rng.choice((8, 16, 24, 32))
    inputs = [input_of(rng, "x", "uint", threads * count)]
    text.line(GID)
    apart = rng.random() < 0.5
    for k in range(count):
        place = f"gid * {count}u + {k}u" if apart else f"gid + {k * threads}u"
        text.declare("uint", f"x[{place}]", "v")
    names = [v.name for v in text.variables]
    for _ in range(rng.choice((40, 120, 250))):
        a, b, c = (rng.choice(names) for _ in range(3))
        text.line(
            f"{a} = {a} {text.choose('+', '^', '-', '*')} ({b} {text.choose('+', '&', '|')} {c});"
        )
    text.line(f"y[gid] = {text.mixed(names)};")
    return _case(text, inputs, [Output("y", "uint", threads)], launch)


def _stream(rng: random.Random) -> Case:
    """Results that are only written, one or several arrays of them."""
    text = Text(rng)
    launch = rng.choice(_LAUNCHES)
    threads = prod(launch[0])
    element = rng.choice(("uint", "ushort", "uchar", "ulong"))
    inputs = [input_of(rng, "x", element, threads)]
    text.line(GID)
    outputs = [Output("y", element, threads)]
    text.line(f"{element} v = x[gid];")
    text.line(f"y[gid] = ({element})(v * 3 + {rng.randrange(9)});")
    if rng.random() < 0.5:
        count = rng.choice((2, 3, 4, 8))
        outputs.append(Output("w", "uint", threads * count))
        order = rng.choice((f"gid * {count}u + k", f"k * {threads}u + gid"))
        text.line(f"for (uint k = 0; k < {count}u; k++) w[{order}] = (uint)v + k;")
    if rng.random() < 0.3:
        outputs.append(Output("z", "uint", threads))
        text.line(f"if ((v & 1) {text.choose('==', '!=')} 0) z[gid] = (uint)v;")
    return _case(text, inputs, outputs, launch)


def _sorted_runs(rng: random.Random) -> Case:
    """Runs of results at places that follow from data: each SIMD-group has its own."""
    text = Text(rng)
    threads = rng.choice((2048, 4096))
    launch = ((threads, 1, 1), (rng.choice((32, 256)), 1, 1))
    order = np.random.default_rng(rng.getrandbits(64)).permutation(threads // 32).astype(np.uint32)
    iterations = rng.choice((1, 2, 4))
    inputs = [
        Input("place", "uint", order * np.uint32(32 * iterations)),
        input_of(rng, "x", "uint", threads * iterations),
    ]
    text.line(GID)
    text.line("uint lane = thread_position_in_grid.x & 31u;")
    text.line("uint to = place[gid / 32u];")
    text.line(f"for (uint k = 0; k < {iterations}u; k++) {{")
    text.line(f"uint v = x[gid * {iterations}u + k];")
    text.line("y[to + lane] = v * 3u + k;")
    text.line("to += 32u;")
    text.line("}")
    return _case(text, inputs, [Output("y", "uint", threads * iterations)], launch)


def _table(rng: random.Random) -> Case:
    """A constant table, and one in memory that is read by what is loaded."""
    text = Text(rng)
    launch = rng.choice(_LAUNCHES)
    threads, size = prod(launch[0]), rng.choice((8, 16, 100, 256))
    numbers = ", ".join(f"{rng.randrange(1 << 16)}u" for _ in range(size))
    inputs = [input_of(rng, "x", "uint", threads), input_of(rng, "t", "uint", 256)]
    text.line(GID)
    text.line("uint v = x[gid];")
    text.line(f"uint s = fixed[v % {size}u];")
    text.line("s += t[(v >> 5) & 255u];")
    if rng.random() < 0.5:
        text.line(f"for (uint k = 0; k < (v & 3u); k++) s = s * 5u + fixed[(s + k) % {size}u];")
    text.line("y[gid] = s;")
    case = _case(text, inputs, [Output("y", "uint", threads)], launch)
    header = f"constant uint fixed[{size}] = {{{numbers}}};\n"
    return Case(**{**vars(case), "header": header})
