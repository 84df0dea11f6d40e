"""How a gang goes through a program, as text that one can check by eye."""

from __future__ import annotations

from anymetal.analysis import flow
from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.analysis.linearization import RegionPlan, Target
from anymetal.analysis.regions import Node, regions
from anymetal.analysis.uniformity import Shapes, shapes
from anymetal.ir.spec import Stage, check
from tests.compiling import planned
from tests.ir.programs import program

#: %u is a uniform condition, %v one that varies, both at hand in the entry; %x and %y are numbers
#: of the lanes, %p and %q their addresses.
_ENTRY = """
    entry:
      %lane = call i32 @__am_lane()
      %p = getelementptr i32, ptr %a, i32 %lane
      %q = getelementptr i32, ptr %out, i32 %lane
      %x = load i32, ptr %p
      %n = load i32, ptr %a
      %v = icmp sgt i32 %x, 5
      %u = icmp sgt i32 %n, 5
      {}
"""


def analyse(entry: str, blocks: str) -> Analyses:
    """Of a program in LLVM's text: the end of its entry, and the other blocks."""
    return analysed(_ENTRY.format(entry) + blocks, whole=False)


def analysed(text: str, whole: bool) -> Analyses:
    """Of a whole program; `whole`: no threadgroup is smaller than the others."""
    read = program(text)
    check(read, Stage.SCALAR)
    return planned(read, LaunchFacts(linear=True, aligned=True, flat=True, whole=whole))


def show(known: Analyses) -> list[str]:
    """A line for each node: where control goes, and where the mask comes from.

    left -> join            all lanes go on to `join` (with a condition: to one of two)
    left => join            `join` is next, whoever goes there
    left ?=> join           `join` is next if no lane wants `left`
    mask: as entry          that of another block; `collected` from the lanes that come;
                            `assigned` by whoever jumps here
    """
    lines = []
    for region in known(regions).regions:
        plan = known(flow.plans)[region]
        if region.loop is not None:
            kind = "divergent loop" if plan.divergent else "loop"
            lines.append(f"{kind} {region.entry.name}:")
        indent = "  " * len(region.ancestors())
        lines += [indent + _node(plan, node) for node in region.nodes]
    return lines


def _node(plan: RegionPlan, node: Node) -> str:
    parts = [node.name]
    if node in plan.skip:
        parts.append(f"?=> {_name(plan.skip[node])},")
    if node in plan.fall:
        parts.append(f"=> {_name(plan.fall[node])}")
    else:
        ways = [
            _name(plan.route[e]) if e in plan.route else "back" if e.is_back else "out"
            for e in node.edges
        ]
        parts.append(f"-> {' | '.join(ways)}")
    if node in plan.alias:
        parts.append(f"[mask: as {plan.alias[node].name}]")
    elif node in plan.collect:
        parts.append("[mask: collected]")
    elif node is not plan.region.entry:
        parts.append("[mask: assigned]")
    return " ".join(parts)


def _name(target: Target) -> str:
    return target.name if isinstance(target, Node) else "END"


def final_shapes(known: Analyses) -> Shapes:
    """The shapes after planning, which may find that lanes cannot stay together."""
    known(flow.plans)
    return known(shapes)
