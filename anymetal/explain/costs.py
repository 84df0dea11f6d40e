"""What the innermost loops of a kernel cost, counted in its machine code."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from anymetal.analysis.regions import Region
from anymetal.emission.marks import Mark, Marks
from anymetal.explain.classes import class_of, count
from anymetal.explain.facts import location_of
from anymetal.explain.listing import Instruction, Listing, MachineLoop
from anymetal.ir.model import Location
from anymetal.simd.emit.gang import GangFunction


@dataclass(frozen=True)
class Cost:
    """The instructions of a piece of code, on all paths through it, taken or not."""

    location: Location | None  #: of a loop; None for what is in no loop
    note: str
    counts: Counter[str]


def costs(function: GangFunction, marks: Marks, listing: Listing) -> list[Cost]:
    """The cost of each innermost loop, and of what a SIMD-group runs outside of all loops."""
    owners = {
        loop: _region_of(loop, function, marks)
        for loop in listing.loops
        if not goes_over_lanes(loop)
    }
    written = _by_region(function, marks, listing)
    regions = function.tree.regions[1:]
    innermost = [r for r in regions if not any(other.parent is r for other in regions)]
    found = []
    if rest := written.get(function.tree.root):
        found.append(Cost(None, "", count(rest)))
    for region in innermost:
        loops = [loop for loop, owner in owners.items() if owner is region]
        if loops:
            found.append(_cost(region, loops, marks))
        elif function.suspends and region in written:
            note = "between barriers, each time round"
            found.append(Cost(location_of(region), note, count(written[region])))
        else:
            note = "no loop in the machine code: unrolled, or merged with another"
            found.append(Cost(location_of(region), note, Counter()))
    return found


def _cost(region: Region, loops: list[MachineLoop], marks: Marks) -> Cost:
    largest = max(loops, key=lambda loop: len(loop.instructions))
    times = sum(is_poll(i, marks) for i in largest.instructions)
    lanes = [child for child in largest.children if goes_over_lanes(child)]
    notes = [f"{times} iterations at once"] if times > 1 else []
    if len(loops) > 1:
        notes.append(f"the largest of {len(loops)} copies")
    notes += [f"and {len(child.everything)} for each lane in turn" for child in lanes]
    return Cost(location_of(region), ", ".join(notes), count(largest.instructions))


def _by_region(
    function: GangFunction, marks: Marks, listing: Listing
) -> dict[Region, list[Instruction]]:
    """What was written for each loop alone. Of a coroutine, parts of which are copied when LLVM
    splits it, only the function that resumes it counts."""
    resumes = {i.function for i in listing.instructions if i.function.endswith(".resume")}
    found: dict[Region, list[Instruction]] = {}
    for instruction in listing.instructions:
        if mark := _mark(instruction, function, marks):
            region = _region(function, mark)
            outside = region.loop is None and not instruction.function.endswith(".destroy")
            if not resumes or instruction.function in resumes or outside:
                found.setdefault(region, []).append(instruction)
    return found


def _region_of(loop: MachineLoop, function: GangFunction, marks: Marks) -> Region | None:
    """The user's loop that most of a machine's loop was written for."""
    votes: Counter[Region] = Counter()
    for instruction in loop.instructions:
        if mark := _mark(instruction, function, marks):
            votes[_region(function, mark)] += 1
    return votes.most_common(1)[0][0] if votes else None


def _region(function: GangFunction, mark: Mark) -> Region:
    assert mark.instr.block is not None
    return function.tree.node_of[mark.instr.block].region


def _mark(instruction: Instruction, function: GangFunction, marks: Marks) -> Mark | None:
    if not instruction.mark:
        return None
    mark = marks.known[instruction.mark - 1]
    return mark if mark.function == function.name else None


def is_poll(instruction: Instruction, marks: Marks) -> bool:
    """A look at the cancel flag, of which each iteration has one."""
    if not instruction.mark or marks.known[instruction.mark - 1].role != "poll":
        return False
    in_memory = "(" in instruction.operands or "[" in instruction.operands
    return in_memory and class_of(instruction) in ("scalar", "loads")


def goes_over_lanes(loop: MachineLoop) -> bool:
    """A loop of ours (simd/emit/each_lane.py), by the name of its first block."""
    return loop.name.startswith("lane.")
