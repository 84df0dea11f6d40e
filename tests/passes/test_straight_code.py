"""Long straight code: lanes taken early, an order in which little waits, lanes out of memory."""

from __future__ import annotations

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.analysis.effects import touches
from anymetal.ir.calls import SHUFFLE
from anymetal.ir.model import Const, Instr, Program, Value
from anymetal.ir.spec import Stage, check
from anymetal.ir.types import FLOAT
from anymetal.simd import questions
from tests.analysis import plans
from tests.compiling import planned
from tests.ir.programs import program

_ENTRY = """
    entry:
      %lane = call i32 @__am_lane()
      %p = getelementptr float, ptr %a, i32 %lane
      %q = getelementptr float, ptr %out, i32 %lane
      %x = load float, ptr %p
"""


def analysed(body: str, whole: bool = True) -> Analyses:
    known = plans.analysed(_ENTRY + body, whole)
    check(known.program, Stage.ORDERED)
    return known


def shuffle(name: str, value: str, lane: int) -> str:
    """A lane of a float."""
    return f"""
      %{name}.w = bitcast float %{value} to i32
      %{name}.l = call i32 @__am_shuffle(i32 %{name}.w, i32 {lane})
      %{name} = bitcast i32 %{name}.l to float
    """


def sources(read: Program) -> list[tuple[str, int]]:
    """What lanes are taken of: the operation, and the lane."""
    found = []
    for instr in read.instructions():
        if instr.op == "call" and instr.arg == SHUFFLE:
            value, lane = instr.operands
            while isinstance(value, Instr) and value.op == "bitcast":
                value = value.operands[0]
            assert isinstance(value, Instr) and isinstance(lane, Const)
            found.append((value.op, int(lane.text)))
    return found


CHAIN = (
    shuffle("s0", "x", 0)
    + "%d0 = fdiv float %x, %s0\n"
    + shuffle("s1", "d0", 1)
    + "%d1 = fdiv float %d0, %s1\n"
    + shuffle("s2", "d1", 2)
    + "%d2 = fdiv float %d1, %s2\nstore float %d2, ptr %q\nret void"
)


def test_lanes_of_quotients_are_quotients_of_lanes() -> None:
    read = analysed(CHAIN).program
    assert sources(read) == [("load", 0), ("load", 1), ("fdiv", 2)]
    divisions = [i for i in read.instructions() if i.op == "fdiv"]
    assert len(divisions) == 5


def test_lanes_that_are_none_stay() -> None:
    assert sources(analysed(CHAIN.replace("i32 2)", "i32 -1)")).program)[-1] == ("fdiv", -1)
    read = analysed(CHAIN.replace("i32 1)", "i32 32)")).program
    assert ("fdiv", 32) in sources(read)


def test_inactive_lanes_give_zero() -> None:
    """So nothing is taken early where there may be some."""
    assert sources(analysed(CHAIN, whole=False).program) == [("load", 0), ("fdiv", 1), ("fdiv", 2)]


def test_a_chain_beside_much_other_work_stays() -> None:
    others = "".join(
        f"%o{i} = fadd float %x, {i}.0\nstore float %o{i}, ptr %q\n" for i in range(64)
    )
    body = CHAIN.replace("store", others + "store", 1)
    assert sources(analysed(body).program) == [("load", 0), ("fdiv", 1), ("fdiv", 2)]


def eager(columns: int) -> str:
    """Each of `columns` vectors is subtracted from all behind it, as soon as it is there."""
    text = ""
    names = []
    for j in range(columns):
        text += f"%p{j} = getelementptr i8, ptr %p, i32 {1024 * j}\n"
        text += f"%c{j} = load float, ptr %p{j}\n"
        names.append(f"c{j}")
    for k in range(columns):
        for j in range(k + 1, columns):
            text += f"%n{k}.{j} = fsub float %{names[j]}, %{names[k]}\n"
            names[j] = f"n{k}.{j}"
    for j in range(columns):
        text += f"%q{j} = getelementptr i8, ptr %q, i32 {1024 * j}\n"
        text += f"store float %{names[j]}, ptr %q{j}\n"
    return text + "ret void"


def moves(instrs: list[Instr], registers: int = 16) -> int:
    """How often floats go to memory and come back, if those used last are in registers."""
    last = {value: at for at, instr in enumerate(instrs) for value in instr.operands}
    kept: list[Value] = []
    saved: set[Value] = set()
    back = 0
    for at, instr in enumerate(instrs):
        for value in (v for v in [*instr.operands, instr] if v.type == FLOAT):
            back += value is not instr and value not in kept
            kept = [other for other in kept if other is not value] + [value]
        saved |= {value for value in kept[:-registers] if last.get(value, 0) > at}
        kept = kept[-registers:]
    return len(saved) + back


def test_sums_wait_until_they_are_needed() -> None:
    read = program(_ENTRY + eager(40))
    before = list(read.blocks[0].instrs)
    known = planned(read, LaunchFacts(linear=True, aligned=True, flat=True))
    after = known.program.blocks[0].instrs
    assert set(before) == set(after) and before != after
    assert moves(after) < moves(before) * 3 / 4
    seen: set[Instr] = set()
    for instr in after:
        assert all(v in seen for v in instr.operands if isinstance(v, Instr))
        seen.add(instr)
    memory = [i for i in before if touches(i)]
    assert memory == [i for i in after if touches(i)]


def test_what_fits_stays_as_it_is() -> None:
    read = program(_ENTRY + eager(12))
    before = list(read.blocks[0].instrs)
    planned(read, LaunchFacts(linear=True, aligned=True, flat=True))
    assert read.blocks[0].instrs == before


def test_many_lanes_of_one_vector_come_out_of_memory() -> None:
    def body(lanes: int) -> str:
        picks = "".join(shuffle(f"s{k}", "x", k) for k in range(lanes))
        sums = "".join(f"%t{k + 1} = fadd float %t{k}, %s{k}\n" for k in range(lanes))
        return f"{picks}%t0 = fadd float %x, 0.0\n{sums}store float %t{lanes}, ptr %q\nret void"

    (lanes,) = analysed(body(5))(questions.spread).values()
    assert lanes == set(range(5))
    assert not analysed(body(3))(questions.spread)
