"""What is known of a launch becomes constants, and positions keep within their limits."""

from __future__ import annotations

from collections.abc import Iterable

import mlx.core as mx
import pytest

from anymetal.frontend.known import Content, Known
from anymetal.ir.model import Const, Program
from anymetal.pipeline.program import thread_program
from tests.frontend.kernels import kernel_source


def compiled(body: str, known: bool = True) -> Program:
    source = kernel_source(
        body,
        inputs={"x": mx.zeros((8, 4)), "n": mx.array(3, mx.int32)},
        outputs={"y": mx.int32},
    )
    names = [parameter.name for parameter in source.parameters]
    contents = [Content(names.index(n), n, held) for n, held in CONTENTS.items() if n in names]
    return thread_program(source, known=known_with(contents) if known else None)


def known_with(contents: Iterable[Content]) -> Known:
    return Known((200, 8, 1), (64, 2, 1), tuple(contents))


def numbers(*values: int, size: int = 4) -> bytes:
    return b"".join(value.to_bytes(size, "little", signed=True) for value in values)


CONTENTS = {
    "x_shape": numbers(8, 4),
    "x_strides": numbers(-4, 2**40, size=8),
    "x_ndim": numbers(2),
    "n": numbers(-7),
}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("x_shape[1]", 4),
        ("int(x_strides[0])", -4),
        ("int(x_strides[1] >> 32)", 256),
        ("x_ndim", 2),
        ("n", -7),
        ("threads_per_grid.x", 200),
        ("threads_per_threadgroup.y", 2),
        ("threadgroups_per_grid.x", 4),
        ("thread_position_in_grid.z", 0),
        ("thread_position_in_threadgroup.x / 64", 0),
        ("threadgroup_position_in_grid.x / 4", 0),
        ("simdgroup_index_in_threadgroup / 4", 0),
        ("n + x_shape[0] + x_strides[0]", -3),
    ],
)
def test_constants(expression: str, value: int) -> None:
    """The only thing that the program does is to store the number."""
    body = f"y[0] = {expression};"
    program = compiled(body)
    (store, _) = program.instructions()
    assert store.op == "store"
    (stored,) = (each for each in store.operands if isinstance(each, Const))
    assert int(stored.text) == value
    assert len(list(compiled(body, known=False).instructions())) > 2


@pytest.mark.parametrize("size", ["threads_per_threadgroup.x", "thread_position_in_grid.x / 200"])
def test_what_differs_between_threads_does_not(size: str) -> None:
    """The last of four threadgroups of 64 has 8 threads; four times 64 exceeds 200."""
    program = compiled(f"y[0] = {size};")
    assert len(list(program.instructions())) > 2


def test_in_words() -> None:
    contents = (Content(i, name, held) for i, (name, held) in enumerate(CONTENTS.items()))
    assert known_with(contents).text == (
        "grid 200 x 8 x 1, group 64 x 2 x 1, x_shape = 8 4, "
        "x_strides = -4 -1 0 256, x_ndim = 2, n = -7"
    )
