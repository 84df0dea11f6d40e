"""The version of a program for gangs that pass all bounds checks: what counts as a check."""

from __future__ import annotations

import numpy as np
import pytest

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.ir.calls import ALL
from anymetal.ir.model import Block, Instr, Program
from anymetal.ir.printer import print_program
from anymetal.ir.spec import Stage, check
from anymetal.passes import predicate_loads, version_by_bounds
from tests.compiling import known_of
from tests.ir.programs import ops, program, run_program

#: %i is the thread, %n the number of elements.
_ENTRY = """
entry:
  %i = call i32 @__am_thread_x()
  %n = load i32, ptr %shape
  %w = zext i32 %i to i64
  %x = getelementptr float, ptr %a, i64 %w
  %y = getelementptr float, ptr %out, i64 %w
"""
_COPY = "inside:\n%v = load float, ptr %x\nstore float %v, ptr %y\nbr label %end\nend:\nret void"


def read(body: str) -> Program:
    result = program(_ENTRY + body, "ptr %a, ptr %shape, ptr %out")
    result.args[1].describes = True
    return result


def versions(kernel: Program) -> bool:
    """Whether there are two."""
    known = known_of(kernel, LaunchFacts(True, True, flat=True, whole=True))
    changed = version_by_bounds.run(known)
    check(kernel, Stage.GANG)
    return changed


def guarded(condition: str) -> str:
    """A copy under a condition %c."""
    return f"{condition}\nbr i1 %c, label %inside, label %end\n{_COPY}"


CHECKS = {
    "below": guarded("%c = icmp slt i32 %i, %n"),
    "not above": guarded("%o = icmp sge i32 %i, %n\n%c = xor i1 %o, true"),
    "from 1": guarded("%c = icmp sgt i32 %i, 0"),
    "both": guarded("%f = icmp sgt i32 %i, 0\n%t = icmp slt i32 %i, %n\n%c = and i1 %f, %t"),
    "not the last": guarded(
        "%f = icmp ne i32 %i, 100\n%t = icmp slt i32 %i, %n\n%c = select i1 %t, i1 %f, i1 false"
    ),
    "one part asked again": guarded(
        "%f = icmp ne i32 %i, 0\n%t = icmp slt i32 %i, %n\n%b = select i1 %f, i1 %t, i1 false\n"
        "br i1 %b, label %both, label %one\n"
        "both:\n%u = load float, ptr %x\nstore float %u, ptr %y\nbr label %check\n"
        "one:\nbr i1 %t, label %check, label %end\n"
        "check:\n%c = freeze i1 %t"
    ),
}
NO_CHECKS = {
    "no condition": f"br label %inside\n{_COPY}",
    "no gang passes": guarded("%c = icmp eq i32 %i, 5"),
    "a matter of the data": guarded("%d = load float, ptr %x\n%c = fcmp ogt float %d, 0.0"),
    "the same for all threads": guarded("%c = icmp sgt i32 %n, 7"),
}


def interior(kernel: Program) -> list[Block]:
    """The blocks behind a yes that the edge does not go through."""

    def behind(block: Block) -> list[Block]:
        found = [block]
        for one in found:
            found += [b for b in one.successors if b not in found]
        return found

    inner, edge = kernel.blocks[0].terminator.arg
    outside = behind(edge)
    return [block for block in behind(inner) if block not in outside]


def asked(kernel: Program) -> Instr:
    """What the branch at the end of the entry depends on."""
    value = kernel.blocks[0].terminator.operands[0]
    assert isinstance(value, Instr)
    return value


@pytest.mark.parametrize("name", CHECKS)
def test_the_interior_has_neither_checks_nor_branches(name: str) -> None:
    kernel = read(CHECKS[name])
    assert versions(kernel)
    calls = [i for i in kernel.blocks[0].instrs if i.op == "call" and i.arg == ALL]
    answer = asked(kernel)
    assert not {answer, *answer.operands}.isdisjoint(calls)
    (inner,) = interior(kernel)
    found = [i.op for i in inner.instrs]
    assert "load" in found and "store" in found and "icmp" not in found
    assert len(inner.successors) <= 1


@pytest.mark.parametrize("name", NO_CHECKS)
def test_what_is_no_check_stays(name: str) -> None:
    kernel = read(NO_CHECKS[name])
    before = print_program(kernel)
    assert not versions(kernel)
    assert print_program(kernel) == before


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("n", [0, 20, 32, 64])
def test_results(name: str, n: int) -> None:
    a = np.arange(1, 33, dtype=np.float32)
    out = np.zeros(32, np.float32)
    shape = np.full(8, n, np.int32)
    kernel = read(CHECKS[name])
    run_program(kernel, [b.view(np.uint8) for b in (a, shape, out)], width=32, threads=32)
    i = np.arange(32)
    low = i > 0 if name in ("from 1", "both") else i >= 0
    high = i < n if name != "from 1" else i < 32
    np.testing.assert_array_equal(out, np.where(low & high, a, 0))


def test_a_large_program_is_left_alone() -> None:
    most = version_by_bounds.MOST_INSTRUCTIONS
    more = "".join(
        f"%m{k} = fadd float %v, {k}.0\nstore float %m{k}, ptr %y\n" for k in range(most)
    )
    kernel = read(CHECKS["below"].replace("br label %end\nend:", f"{more}br label %end\nend:"))
    assert not versions(kernel)


def test_of_two_loads_one_is_done() -> None:
    kernel = read(
        """
        %x1 = getelementptr i8, ptr %x, i64 4
        %v = load float, ptr %x
        %u = load float, ptr %x1
        %c = icmp slt i32 %i, %n
        %s = select i1 %c, float %v, float %u
        store float %s, ptr %y
        ret void
        """
    )
    predicate_loads.run(Analyses(kernel))
    assert ops(kernel).count("guarded_load") == 2
    assert versions(kernel)
    (inner,) = interior(kernel)
    found = [i.op for i in inner.instrs]
    assert found.count("load") == 1 and found.count("guarded_load") == 1
