"""Vectors and neighbours: float4 and its like as they lie in memory, 16 and 32 words side by side,
sums over lanes of them, sums of their own components."""

from __future__ import annotations

import random
from math import prod

from anymetal.testing.lockstep.case import Case, Extent, Input, Output
from anymetal.testing.lockstep.generators.common import GID, input_of
from anymetal.testing.lockstep.generators.floats import small
from anymetal.testing.lockstep.text import Text

_LAUNCHES: tuple[tuple[Extent, Extent], ...] = (
    ((64, 1, 1), (32, 1, 1)), ((128, 1, 1), (128, 1, 1)), ((256, 1, 1), (64, 1, 1)),
    ((64, 4, 1), (64, 2, 1)), ((100, 1, 1), (64, 1, 1)), ((32, 8, 1), (32, 8, 1)),
)  # fmt: skip
_LETTERS = "xyzw"


def generate(rng: random.Random) -> Case:
    """A case."""
    return rng.choice((_components, _components, _squares, _sums))(rng)


def _arrays(rng: random.Random, element: str, size: int) -> list[Input]:
    if element in ("float", "half"):
        return [Input(name, element, small(rng, element, size)) for name in ("x", "w")]
    return [input_of(rng, name, element, size) for name in ("x", "w")]


def _components(rng: random.Random) -> Case:
    """Loads of vectors, arithmetic by components, stores of vectors."""
    text = Text(rng)
    element = rng.choice(("uint", "int", "float", "ushort", "uchar", "half", "ulong"))
    width = rng.choice((2, 3, 4, 4))
    grid, threadgroup = rng.choice(_LAUNCHES)
    vector, threads = f"{element}{width}", prod(grid)
    inputs = _arrays(rng, element, threads * 4)
    text.line(GID)
    packed = width == 3 or rng.random() < 0.2
    memory = f"packed_{vector}" if packed else vector
    index = rng.choice(("gid", "gid", f"({threads - 1}u - gid)", "(gid ^ 1u) % " + f"{threads}u"))
    text.line(f"{vector} a = {vector}(((const device {memory}*)x)[{index}]);")
    text.line(f"{vector} b = {vector}(((const device {memory}*)w)[gid]);")
    for _ in range(rng.randint(1, 4)):
        _step(text, vector, element, width)
    whole = rng.choice(("a", "b", "a + b", "a - b"))
    store = f"((device {memory}*)y)[gid] = {memory}({whole});"
    if rng.random() < 0.3:
        store = f"if ((gid & 3u) != {rng.randrange(5)}u) {store}"
    text.line(store)
    outputs = (Output("y", element, threads * 4),)
    return Case("", "", 0, text.body, tuple(inputs), outputs, grid, threadgroup)


def _step(text: Text, vector: str, element: str, width: int) -> None:
    rng = text.rng
    roll = rng.random()
    letters = _LETTERS[:width]
    scalar = f"({element})({rng.randrange(1, 4)})"
    if roll < 0.35:
        text.line(f"a = a {text.choose('+', '-')} b;")
    elif roll < 0.5:
        text.line(f"b = b * {vector}({scalar});")
    elif roll < 0.6 and element not in ("float", "half"):
        text.line(f"a = a {text.choose('^', '&', '|', '*')} b;")
    elif roll < 0.75:
        one, other = rng.choice(letters), rng.choice(letters)
        text.line(f"a.{one} = b.{other};")
    elif roll < 0.85:
        text.line(f"if ((gid % {rng.choice((2, 3, 32))}u) == 0u) a = a + {vector}({scalar});")
    else:
        parts = ", ".join(f"{rng.choice('ab')}.{rng.choice(letters)}" for _ in range(width))
        text.line(f"b = {vector}({parts});")


def _squares(rng: random.Random) -> Case:
    """Runs of 4 to 32 words in each lane."""
    text = Text(rng)
    element = rng.choice(("uint", "uint", "float", "ushort", "uchar"))
    count = rng.choice((4, 8, 16, 16, 32, 6))
    grid, threadgroup = rng.choice(_LAUNCHES)
    threads = prod(grid)
    inputs = _arrays(rng, element, threads * count)
    text.line(GID)
    text.line(f"{element} v[{count}];")
    text.line(f"for (uint k = 0; k < {count}u; k++) v[k] = x[gid * {count}u + k];")
    reads = rng.random() < 0.7
    if reads:
        text.line(f"for (uint k = 0; k < {count}u; k++) v[k] += w[gid * {count}u + k];")
    for _ in range(rng.randint(0, 3)):
        one, other = rng.randrange(count), rng.randrange(count)
        text.line(f"v[{one}] = v[{one}] - v[{other}];")
    place = rng.choice(("k", "k", f"{count - 1}u - k"))
    text.line(f"for (uint k = 0; k < {count}u; k++) y[gid * {count}u + k] = v[{place}];")
    outputs = (Output("y", element, threads * count),)
    return Case("", "", 0, text.body, tuple(inputs), outputs, grid, threadgroup)


def _sums(rng: random.Random) -> Case:
    """Sums and extremes over lanes of what they have loaded side by side."""
    text = Text(rng)
    element = rng.choice(("uint", "int", "float"))
    count = rng.choice((2, 4, 8))
    grid, threadgroup = rng.choice(_LAUNCHES[:4])
    threads = prod(grid)
    inputs = _arrays(rng, element, threads * count)
    text.line(GID)
    operation = rng.choice(("sum", "max", "min", "sum"))
    text.line(f"{element} s = x[gid * {count}u];")
    for k in range(1, count):
        if operation == "sum":
            factor = rng.choice(("", f" * w[gid * {count}u + {k}u]")) if element != "float" else ""
            text.line(f"s = s + x[gid * {count}u + {k}u]{factor};")
        else:
            text.line(f"s = {operation}(s, x[gid * {count}u + {k}u]);")
    text.line(f"{element} all = simd_{operation}(s);")
    text.line(f"y[gid] = all + ({element})(gid & 1u);")
    outputs = (Output("y", element, threads),)
    return Case("", "", 0, text.body, tuple(inputs), outputs, grid, threadgroup)
