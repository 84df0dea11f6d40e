"""Loads move to where their values are needed, and no further than memory allows."""

from __future__ import annotations

import pytest

from anymetal.ir.model import Const, Instr, Program, Value
from anymetal.ir.spec import Stage, check
from anymetal.passes import late_loads
from tests.ir.programs import named, program


def moved(body: str) -> Program:
    read = program(body)
    late_loads.run(read)
    check(read, Stage.GUARDED)
    return read


def home(read: Program, name: str = "x") -> str:
    block = named(read, name).block
    assert block is not None
    return block.name


# -------------------------------------------------------------------------- behind a branch

#: %x is loaded in the entry and needed in block `use`; {…} are places for other instructions.
_BRANCH = """
    entry:
      %p = getelementptr i8, ptr %a, i64 8
      %c = icmp eq ptr %a, %out
      %x = load{kind} float, ptr %p{order}, align 4
      {behind}
      br i1 %c, label %middle, label %end
    middle:
      {between}
      br label %use
    use:
      {use}
      br label %end
    end:
      {after}
      ret void
"""
_STORE = "store i32 1, ptr %out"
_USE = "store float %x, ptr %out"
_WRITERS = [
    _STORE,
    "store volatile i32 1, ptr %out",
    "%w = atomicrmw add ptr %out, i32 1 monotonic",
    "%w = cmpxchg ptr %out, i32 1, i32 2 monotonic monotonic",
    "fence seq_cst",
    "call void @__am_threadgroup_barrier(i32 1)",
    "call void @__am_simdgroup_barrier(i32 1)",
    "call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 1024, i1 false)",
]
_READERS = [
    "%w = call i32 @__am_lane()",
    "%w = call i32 @__am_shuffle(i32 1, i32 1)",
    "%w = call float @asinhf(float 1.0)",
    "%w = call float @llvm.exp.f32(float 1.0)",
]


def branch(**parts: str) -> str:
    blank = dict.fromkeys("kind order behind between after".split(), "") | {"use": _USE}
    return _BRANCH.format(**(blank | parts))


def test_a_load_moves_to_its_only_use() -> None:
    read = moved(branch(after=_STORE))
    assert home(read) == "%use"
    assert [i.op for i in read.blocks[2].instrs] == ["load", "store", "br"]


@pytest.mark.parametrize("writer", _WRITERS)
@pytest.mark.parametrize("place", ["behind", "between"])
def test_it_never_passes_a_writer(writer: str, place: str) -> None:
    assert home(moved(branch(**{place: writer}))) == "%entry"


@pytest.mark.parametrize("reader", _READERS)
@pytest.mark.parametrize("place", ["behind", "between"])
def test_it_passes_what_only_reads(reader: str, place: str) -> None:
    assert home(moved(branch(**{place: reader}))) == "%use"


@pytest.mark.parametrize(("kind", "order"), [(" volatile", ""), (" atomic", " monotonic")])
def test_special_loads_stay(kind: str, order: str) -> None:
    assert home(moved(branch(kind=kind, order=order))) == "%entry"


def test_it_moves_above_all_its_uses() -> None:
    two = branch(between="%w = fneg float %x\nstore float %w, ptr poison")
    assert home(moved(two.replace("store float %w, ptr poison", ""))) == "%middle"


def test_it_moves_in_front_of_the_first_use_only() -> None:
    """A writer behind the use, in the block where the load arrives, does no harm."""
    read = moved(branch(use=f"{_USE}\n{_STORE}"))
    assert [i.op for i in read.blocks[2].instrs] == ["load", "store", "store", "br"]


def test_a_use_on_both_ways_keeps_it() -> None:
    assert home(moved(branch(after=_USE))) == "%entry"


def test_a_phi_uses_its_operand_where_it_comes_from() -> None:
    read = moved(
        """
        entry:
          %c = icmp eq ptr %a, %out
          %x = load float, ptr %a
          br i1 %c, label %left, label %join
        left:
          br label %join
        join:
          %r = phi float [ %x, %left ], [ 0.0, %entry ]
          store float %r, ptr %out
          ret void
        """
    )
    assert home(read) == "%left"


