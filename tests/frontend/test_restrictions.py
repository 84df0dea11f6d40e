"""What it costs to look for what a kernel must not do (what is found: the error cases in
tests/kernels)."""

from __future__ import annotations

import time

from anymetal.frontend import restrictions
from tests.frontend.kernels import kernel_source


def _seconds(functions: int) -> float:
    """Of the processor, for a kernel that calls so many functions."""
    calls = "".join(f"  call void @f{n}()\n" for n in range(functions))
    body = "  %v = add i32 1, 2\n" * 40
    made = "".join(f"define void @f{n}() {{\n{body}  ret void\n}}\n" for n in range(functions))
    ir = f"define void @__am_kernel() {{\n{calls}  ret void\n}}\n{made}"
    source, best = kernel_source("out[0] = 1;"), float("inf")
    for _ in range(3):
        start = time.process_time()
        restrictions.check(source, ir)
        best = min(best, time.process_time() - start)
    return best


def test_time_grows_with_the_number_of_functions() -> None:
    """Four times as many take four times as long; each looking through the whole text, sixteen."""
    assert _seconds(800) < 9 * _seconds(200)
