"""The version of a program for gangs that pass all bounds checks: what counts as a check."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.ir.calls import ALL
from anymetal.ir.model import Program
from anymetal.ir.spec import Stage, check
from anymetal.passes import version_by_bounds
from anymetal.pipeline.program import thread_program
from tests.compiling import known_of
from tests.frontend.kernels import kernel_source
from tests.ir.programs import ops

_I = "int i = thread_position_in_grid.x, n = a_shape[0];\n"


def versions(body: str) -> Program:
    kernel = thread_program(kernel_source(_I + body))
    version_by_bounds.run(known_of(kernel, LaunchFacts(True, True, flat=True, whole=True)))
    check(kernel, Stage.GANG)
    return kernel


def questions(kernel: Program) -> int:
    return sum(i.op == "call" and i.arg == ALL for i in kernel.instructions())


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("if (i < n) out[i] = a[i];", 1),
        ("if (i >= n) return; out[i] = a[i];", 1),
        ("if (i > 0 && i < n - 1) out[i] = a[i - 1] + a[i + 1];", 2),
        ("out[i] = i < n ? a[i] : 0;", 1),  # a guarded load
        ("if (uint(i) > 0) out[i] = a[i - 1];", 1),  # LLVM asks for != 0
        ("out[i] = a[i];", 0),
        ("if (i == 5) out[i] = a[i];", 0),  # no gang passes
        ("if (thread_index_in_simdgroup < 16) out[i] = a[i];", 0),
        ("if (a[i] > 0) out[i] = 1;", 0),  # a matter of the data
        ("if (s > 0) out[i] = a[i];", 0),  # not what the address is made of
        ("for (int k = 0; k < n; ++k) out[i] += a[k * n + i];", 0),  # the same for all threads
        ("for (int k = 0; k < n; ++k) if (i + k < n) out[i] += a[i + k];", 0),  # not known in front
    ],
)
def test_checks(body: str, count: int) -> None:
    assert questions(versions(body)) == count


def test_the_interior_has_no_branches() -> None:
    kernel = versions("if (i > 0) out[i] = a[i - 1]; if (i < n - 1) out[i] += a[i + 1];")
    inner, edge = kernel.blocks[0].terminator.arg
    assert [i.op for i in inner.instrs if i.op in ("br", "store", "load")].count("br") == 1
    assert len(inner.successors) == 1 and len(edge.successors) == 2


def test_a_large_program_is_left_alone() -> None:
    body = "".join(f"if (i + {k} < n) out[i] += a[i + {k}] * {k};" for k in range(100))
    assert questions(versions(body)) == 0


def test_of_two_loads_one_is_done() -> None:
    kernel = versions("float x = a[i], y = a[i + 1]; out[i] = i < n ? x : y;")
    assert questions(kernel) == 1
    inner = kernel.blocks[0].terminator.arg[0]
    assert [i.op for i in inner.instrs].count("load") == 1
    assert "guarded_load" in ops(kernel)
