"""The condition of a load that several selections, products or other blocks use."""

from __future__ import annotations

import pytest

from anymetal.ir.model import Const, Instr, Program, Value
from tests.ir.programs import named
from tests.passes.predicate_loads_programs import loop, moved


def conditions(read: Program, name: str = "x") -> str:
    """The condition of a guarded load, as text: `!` is not, `?:` a selection."""
    load = named(read, name)
    assert load.op == "guarded_load"

    def text(value: Value) -> str:
        if isinstance(value, Const):
            return "10"[value.text == "false"]
        assert isinstance(value, Instr)
        if value.op == "select" and not value.name:
            return "({}?{}:{})".format(*map(text, value.operands))
        return value.name[1:] or f"{value.op}({','.join(map(text, value.operands))})"

    return ("!" if load.flags else "") + text(load.operands[1])


#: Loads %x; %c, %d and %e are conditions.
_USES = """
    entry:
      %n = load volatile i32, ptr %out
      %c = icmp ult i32 %n, 5
      %d = icmp ult i32 %n, 9
      %e = icmp ult i32 %n, 99
      %p = getelementptr i8, ptr %a, i32 %n
      %x = load float, ptr %p
      {uses}
      ret void
"""


def uses(*lines: str) -> str:
    numbered = [line.replace("OUT", f"store float %r{n}, ptr %out") for n, line in enumerate(lines)]
    return _USES.format(uses="\n".join(numbered))


def chosen(result: str, condition: str, yes: str, no: str) -> str:
    """A selection; a result %r… is stored."""
    line = f"{result} = select i1 {condition}, float {yes}, float {no}"
    return f"{line}\nOUT" if result.startswith("%r") else line


_C = chosen("%r0", "%c", "%x", "0.0")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([_C], "c"),
        ([_C, "%y = fneg float %x", chosen("%r2", "%c", "%y", "1.0")], "c"),
        ([_C, chosen("%r1", "%d", "%x", "1.0")], "(c?1:d)"),
        ([_C, chosen("%r1", "%d", "2.0", "%x")], "(c?1:(d?0:1))"),
        ([chosen("%y", "%c", "%x", "0.0"), chosen("%r1", "%d", "%y", "1.0")], "(d?c:0)"),
        ([chosen("%y", "%c", "0.0", "%x"), chosen("%r1", "%d", "1.0", "%y")], "(d?0:(c?0:1))"),
        ([_C, chosen("%y", "%c", "%x", "3.0"), chosen("%r2", "%d", "%y", "1.0")], "c"),
        (
            [
                chosen("%y", "%c", "%x", "0.0"),
                chosen("%r1", "%d", "%y", "1.0"),
                chosen("%z", "%e", "%x", "0.0"),
                chosen("%r3", "%d", "1.0", "%z"),
            ],
            "((d?c:0)?1:(d?0:e))",
        ),
        (["%f = xor i1 %c, true", chosen("%r1", "%f", "%x", "0.0")], "!c"),
    ],
)
def test_conditions(lines: list[str], expected: str) -> None:
    assert conditions(moved(uses(*lines))) == expected


@pytest.mark.parametrize(
    "lines",
    [
        [_C, chosen("%r1", "%c", "2.0", "%x")],
        [_C, "%r1 = fadd float %x, 2.0\nOUT"],
        ["%y = fneg float %x", chosen("%r1", "%c", "%x", "%y")],
        ["%f = fcmp olt float %x, 0.0", "%y = fneg float %x", chosen("%r2", "%f", "%y", "0.0")],
    ],
)
def test_what_is_needed_either_way(lines: list[str]) -> None:
    assert named(moved(uses(*lines)), "x").op == "load"


