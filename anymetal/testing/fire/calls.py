"""Odd arguments for `metal_kernel` and its kernels: of wrong types, odd values, too many or few.

The target in use compiles what it is given as far as all targets do, and runs nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import mlx.core as mx

import anymetal
from anymetal import targets
from anymetal.pipeline.program import thread_program
from anymetal.targets.base import Launch, Target, check_extents

#: A name that may show in errors, as it is given.
RESERVED = "__am_kernel"
_NAMES: tuple[Any, ...] = (
    *("k", "", " ", "a b", "1k", "k;", 'k"', "k\\", "k\n", "k\0", "ä", "变量", "😀", "if", "float"),
    *("template", "main", RESERVED, "k" * 5000, "../k", "%s", "{}", "k::k", "k<int>", "\ud800"),
    *(
        "x",
        "out",
        "x_shape",
        "x_ndim",
        "thread_position_in_grid",
        "device",
        "goto",
        "\u202e",
        "e\u0301",
    ),
    *(None, 1, b"k", ["k"], 1.5),
)
_NUMBERS: tuple[Any, ...] = (
    *(0, 1, 2, 31, 32, 33, 1024, 1025, -1, 2**31 - 1, 2**31, -(2**31), 2**63, 2**64, 10**30),
    *(1.0, 1.5, float("nan"), True, None, "1", b"1", [], 1j, mx.array(3)),
)
_DTYPES: tuple[Any, ...] = (
    *(mx.bool_, mx.int8, mx.uint8, mx.int16, mx.uint16, mx.int32, mx.uint32, mx.int64, mx.uint64),
    *(mx.float16, mx.bfloat16, mx.float32, mx.float64, mx.complex64),
    *(None, int, float, "float32", 3, mx.floating),
)
_VALUES: tuple[Any, ...] = (*_NUMBERS, *_DTYPES, *_NAMES)


class FrontEnd(Target):
    """Compiles kernels as far as all targets do, and gives back zeros."""

    name = "front end"

    def run(self, launch: Launch) -> list[mx.array]:
        """Zeros of the right shapes, if the kernel compiles."""
        check_extents(launch.source.name, launch.grid, launch.threadgroup)
        thread_program(launch.source)
        pairs = zip(launch.output_shapes, launch.output_dtypes, strict=True)
        return [mx.zeros((1,) if shape else shape, dtype) for shape, dtype in pairs]


def call(seed: int) -> str:
    """Makes a kernel and calls it with arguments of this seed; returns what they were."""
    rng = random.Random(f"fire call {seed}")
    making: dict[str, Any] = {
        "name": "k",
        "input_names": ["x", "s"],
        "output_names": ["out"],
        "source": "uint i = thread_position_in_grid.x; out[i] = x[i] + s;",
    }
    calling: dict[str, Any] = {
        "inputs": [mx.zeros((rng.choice((1, 3, 8, 64)),), rng.choice(_DTYPES[:13])), 2.5],
        "grid": (64, 1, 1),
        "threadgroup": (32, 1, 1),
        "output_shapes": [(64,)],
        "output_dtypes": [mx.float32],
    }
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        edited = making if rng.random() < 0.5 else calling
        rng.choice(_OF_MAKING if edited is making else _OF_CALLING)(edited, rng)
    shown = f"{ascii(making)[:600]}\n{ascii(calling)[:600]}"
    try:
        targets.select(FrontEnd())
        anymetal.metal_kernel(**making)(**calling)
    except Exception as error:
        error.add_note(shown) if hasattr(error, "add_note") else None
        raise
    finally:
        targets.select(None)
    return shown


def _name(given: dict[str, Any], rng: random.Random) -> None:
    given["name"] = rng.choice(_NAMES)


def _input_names(given: dict[str, Any], rng: random.Random) -> None:
    given["input_names"] = rng.choice(
        (
            ["x"],
            ["x", "x"],
            ["s", "x"],
            "xs",
            ("x", "s"),
            {"x": 1},
            None,
            3,
            ["x", rng.choice(_NAMES)],
        )
    )


def _output_names(given: dict[str, Any], rng: random.Random) -> None:
    odd = rng.choice(_NAMES)
    given["output_names"] = rng.choice(([], ["out", "out"], ["x"], "o", None, [odd], ["out", odd]))


def _text(given: dict[str, Any], rng: random.Random) -> None:
    odd = rng.choice(_NAMES)
    given[rng.choice(("source", "header"))] = rng.choice((odd, f"{odd}", f"out[0] = {odd};"))


def _option(given: dict[str, Any], rng: random.Random) -> None:
    value = rng.choice(_VALUES)
    given[rng.choice(("ensure_row_contiguous", "atomic_outputs", "vmap", "unknown", ""))] = value


def _math(given: dict[str, Any], rng: random.Random) -> None:
    given["compile_options"] = rng.choice(
        (
            {},
            {"math_mode": rng.choice(("fast", "relaxed", "safe", *_VALUES))},
            {"x": 1},
            {1: 2},
            3,
            [],
        )
    )


def _without(given: dict[str, Any], rng: random.Random) -> None:
    del given[rng.choice(list(given))]


def _extent(given: dict[str, Any], rng: random.Random) -> None:
    count = rng.choice((0, 1, 2, 3, 3, 3, 3, 4))
    value: Any = tuple(rng.choice(_NUMBERS) for _ in range(count))
    given[rng.choice(("grid", "threadgroup"))] = rng.choice((value, value, list(value), *_VALUES))


def _shapes(given: dict[str, Any], rng: random.Random) -> None:
    shape: Any = tuple(rng.choice(_NUMBERS) for _ in range(rng.choice((0, 1, 1, 2, 5))))
    given["output_shapes"] = rng.choice(
        ([shape], [shape], [shape, shape], shape, rng.choice(_VALUES))
    )


def _dtypes(given: dict[str, Any], rng: random.Random) -> None:
    dtype = rng.choice(_DTYPES)
    given["output_dtypes"] = rng.choice(([dtype], [dtype], [dtype, dtype], dtype, ()))


def _inputs(given: dict[str, Any], rng: random.Random) -> None:
    odd = rng.choice((*_VALUES, [1, 2], (1.5,), {"a": 1}, object(), mx.zeros((0,)), mx.zeros(())))
    given["inputs"] = rng.choice(([odd, 1], [mx.zeros(8), odd], [odd], [odd, odd], odd, [1, 2, 3]))


def _template(given: dict[str, Any], rng: random.Random) -> None:
    pairs = [
        (rng.choice(("T", "N", *_NAMES)), rng.choice(_VALUES)) for _ in range(rng.randrange(3))
    ]
    given["template"] = rng.choice(
        (pairs, pairs, pairs, dict(pairs[:0]), [("T",)], "ab", ["ab"], 3)
    )


def _other(given: dict[str, Any], rng: random.Random) -> None:
    names = ("init_value", "verbose_", "stream", "ensure_row_contiguous", "unknown")
    given[rng.choice(names)] = rng.choice(_VALUES)


_Edit = Callable[[dict[str, Any], random.Random], None]
_OF_MAKING: tuple[_Edit, ...] = (
    *(_name, _input_names, _output_names, _text, _option, _math, _without),
)
_OF_CALLING: tuple[_Edit, ...] = (
    *(_extent, _extent, _shapes, _dtypes, _inputs, _template, _template, _other, _without),
)
