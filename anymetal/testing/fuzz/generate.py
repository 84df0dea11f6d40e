"""A whole random case from a seed: features, launch, data, functions, body."""

from __future__ import annotations

import random

import numpy as np

from anymetal.testing.fuzz import oracle
from anymetal.testing.fuzz.launch import Extent, LaunchSize
from anymetal.testing.fuzz.numerics import Undefined
from anymetal.testing.fuzz.reals import VARIABLE_BOUND
from anymetal.testing.fuzz.rules import well_formed
from anymetal.testing.fuzz.scope import Features, Local, Scope
from anymetal.testing.fuzz.statements import Statements
from anymetal.testing.fuzz.tree import (
    Assign,
    Atomic,
    Attribute,
    Barrier,
    Binary,
    Block,
    Buffer,
    Case,
    Constant,
    Declare,
    Expr,
    Function,
    If,
    Load,
    Loop,
    Return,
    Statement,
    Variable,
)
from anymetal.testing.fuzz.types import (
    BFLOAT,
    BOOL,
    FLOAT,
    HALF,
    INT,
    LONG,
    NARROW,
    UINT,
    ULONG,
    Array,
    Type,
)

_ATTEMPTS = 50


def generate(seed: int) -> Case:
    """The case of this seed: well defined, and the same on every machine."""
    for attempt in range(_ATTEMPTS):
        case = _attempt(seed, random.Random(f"{seed}/{attempt}"))
        if not well_formed(case):
            continue
        try:
            oracle.run(case)
        except Undefined:
            continue
        return case
    raise RuntimeError(f"no well-defined program for seed {seed} in {_ATTEMPTS} attempts")