@pytest.mark.parametrize(
    ("value", "mask"),
    [("%i", "and i32 %i, %m"), ("%i", "mul i32 %m, %i")],
)
def test_a_mask_is_a_selection(value: str, mask: str) -> None:
    """The product of something undefined and 0 is undefined, so the loaded value is made one."""
    read = moved(
        uses(
            "%i = bitcast float %x to i32\n"
            f"%m = {'sext' if 'and' in mask else 'zext'} i1 %c to i32\n"
            f"%w = {mask}\n%r0 = bitcast i32 %w to float\nOUT"
        )
    )
    assert conditions(read) == "c"
    frozen = named(read, "i").operands[0]
    assert isinstance(frozen, Instr)
    assert (frozen.op, frozen.operands) == ("freeze", [named(read, "x")])


def test_two_conditions_do_not_wait_for_each_other() -> None:
    """`x > 0 & y > 0`: each is needed only if the other one holds, but not both."""
    read = moved(
        uses(
            "%q = getelementptr i8, ptr %p, i64 4\n%y = load float, ptr %q\n"
            "%f = fcmp ogt float %x, 0.0\n%g = fcmp ogt float %y, 0.0\n%b = and i1 %f, %g\n"
            "%r0 = uitofp i1 %b to float\nOUT"
        )
    )
    assert sorted([named(read, "x").op, named(read, "y").op]) == ["guarded_load", "load"]


def test_an_address_is_needed_where_its_load_is_done() -> None:
    read = moved(
        uses(
            "%i = fptosi float %x to i32\n%q = getelementptr i8, ptr %a, i32 %i\n"
            "%y = load float, ptr %q\n%r0 = select i1 %c, float %y, float 0.0\nOUT"
        )
    )
    assert (conditions(read), conditions(read, "y")) == ("c", "c")
    unguarded = moved(
        uses(
            "%i = fptosi float %x to i32\n%q = getelementptr i8, ptr %a, i32 %i\n"
            "%y = load volatile float, ptr %q\n%r0 = select i1 %c, float %y, float 0.0\nOUT"
        )
    )
    assert named(unguarded, "x").op == "load"


_BOTH = """
    entry:
      %n = load volatile i32, ptr %out
      %i = zext i32 %n to i64
      %p = getelementptr float, ptr %a, i64 %i
      %x = load float, ptr %p
      {condition}
      br i1 %b, label %left, label %right
    left:
      %c = icmp ult i32 {of}, 5
      %l = select i1 %c, float %x, float 0.0
      br label %join
    right:
      %d = icmp ult i32 {of}, 5
      %y = fneg float %x
      %r = select i1 %d, float %y, float 1.0
      br label %join
    join:
      %z = phi float [ %l, %left ], [ %r, %right ]
      store float %z, ptr %out
      ret void
"""


def test_a_condition_that_is_computed_later_is_computed_earlier() -> None:
    read = moved(_BOTH.format(condition="%b = icmp eq ptr %a, %out", of="%n"))
    load = named(read, "x")
    assert load.op == "guarded_load"
    made = read.blocks[0].instrs
    assert [i.arg for i in made if i.op == "icmp" and not i.name] == ["ult", "ult"]


def test_one_that_only_a_later_block_can_know_is_not() -> None:
    text = _BOTH.format(condition="%b = icmp eq ptr %a, %out", of="%k")
    for block in ("left", "right"):
        late = f"{block}:\n%k{block[0]} = load volatile i32, ptr %out\n"
        head, tail = text.split(f"{block}:\n")
        text = head + late + tail.replace("%k,", f"%k{block[0]},", 1)
    assert named(moved(text), "x").op == "load"


def test_a_condition_of_the_next_iteration_is_another_one() -> None:
    """%x goes into the next iteration and is needed there if %c holds then."""
    body = """
        %x = load float, ptr %a
        %c = icmp eq i32 %n, 3
        %r = select i1 %c, float %old, float 0.0
        store volatile float %r, ptr %out
    """
    text = (
        loop(head=body)
        .replace("%c = icmp eq i32 %n, 3\n      br", "br")
        .replace("%n = phi", "%old = phi float [ 0.0, %entry ], [ %x, %latch ]\n%n = phi")
    )
    assert named(moved(text), "x").op == "load"