def test_loads_of_addresses_follow() -> None:
    """The second load takes the first along."""
    read = moved(
        """
        entry:
          %c = icmp eq ptr %a, %out
          %p = load ptr, ptr %a
          %x = load float, ptr %p
          br i1 %c, label %use, label %end
        use:
          store float %x, ptr %out
          br label %end
        end:
          ret void
        """
    )
    assert (home(read, "p"), home(read, "x")) == ("%use", "%use")
    assert [i.name for i in read.blocks[1].instrs[:2]] == ["%p", "%x"]


_LOOP = """
    entry:
      {before}
      br label %loop
    loop:
      %n = phi i32 [ 0, %entry ], [ %next, %latch ]
      {head}
      %c = icmp eq i32 %n, 3
      br i1 %c, label %use, label %latch
    use:
      {use}
      br label %latch
    latch:
      {latch}
      %next = add i32 %n, 1
      %more = icmp ult i32 %next, 9
      br i1 %more, label %loop, label %exit
    exit:
      {after}
      ret void
"""


def loop(**parts: str) -> str:
    return _LOOP.format(**(dict.fromkeys("before head use latch after".split(), "") | parts))


_LOAD = "%x = load float, ptr %a"


def test_a_load_does_not_move_into_a_loop() -> None:
    """It would be done many times, and memory may have changed in between."""
    assert home(moved(loop(before=_LOAD, use=_USE))) == "%entry"


def test_a_load_does_not_move_out_of_a_loop() -> None:
    last = "%l = phi float [ %x, %latch ]\nstore float %l, ptr %out"
    assert home(moved(loop(head=_LOAD, after=last))) != "%exit"


def test_a_load_moves_inside_its_loop() -> None:
    assert home(moved(loop(head=_LOAD, use=_USE))) == "%use"


def test_what_the_rest_of_the_iteration_writes_does_no_harm() -> None:
    """The load comes first in the next iteration, too."""
    assert home(moved(loop(head=_LOAD, use=_USE, latch=_STORE))) == "%use"


def test_what_an_inner_loop_writes_does_harm() -> None:
    body = """
        entry:
          %x = load float, ptr %a
          br label %inner
        inner:
          %n = phi i32 [ 0, %entry ], [ %next, %inner ]
          {write}
          %next = add i32 %n, 1
          %more = icmp ult i32 %next, 9
          br i1 %more, label %inner, label %use
        use:
          store float %x, ptr %out
          ret void
    """
    assert home(moved(body.format(write=""))) == "%use"
    assert home(moved(body.format(write=_STORE))) == "%entry"


# ------------------------------------------------------------------------ under a condition

_SELECT = """
    %n = load volatile i32, ptr %out
    %c = icmp ult i32 %n, 5
    %p = getelementptr i8, ptr %a, i64 40
    %x = load float, ptr %p
    {between}
    %r = select i1 %c, float {yes}, float {no}
    {after}
    store float %r, ptr %out
    ret void
"""


def select(yes: str = "%x", no: str = "0.0", between: str = "", after: str = "") -> str:
    return _SELECT.format(yes=yes, no=no, between=between, after=after)


@pytest.mark.parametrize(("yes", "no", "flag"), [("%x", "0.0", ""), ("1.0", "%x", "inverted")])
def test_a_load_for_one_selection_is_done_under_its_condition(yes: str, no: str, flag: str) -> None:
    read = moved(select(yes, no, between="%w = call float @asinhf(float 1.0)"))
    load = named(read, "x")
    assert (load.op, load.flags) == ("guarded_load", flag)
    assert load.operands == [named(read, "p"), named(read, "c")]
    place = read.blocks[0].instrs.index(load)
    assert read.blocks[0].instrs[place + 1] is named(read, "r")


@pytest.mark.parametrize(
    "body",
    [
        select(yes="%x", no="%x"),
        select(after="store float %x, ptr %a"),
        select(between="%y = call i32 @__am_shuffle(i32 1, i32 1)\nstore float %x, ptr %a"),
        select().replace("load float", "load volatile float"),
        select().replace("select i1 %c", "select i1 true"),
    ],
)
def test_other_loads_are_done_at_once(body: str) -> None:
    assert named(moved(body), "x").op == "load"


