"""Factorisations and substitutions in place: sums over what earlier iterations have stored."""

from __future__ import annotations

import random

import numpy as np

from anymetal.testing.lockstep.case import Case, Input, Output
from anymetal.testing.lockstep.generators.common import input_of
from anymetal.testing.lockstep.generators.patterns.parts import KEPT, X, case_of


def generate(rng: random.Random) -> Case:
    """Each thread works on a row of its own, or one thread on all rows."""
    n, alone = rng.choice((12, 20, 33, 40)), rng.random() < 0.4
    threads = rng.choice((1, 32)) if alone else rng.choice((32, 45, 64))
    rows = rng.choice((3, 9)) if alone else threads
    lines = [X, "uint n = size[0];", *_loops(rng, alone, rows)]
    inputs = [input_of(rng, "x", "uint", 2 * n * n), input_of(rng, "z", "uint", n)]
    inputs.append(Input("size", "uint", np.array([n] * 8, np.uint32)))
    outputs = [Output("y", "uint", rows * n, 7)]
    return case_of(lines, inputs, outputs, (threads, 1, 1), (rng.choice((32, 64)), 1, 1))


def _loops(rng: random.Random, alone: bool, rows: int) -> list[str]:
    """Loops over columns and over what is summed up; around them one over rows, perhaps."""
    other = rng.choice(("x[j * n + p]", "z[p]", "x[(j + p) * 2u]", "y[row * n + (n - 1u - p)]"))
    own = rng.choice(("y[row * n + p]", "y[row * n + p]", "x[row % n * n + p]"))
    first, limit = rng.choice((("0u", "j"), ("0u", "n"), ("j", "n"), ("2u", "j"), ("0u", "n - j")))
    place = rng.choice(("j", "j", "n - 1u - j", "j * 5u % n", "z[j] % n"))
    begin = rng.choice(("0u", "x[j]", "j * 7u", f"y[row * n + {place}]"))
    store = f"y[row * n + {place}] = sum ^ x[j + n];"
    if rng.random() < 0.4:
        condition = f"(x[j] & 1u) == {rng.randint(0, 1)}u"
        store = f"if ({condition}) {{\n{store}\n}} else {{\n{store[:-1]} * 3u;\n}}"
    counter = f"uint p = {first}; p < {limit}; p++"
    if rng.random() < 0.2:
        counter = f"uint p = {limit}; p-- > {first};"
    inside = [
        f"uint sum = {begin};",
        KEPT,
        f"for ({counter}) sum = sum * 3u + {own} * {other};",
        store,
    ]
    columns = f"for (uint j = {rng.choice(('0u', '1u', '3u'))}; j < n; j++) {{"
    if not alone:
        return ["uint row = i;", KEPT, columns, *inside, "}"]
    each = f"for (uint row = 0; row < {rows}u; row++) {{"
    nest = [each, columns] if rng.random() < 0.5 else [columns, each]
    return ["if (i == 0) {", *nest, *inside, "}", "}", "}"]
