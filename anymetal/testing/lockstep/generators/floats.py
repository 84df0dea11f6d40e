"""Floats whose results are exact: small whole numbers and powers of two, comparisons, extremes,
conversions. So no order of sums and no fusion of products and sums can make a difference."""

from __future__ import annotations

import random
from math import prod

import numpy as np

from anymetal.testing.lockstep.case import ELEMENTS, Case, Data, Input, Output
from anymetal.testing.lockstep.generators.common import GID, launch
from anymetal.testing.lockstep.text import Text


def small(rng: random.Random, element: str, size: int, most: int = 4) -> Data:
    """Whole numbers from -most to most."""
    numbers = np.random.default_rng(rng.getrandbits(64)).integers(-most, most + 1, size)
    if element == "bfloat":
        words: Data = (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return words
    result: Data = numbers.astype(ELEMENTS[element])
    return result


def special(rng: random.Random, size: int) -> Data:
    """Floats of all kinds: huge, infinite, not a number, zeros of both signs."""
    kinds = [0.0, -0.0, 1.5, -2.5, 3e9, -3e9, 1e20, -1e20, np.inf, -np.inf, np.nan, 255.9, 2**31]
    data: Data = np.array([rng.choice(kinds) for _ in range(size)], np.float32)
    return data


def generate(rng: random.Random) -> Case:
    """A case."""
    text = Text(rng)
    element = rng.choice(("float", "float", "half", "bfloat"))
    inputs = [
        Input("x", element, small(rng, element, 128)),
        Input("w", "float", small(rng, "float", 64)),
        Input("s", "float", special(rng, 40)),
    ]
    grid, threadgroup = launch(rng)
    text.line(GID)
    text.line("float a = (float)x[gid & 127u];")
    text.line("float b = w[(gid * 3u) & 63u];")
    text.line("float special = s[gid % 40u];")
    for _ in range(rng.randint(2, 6)):
        _step(text, element)
    outputs = [Output("y", element, prod(grid)), Output("n", "int", prod(grid))]
    # What grew beyond the numbers that are exact is folded to the small ones again.
    text.line("float folded = a - 16.0f * floor(a / 16.0f);")
    text.line(f"y[gid] = ({element})folded;")
    text.line("n[gid] = CVT(int, b) ^ CVT(int, special);")
    return Case("", "", 0, text.body, tuple(inputs), tuple(outputs), grid, threadgroup)


def _step(text: Text, element: str) -> None:
    rng = text.rng
    roll = rng.randrange(10)
    if roll == 0:
        counter, bound = text.fresh("i"), rng.choice((4, 8, 16, 9))
        with text.block(f"for (int {counter} = 0; {counter} < {bound}; {counter}++)"):
            text.line(f"a += (float)x[(gid + (uint){counter}) & 127u] * w[{counter}];")
        text.line("a = a - 16.0f * floor(a / 16.0f);")
    elif roll == 1:  # the product is there as a value, too
        text.line("float p = b * 2.0f;".replace(" p ", f" {text.fresh('p')} "))
        name = text.lines[-1].split()[1]
        text.line(f"a = fma(b, 2.0f, a) + {name};")
        text.line("a = a - 16.0f * floor(a / 16.0f);")
    elif roll == 2:
        name = text.fresh("p")
        text.line(f"float {name} = a * b;")
        text.line(f"b = fma(a, b, 1.0f) - {name};")
    elif roll == 3:
        text.line(f"a = {text.choose('min', 'max')}(a, {text.choose('b', '3.0f', 'special')});")
        text.line("a = (a > 1000.0f || a < -1000.0f || isnan(a)) ? 2.0f : a;")
    elif roll == 4:
        other = text.choose("a", "0.0f", "3e9f")
        text.line(f"if (special {text.choose('<', '>', '==', '<=')} {other}) b += 1.0f;")
    elif roll == 5:
        name, kind = (
            text.fresh("k"),
            rng.choice(("uint", "long", "uchar", "short", "ulong", "char", "ushort")),
        )
        text.line(f"{kind} {name} = CVT({kind}, special);")
        text.line(f"b += (float)({name} & 3);")
    elif roll == 6:
        text.line(f"{element} {text.fresh('h')} = ({element})a * ({element})b;")
        name = text.lines[-1].split()[1]
        text.line(f"a = (float)({element})({name} + ({element})1.0f);")
        text.line("a = a - 16.0f * floor(a / 16.0f);")
    elif roll == 7:
        text.line(f"b = {text.choose('fabs', 'floor', 'trunc', 'rint')}(b * 0.5f);")
    elif roll == 8:
        text.line(f"b = select(b, a, {text.choose('a < b', 'isinf(special)', 'special > 0.0f')});")
    else:
        text.line("b = b / 4.0f;")
        text.line("b = rint(b * 8.0f) - a;")
        text.line("b = b - 16.0f * floor(b / 16.0f);")