@pytest.mark.parametrize("writer", _WRITERS)
def test_it_is_done_before_anything_is_written(writer: str) -> None:
    instrs = moved(select(between=writer)).blocks[0].instrs
    load = next(i for i in instrs if i.op == "guarded_load")
    assert instrs[instrs.index(load) + 1].op in writer.replace("void", "call")


@pytest.mark.parametrize("writer", _WRITERS)
def test_a_condition_read_after_that_comes_too_late(writer: str) -> None:
    late = select(between=f"{writer}\n%m = load i32, ptr %out\n%d = icmp ult i32 %m, 5")
    assert named(moved(late.replace("i1 %c", "i1 %d")), "x").op == "load"
    above = late.replace(f"{writer}\n", "").replace("i1 %c", "i1 %d")
    assert named(moved(above), "x").op == "guarded_load"


_PURE = [
    "%y = fneg float %x",
    "%z = fmul float %x, %x\n%y = fadd float %z, %x",
    "%y = call float @llvm.maxnum.f32(float %x, float 3.0)",
    "%y = call float @asinhf(float %x)",
    "%z = fcmp olt float %x, 3.0\n%y = select i1 %z, float %x, float 3.0",
    "%z = bitcast float %x to i32\n%w = xor i32 %z, 5\n%y = bitcast i32 %w to float",
]


@pytest.mark.parametrize("pure", _PURE)
def test_a_condition_reaches_through_what_only_computes(pure: str) -> None:
    load = named(moved(select(between=pure, yes="%y")), "x")
    assert (load.op, load.operands[1].name) == ("guarded_load", "%c")  # type: ignore[attr-defined]


def test_other_lanes_need_a_value_always() -> None:
    """In a shuffle the value goes to a lane whose condition may hold."""
    shuffle = """%i = bitcast float %x to i32
    %s = call i32 @__am_shuffle(i32 %i, i32 1)
    %y = bitcast i32 %s to float"""
    assert named(moved(select(between=shuffle, yes="%y")), "x").op == "load"


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


def test_loads_that_are_certain_to_be_there() -> None:
    """Private memory at a known place is there for all lanes."""
    private = select().replace("%p = getelementptr i8, ptr %a, i64 40", "%p = alloca [4 x float]")
    assert named(moved(private), "x").op == "load"
    beyond = private.replace("load float, ptr %p", "load float, ptr %q").replace(
        "%x =", "%q = getelementptr i8, ptr %p, i64 16\n%x ="
    )
    assert named(moved(beyond), "x").op == "guarded_load"


# ------------------------------------------------------------------- conditions of other blocks


def test_what_is_computed_on_the_way_moves_along() -> None:
    two = branch(
        behind="%y = fneg float %x\n%z = fmul float %y, %y", use="store float %z, ptr %out"
    )
    read = moved(two.replace("store float %z", "%v = fadd float %z, %y\nstore float %v"))
    assert {home(read, name) for name in "xyzv"} == {"%use"}


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
    text = _LOOP.format(before="", head=body, use="", latch="", after="")
    text = text.replace("%c = icmp eq i32 %n, 3\n      br", "br").replace(
        "%n = phi", "%old = phi float [ 0.0, %entry ], [ %x, %latch ]\n%n = phi"
    )
    assert named(moved(text), "x").op == "load"


def test_a_condition_made_of_the_value_itself() -> None:
    read = moved(
        """
        %x = load i8, ptr %a
        %c = trunc i8 %x to i1
        %r = select i1 %c, i8 %x, i8 0
        store i8 %r, ptr %out
        ret void
        """
    )
    assert named(read, "x").op == "load"


def test_two_loads_for_one_selection() -> None:
    read = moved(
        """
        %n = load volatile i32, ptr %out
        %c = icmp ult i32 %n, 5
        %x = load float, ptr %a
        %p = getelementptr i8, ptr %a, i64 4
        %y = load float, ptr %p
        %r = select i1 %c, float %x, float %y
        store float %r, ptr %out
        ret void
        """
    )
    loads = named(read, "x"), named(read, "y")
    assert [(load.op, load.flags) for load in loads] == [
        ("guarded_load", ""),
        ("guarded_load", "inverted"),
    ]
