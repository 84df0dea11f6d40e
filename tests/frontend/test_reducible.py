"""Loops that a `switch` jumps into."""

from __future__ import annotations

from collections.abc import Callable

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.errors import UnsupportedFeatureError
from anymetal.frontend import reducible
from anymetal.frontend.clang import compile_to_ir
from tests.frontend.kernels import kernel_source


def run(body: str) -> list[int]:
    """What the body leaves in `s` for n = 0, 1, 2, … on 32 lanes."""
    kernel = anymetal.metal_kernel(
        name="tangled",
        input_names=["x"],
        output_names=["o"],
        source="uint i = thread_position_in_grid.x; int n = x[i]; int s = 0, j = 0;\n"
        f"{body}\no[i] = s;",
    )
    (result,) = kernel(
        inputs=[mx.arange(32, dtype=mx.int32)], grid=(32, 1, 1), threadgroup=(32, 1, 1),
        output_shapes=[(32,)], output_dtypes=[mx.int32],
    )  # fmt: skip
    return list(np.array(result).tolist())


def duff(n: int) -> int:
    s, k, at = 0, (n + 3) // 4, (4 - n) % 4
    while True:
        s += sum((1, 10, 100, 1000)[at:])
        k, at = k - 1, 0
        if k <= 0:
            return s


def while_loop(n: int) -> int:
    s, entered = 0, n % 3 != 0
    while True:
        if not entered:
            if n <= 0:
                return s
            n -= 1
            s += n
        if not (entered and n % 3 == 2):
            s += 100
            if n == 7:
                return s
        s, n, entered = s + 3, n - 2, False


def nested_loops(n: int) -> int:
    """The labels are in the loop, in the one inside of it, and in none."""
    s, label = 0, n & 3
    if label == 3:
        return 5
    first, inner = True, label == 2
    for k in range(3):
        if not (first and label in (1, 2)):
            s += 1
        if not (first and inner):
            s += 10
        j = 0
        while j < n or (first and inner):
            if not (first and inner):
                s += 100
            first = inner = False
            s += 1000
            j += 3
        first = False
        del k
    return s + 5


@pytest.mark.parametrize(
    ("body", "oracle"),
    [
        ("int k = (n + 3) / 4; switch (n & 3) { case 0: do { s += 1; case 3: s += 10; "
         "case 2: s += 100; case 1: s += 1000; } while (--k > 0); }", duff),
        ("switch (n % 3) { case 0: while (n > 0) { --n; s += n; case 1: s += 100; "
         "if (n == 7) break; case 2: s += 3; n -= 2; } }", while_loop),
        ("int k = 0; switch (n & 3) { case 0: for (k = 0; k < 3; ++k) { s += 1; case 1: s += 10; "
         "for (j = 0; j < n; ) { s += 100; case 2: s += 1000; j += 3; } } case 3: s += 5; }",
         nested_loops),
    ],
    ids=["duff", "while", "nested"],
)  # fmt: skip
def test_a_switch_into_a_loop(body: str, oracle: Callable[[int], int]) -> None:
    assert run(body) == [oracle(n) for n in range(32)]


def test_lanes_meet_at_each_label() -> None:
    """All lanes come by the last label in the first iteration, wherever they have entered."""
    body = (
        "int k = (n + 3) / 4; switch (n & 3) { case 0: do { s += 1000 * simd_sum(1); "
        "case 2: s += 0; case 3: s += 0; case 1: s += simd_sum(1); } while (--k > 0); }"
    )
    rounds = [max(1, (n + 3) // 4) for n in range(32)]
    last = [sum(sum(t > k for t in rounds) for k in range(own)) for own in rounds]
    starting = sum(n & 3 == 0 for n in range(32))
    first = [
        starting * (n & 3 == 0) + sum(sum(t > k for t in rounds) for k in range(1, rounds[n]))
        for n in range(32)
    ]
    assert run(body) == [1000 * a + b for a, b in zip(first, last, strict=True)]


def test_what_grows_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reducible, "_GROWTH", 1)
    body = "int k = 9;\nswitch (int(a[0])) { case 0:\ndo { out[0] += 1; case 1: ; } while (--k); }"
    with pytest.raises(UnsupportedFeatureError, match=r"k: source:3:\d+: a `switch` that jumps"):
        compile_to_ir(kernel_source(body))


def test_other_texts_stay_as_they_are() -> None:
    ir = compile_to_ir(
        kernel_source(
            "for (int k = 0; k < 9; ++k) switch (int(a[k])) { case 1: out[k] = 1; continue; "
            "case 2: out[k] = 2; default: if (k > 5) return; }"
        )
    )
    assert "\n  switch " in ir
    assert reducible.reducible(ir) == ir
