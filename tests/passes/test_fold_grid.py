"""A grid of one axis as rows: every thread has a place, and divisions of it are as they were."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anymetal.ir.model import Const
from anymetal.ir.spec import Stage, check
from anymetal.passes import fold_grid
from tests.ir.programs import program

_OPERATIONS = {
    "add": operator.add, "mul": operator.mul, "and": operator.and_, "lshr": operator.rshift,
    "udiv": operator.floordiv, "urem": operator.mod,
}  # fmt: skip


_TYPES = {
    "i32": "",
    "i16": "%p16 = trunc nuw i32 %p to i16",
    "i64": "%p64 = zext nneg i32 %p to i64",
}


def _divided(numbers, type_="i32"):
    """A program that stores a thread's place, its quotients, and its remainders in this type."""
    lines = ["%p = call i32 @__am_thread_x()", "store i32 %p, ptr %out", _TYPES[type_]]
    place = f"{type_} %p{type_[1:] if type_ != 'i32' else ''}"
    for k, number in enumerate(numbers):
        shift = number.bit_length() - 1
        power = 1 << shift == number
        lines.append(f"%q{k} = {f'lshr {place}, {shift}' if power else f'udiv {place}, {number}'}")
        lines.append(
            f"%r{k} = {f'and {place}, {number - 1}' if power else f'urem {place}, {number}'}"
        )
        lines += [f"store {type_} %{kind}{k}, ptr %out" for kind in "qr"]
    return program("\n".join([*lines, "ret void"]))


def _stored(kernel, groups, gangs):
    """What is stored, one array for each store, of all threads of such a launch."""
    shape = (groups, gangs, 32)
    values = {
        f"__am_{name}": np.broadcast_to(np.arange(size).reshape(at), shape).ravel()
        for name, size, at in (
            ("group_x", groups, (-1, 1, 1)),
            ("gang", gangs, (-1, 1)),
            ("lane", 32, (-1,)),
        )
    }
    stored = []

    def value(of):
        return of.int_value if isinstance(of, Const) else values[of]

    for instr in kernel.instructions():
        if instr.op == "call":
            values[instr] = values[instr.arg]
        elif instr.op == "store":
            stored.append(value(instr.operands[0]))
        elif instr.op in ("zext", "trunc"):
            values[instr] = value(instr.operands[0])
        elif instr.op in _OPERATIONS:
            values[instr] = _OPERATIONS[instr.op](*map(value, instr.operands))
    return stored


@given(
    length=st.integers(1, 12).map(lambda n: 32 * n),
    gangs=st.sampled_from((2, 4, 8)),
    rows=st.integers(1, 4),
    type_=st.sampled_from(list(_TYPES)),
    numbers=st.lists(
        st.sampled_from((1, 2, 3, 32, 48, 64, 96, 128, 192, 384, 768, 1000)), max_size=4
    ),
)
def test_all_threads_have_their_places(length, gangs, rows, type_, numbers):
    kernel = _divided(numbers, type_)
    assert fold_grid.run(kernel, length, gangs)
    check(kernel, Stage.SCALAR)
    threads = length * gangs * rows
    place, *divided = _stored(kernel, threads // (32 * gangs), gangs)
    assert sorted(place) == list(range(threads))
    for number, quotient, rest in zip(numbers, divided[::2], divided[1::2], strict=True):
        assert (quotient == place // number).all() and (rest == place % number).all()


def test_simd_groups_of_a_threadgroup_lie_above_each_other():
    kernel = _divided([])
    fold_grid.run(kernel, 128, 4)
    place = _stored(kernel, 8, 4)[0].reshape(8, 4, 32)
    assert (place[:, 1:] - place[:, :-1] == 128).all()
    assert (place[..., 1:] - place[..., :-1] == 1).all()


@pytest.mark.parametrize(
    ("numbers", "threads", "gangs", "length"),
    [
        ([64], 64 * 8, 8, 64),
        ([64], 64 * 12, 8, 0),  # rows are left over
        ([64], 64 * 12, 4, 64),
        ([48], 48 * 32, 8, 0),  # rows end within a SIMD-group
        ([128, 2048], 2048 * 8, 8, 128),
        ([3, 96, 960], 960 * 8, 8, 96),
        ([], 1024, 8, 0),
    ],
)
def test_the_length_of_rows(numbers, threads, gangs, length):
    assert fold_grid.row_length(_divided(numbers), threads, gangs) == length