def _attempt(seed: int, rng: random.Random) -> Case:
    launch = _launch(rng)
    features = _features(rng)
    scope = Scope(rng, launch, features)
    scope.functions += _functions(rng, launch, features) if rng.random() < 0.25 else []
    scope.buffers += _buffers(rng, launch, features)
    body: list[Statement] = _opening(scope)
    size = rng.randint(4, 16) if rng.random() < 0.9 else rng.randint(20, 50)
    statements = Statements(scope, budget=size)
    body += statements.sequence(size)
    for buffer in scope.buffers:
        if buffer.space == "output" and not buffer.atomic:
            for slot in range(buffer.size // launch.threads):
                body += statements.store(buffer, slot)
    fast = rng.random() < 0.1 and not features.specials
    return Case(
        seed=seed,
        launch=launch,
        buffers=tuple(scope.buffers),
        functions=tuple(scope.functions),
        body=tuple(body),
        init_value=rng.choice((0, 0, 1, 7)),
        math_mode=rng.choice(("fast", "relaxed")) if fast else "safe",
    )


def _launch(rng: random.Random) -> LaunchSize:
    dimensions = rng.choice((1, 1, 1, 2, 2, 3))
    if dimensions == 1:
        threads = rng.choice((1, 7, 31, 32, 33, 64, 100, 128, 200, rng.randint(1, 300), 1500))
        grid: Extent = (threads, 1, 1)
        sizes = (1, 5, 16, 32, 32, 33, 48, 64, 96, 100, 128, 256, 1024)
        group: Extent = (rng.choice(sizes), 1, 1)
    elif dimensions == 2:
        grid = (rng.randint(1, 24), rng.randint(1, 14), 1)
        group = (rng.choice((1, 4, 5, 8, 16, 32)), rng.choice((1, 2, 3, 4, 8)), 1)
    else:
        grid = (rng.randint(1, 9), rng.randint(1, 7), rng.randint(1, 5))
        group = (rng.choice((1, 2, 3, 4, 8)), rng.choice((1, 2, 4)), rng.choice((1, 2, 3)))
    return LaunchSize(grid, group)


def _features(rng: random.Random) -> Features:
    def chance(probability: float) -> bool:
        return rng.random() < probability

    types = [INT, UINT]
    types += [FLOAT] if chance(0.6) else []
    types += rng.sample(NARROW, 2) if chance(0.35) else []
    types += [rng.choice((LONG, ULONG))] if chance(0.25) else []
    types += [HALF] if chance(0.15) else []
    types += [BFLOAT] if chance(0.08) else []
    return Features(
        types=tuple(types),
        cross_lane=chance(0.35),
        threadgroup=chance(0.35),
        atomics=chance(0.25),
        vectors=chance(0.35),
        arrays=chance(0.4),
        pointers=chance(0.3),
        casts=chance(0.2),
        specials=chance(0.15),
    )


# ----------------------------------------------------------------------------- data


def _buffers(rng: random.Random, launch: LaunchSize, features: Features) -> list[Buffer]:
    data = np.random.default_rng(rng.getrandbits(32))
    size = rng.choice((256, 512, 1024))
    inputs = [
        Buffer(f"in_{kind.name}", kind, size, "input", sample(data, kind, size))
        for kind in (*features.types, BOOL)
    ]
    inputs.append(Buffer("in_more", INT, size, "input", sample(data, INT, size)))
    inputs.append(Buffer("few", UINT, 4, "input", sample(data, UINT, 4)))
    inputs.append(Buffer("n", INT, 0, "input", np.array(rng.randint(-3, 40), np.int32)))
    if features.specials:
        inputs.append(Buffer("special", FLOAT, 64, "input", _specials(data)))
    threads = launch.threads
    outputs = [Buffer("out_int", INT, threads, "output")]
    if features.vectors:
        outputs.append(Buffer("out_wide", INT, threads * rng.choice((2, 3, 4)), "output"))
    outputs.append(Buffer("out_uints", UINT, threads * rng.randint(1, 3), "output"))
    outputs += [
        Buffer(f"out_{kind.name}", kind, threads, "output")
        for kind in features.types
        if kind not in (INT, UINT)
    ]
    if features.atomics:
        for op in rng.sample(("add", "min", "max", "or", "xor", "and"), 2):
            kind = FLOAT if op == "add" and rng.random() < 0.3 else rng.choice((INT, UINT))
            outputs.append(Buffer(f"acc_{op}", kind, rng.choice((1, 4, 16)), "output", atomic=True))
    return inputs + outputs + _threadgroup_arrays(rng, launch, features)


def _threadgroup_arrays(rng: random.Random, launch: LaunchSize, features: Features) -> list[Buffer]:
    if not features.threadgroup:
        return []
    x, y, z = launch.group_size
    kinds = [INT, rng.choice([t for t in features.types if t.bits <= 32])]
    arrays = [Buffer(f"tg{i}", kind, x * y * z, "threadgroup") for i, kind in enumerate(kinds)]
    if features.atomics:
        kind, op = rng.choice((INT, UINT)), rng.choice(("add", "max", "xor"))
        arrays.append(Buffer(f"tga_{op}", kind, rng.choice((1, 8)), "threadgroup", atomic=True))
    return arrays


def sample(data: np.random.Generator, kind: Type, size: int) -> Array:
    """Input values: small ones, edge cases, anything; floats within the bound of variables."""
    if kind == BOOL:
        return data.random(size) < 0.5
    if kind.is_float:
        most, fraction = VARIABLE_BOUND[kind.base]
        steps = int(most) << fraction
        values = data.integers(-steps, steps + 1, size) / (1 << fraction)
        return np.asarray(values.astype(kind.dtype))
    low, high = kind.limits
    choices = np.stack(
        [
            data.integers(max(low, -8), 9, size).astype(kind.dtype),
            data.integers(low, high, size, dtype=kind.dtype, endpoint=True),
            data.choice(np.array([0, 1, low, high, high // 2], kind.dtype), size),
        ]
    )
    return np.asarray(choices[data.choice(3, size, p=[0.5, 0.35, 0.15]), np.arange(size)])


def _specials(data: np.random.Generator) -> Array:
    values = [np.nan, np.inf, -np.inf, 0.0, 0.5, -0.5, 1e10, -1e10, 3e38, 2.0**31, -(2.0**31)]
    values += [2.0**32, 2.0**63, -(2.0**63), 2.0**64, 127.5, -128.5, 255.9, 65535.9, -32769.0]
    return np.asarray(data.choice(np.array(values, np.float32), 64))


# ----------------------------------------------------------------------------- code


def _opening(scope: Scope) -> list[Statement]:
    """The names that every body has, and first contents for threadgroup memory."""

    def axis(name: str, component: str) -> Expr:
        return Attribute(UINT, name, component)

    def times(left: Expr, right: Expr) -> Expr:
        return Binary(UINT, "*", left, right)

    position, grid = "thread_position_in_grid", "threads_per_grid"
    plane = Binary(UINT, "+", axis(position, "y"), times(axis(grid, "y"), axis(position, "z")))
    tid = axis(position, "x")
    if scope.launch.grid[1:] != (1, 1):
        tid = Binary(UINT, "+", tid, times(axis(grid, "x"), plane))
    extent = [axis("threads_per_threadgroup", component) for component in "xyz"]
    values: list[tuple[str, Expr, bool]] = [
        ("tid", tid, False),
        ("lid", Attribute(UINT, "thread_index_in_threadgroup", ""), False),
        ("lane", Attribute(UINT, "thread_index_in_simdgroup", ""), False),
        ("tgsize", times(times(extent[0], extent[1]), extent[2]), True),
    ]
    body: list[Statement] = []
    for name, value, uniform in values:
        variable = Variable(UINT, name)
        scope.locals.append(Local(variable, uniform, writable=False))
        body.append(Declare(variable, value))
    return body + _first_contents(scope)


def _first_contents(scope: Scope) -> list[Statement]:
    lid, values = Variable(UINT, "lid"), Statements(scope, 0).values
    body: list[Statement] = []
    shared = [buffer for buffer in scope.buffers if buffer.space == "threadgroup"]
    for buffer in shared:
        if not buffer.atomic:
            own = Load(buffer.type, buffer.name, lid)
            body.append(Assign(own, "=", values.value(buffer.type, 1)))
            continue
        counter = Variable(UINT, scope.fresh("i"))
        zero = Atomic("store", buffer.name, counter, Constant(buffer.type, 0))
        size = Constant(UINT, buffer.size)
        loop = Loop("for", counter, Constant(UINT, 0), size, 1, None, (zero,))
        body += [If(Binary(BOOL, "==", lid, Constant(UINT, 0)), (loop,)), Barrier()]
    return body


def _functions(rng: random.Random, launch: LaunchSize, features: Features) -> list[Function]:
    """One or two helper functions with branches, loops and several returns."""
    functions = []
    for number in range(rng.randint(1, 2)):
        scope = Scope(rng, launch, features)
        kinds = [kind for kind in features.types if not kind.is_float] + [BOOL]
        kinds += [kind for kind in features.types if kind.is_float]
        parameters = tuple(
            Variable(rng.choice(kinds), f"f{number}_{letter}")
            for letter in "ab"[: rng.randint(1, 2)]
        )
        result = rng.choice([kind for kind in kinds if kind.is_integer and kind.bits >= 16])
        scope.names = 1000 * (number + 1)  # names stay unique in the case
        scope.locals += [Local(p, uniform=False, writable=True) for p in parameters]
        with scope.block(uniform=False, cross_lane=False, function=result):
            statements = Statements(scope, budget=rng.randint(2, 6))
            body: Block = statements.sequence(5)
            body = (*body, Return(statements.values.value(result, 2)))
        functions.append(Function(f"helper{number}", result, parameters, body))
    return functions
