"""Lanes meet where the text says: cross-lane functions on every way out of loops.

The oracle simulates 32 lanes in lockstep by the structure of the text (lockstep.py).
"""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from tests.frontend.lockstep import (
    CROSS_LANE,
    Generator,
    If,
    Leave,
    Loop,
    Set,
    Statement,
    Switch,
    binary,
    constant,
    cross_lane,
    expected,
    kernel_text,
    text_of,
    variable,
)

_X = np.array([(7 * lane + lane // 5) % 11 for lane in range(32)], np.int32)


def check(program: list[Statement], counters: int, before_lines: str = "") -> None:
    text = "".join(before_lines + line for line in kernel_text(program, counters).splitlines(True))
    kernel = anymetal.metal_kernel(
        name="lockstep", input_names=["input"], output_names=["o"], source=text
    )
    (result,) = kernel(
        inputs=[mx.array(_X)], grid=(32, 1, 1), threadgroup=(32, 1, 1),
        output_shapes=[(32,)], output_dtypes=[mx.int32],
    )  # fmt: skip
    np.testing.assert_array_equal(np.array(result), expected(program, _X, counters), text)


def _mix(name: str = "sum") -> Statement:
    value = cross_lane(name, binary("+", variable("x"), variable("k0")))
    return Set("s", binary("+", binary("*", variable("s"), constant(5)), value))


_TURN = binary("==", binary("&", variable("x"), constant(3)), variable("k0"))


@pytest.mark.parametrize("kind", ["for", "while", "do", "forever"])
@pytest.mark.parametrize("how", ["break", "continue", "return"])
def test_ways_out_of_loops(kind: str, how: str) -> None:
    enough = If(binary("<", constant(6), variable("k0")), [Leave("break")])
    body = [enough, If(_TURN, [_mix(), Leave(how)]), _mix("active")]
    check([Loop(kind, "k0", 5, body), _mix("active")], 1)


@pytest.mark.parametrize("name", CROSS_LANE)
def test_functions_before_a_break(name: str) -> None:
    check([Loop("for", "k0", 100, [If(_TURN, [_mix(name), Leave("break")])])], 1)


@pytest.mark.parametrize("how", ["break", "return"])
def test_out_of_nested_loops(how: str) -> None:
    inner = Loop("for", "k1", 3, [If(_TURN, [_mix(), Leave(how)]), _mix("active")])
    check([Loop("for", "k0", 4, [inner, _mix("ballot")]), _mix("first")], 2)


def test_a_loop_that_is_only_left_by_returning() -> None:
    leave = If(binary("<", variable("x"), variable("k1")), [_mix(), Leave("return")])
    inner = Loop("forever", "k1", 0, [leave])
    check([Loop("for", "k0", 4, [If(_TURN, [inner])]), _mix()], 2)


def test_a_switch_in_a_loop() -> None:
    cases: list[tuple[int, list[Statement]]] = [
        (0, [_mix(), Leave("continue")]), (1, [_mix("scan")]), (2, [_mix("max"), Leave("break")]),
        (3, [_mix("quad"), Leave("return")]),
    ]  # fmt: skip
    on = binary("&", binary("+", variable("x"), variable("k0")), constant(7))
    check([Loop("for", "k0", 5, [Switch(on, cases), _mix("active")])], 1)


def test_a_flag_that_ends_the_loop() -> None:
    leave = Set("f", constant(1))
    begin = Set("f", constant(0), declares=True)
    body = [begin, If(_TURN, [_mix(), leave]), If(variable("f"), [Leave("break")])]
    check([Loop("forever", "k0", 0, body)], 1)


@pytest.mark.parametrize("directive", ["#line 3", '#line 9 "a.metal"', '# 3 "<built-in>" 1 3'])
def test_lines_with_other_numbers(directive: str) -> None:
    body = [If(_TURN, [_mix(), Leave("break")]), Loop("for", "k1", 3, [_mix("active")])]
    check([Loop("for", "k0", 9, body)], 2, f"{directive}\n")


def test_functions_of_the_user_and_macros() -> None:
    header = (
        "int turn(int x, int k) { while (true) { if ((x & 3) == k) return simd_sum(1) + k; "
        "if (++k > 9) return -1; } }\n"
        "#define TURN(r, x) for (int k = 0; k < 100; ++k) { if ((x & 3) == k) "
        "{ r += simd_sum(1); break; } } r += 100 * simd_sum(1);"
    )
    body = (
        "uint i = thread_position_in_grid.x; int r = 0;\n"
        "for (int n = 0; n < 3; ++n)\n"
        "  if (input[i] % 2 == n) { r += turn(input[i], 0); break; }\n"
        "TURN(r, input[i])\no[i] = r;"
    )
    kernel = anymetal.metal_kernel(
        name="k", input_names=["input"], output_names=["o"], source=body, header=header
    )
    (result,) = kernel(
        inputs=[mx.array(_X)], grid=(32, 1, 1), threadgroup=(32, 1, 1),
        output_shapes=[(32,)], output_dtypes=[mx.int32],
    )  # fmt: skip
    iterations = _X & 3
    same = (_X % 2)[:, None] == (_X % 2)[None, :]
    first = (same & (iterations[:, None] == iterations[None, :])).sum(axis=1) + iterations
    second = (iterations[:, None] == iterations[None, :]).sum(axis=1)
    assert np.array(result).tolist() == (first + second + 3200).tolist()


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    _check_random(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
def test_many_random_programs(seed: int) -> None:
    _check_random(seed)


def _check_random(seed: int) -> None:
    generator = Generator(seed)
    program = generator.program()
    while not generator.counters:
        program = generator.program()
    assert text_of(program)
    check(program, generator.counters)
