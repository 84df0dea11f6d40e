"""Whether passes are honest: about what they have changed, and about which answers stay right.

Answers are made of objects that know each other, and some are found when they are asked for. Here
each question has a plain form of its answer: containers of what the program is made of, numbers and
words, complete for the program as it is. Two answers say the same if their plain forms are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from anymetal.analysis import control, flow
from anymetal.analysis.affine import forms
from anymetal.analysis.cache import Analyses
from anymetal.analysis.induction import inductions, trips
from anymetal.analysis.lane_numbers import lane_numbers
from anymetal.analysis.linearization import END
from anymetal.analysis.objects import origins
from anymetal.analysis.private_arrays import interleaved
from anymetal.analysis.regions import Edge, Node, Region, regions
from anymetal.analysis.uniformity import shapes
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Instr, Program
from anymetal.ir.printer import print_program
from anymetal.ir.spec import Stage
from anymetal.pipeline.driver import Pass, run
from anymetal.simd import questions
from anymetal.targets.cpu.pipeline import GangCompilation
from anymetal.targets.cpu.reporting import GangStages

Question = Callable[[Analyses], Any]


# ------------------------------------------------------------------------------- plain answers


def _loop(loop: Loop | None) -> Any:
    return loop and loop.header


def _region(region: Region | None) -> Any:
    return region and ("region", _loop(region.loop))


def _node(node: Any) -> Any:
    """A node, the end of an iteration, or (for masks) a region."""
    if isinstance(node, Node):
        return _region(node.region), node.block, node.inner is not None
    return _region(node) if isinstance(node, Region) else node is END and "end"


def _edge(edge: Edge) -> Any:
    return edge.source, edge.target, edge.node and _node(edge.node), edge.is_back


def _nodes(nodes: Iterable[Any]) -> Any:
    return {_node(node) for node in nodes}


def _loops(found: list[Loop], _: Program) -> Any:
    return [
        (loop.header, loop.blocks, loop.ordered, _loop(loop.parent), [*map(_loop, loop.children)])
        for loop in found
    ]


def _postdominators(found: Any, program: Program) -> Any:
    """Each answer has an end of its own, behind all blocks."""
    return {block: found[block] if found[block] in program.blocks else "end"
            for block in program.blocks if block in found}  # fmt: skip


def _tree(tree: Any, _: Program) -> Any:
    within = [
        (
            _region(region),
            _region(region.parent),
            region.node and _node(region.node),
            [(_node(n), n.index, [*map(_edge, n.edges)]) for n in region.nodes],
            region.graph,
        )
        for region in tree.regions
    ]
    places = {block: _node(node) for block, node in tree.node_of.items()}
    return within, places, tree.to_barrier


def _shapes(found: Any, program: Program) -> Any:
    return (
        {i: found[i] for i in program.instructions()},
        found.order,
        found.divergent,
        {*map(_loop, found.divergent_loops)},
        found.joins,
    )


def _plans(plans: Any, _: Program) -> Any:
    def ways(found: dict[Any, Any]) -> Any:
        return {_node(node): _node(target) for node, target in found.items()}

    return {
        _region(region): (
            plan.divergent,
            {_edge(edge): _node(target) for edge, target in plan.route.items()},
            *map(ways, (plan.fall, plan.skip, plan.alias)),
            *map(_nodes, (plan.collect, plan.direct)),
        )
        for region, plan in plans.items()
    }


def _group(group: Any) -> Any:
    return tuple(group.members), group.anchor, group.first_offset, group.stride


def _tile(tile: Any) -> Any:
    return tuple(tile.members), tile.anchor, tuple(tile.runs), tile.distances


def _present(found: Iterable[Any], program: Program) -> Any:
    """Without what the program no longer has."""
    there = {*program.instructions(), *program.args}
    return {value for value in found if value in there}


def _of_instructions(ask: Callable[[Any, Instr], Any]) -> Callable[[Any, Program], Any]:
    return lambda found, program: {i: ask(found, i) for i in program.instructions()}


def _of_accesses(plain: Callable[[Any], Any]) -> Callable[[Any, Program], Any]:
    return _of_instructions(lambda found, i: plain(found[i]) if i in found else None)


PLAIN: dict[Question, Callable[[Any, Program], Any]] = {
    control.loops: _loops,
    control.innermost: lambda found, _: {b: _loop(loop) for b, loop in found.items()},
    control.predecessors: lambda found, _: found,
    control.dominators: lambda found, _: [*found.items()],
    control.returns: lambda found, _: found,
    control.postdominators: _postdominators,
    inductions: lambda found, _: {_loop(loop): variables for loop, variables in found.items()},
    trips: lambda found, _: {_loop(loop): count for loop, count in found.items()},
    regions: _tree,
    origins: _of_instructions(lambda found, i: found.get(i)),
    interleaved: _of_instructions(lambda found, i: found.get(i)),
    shapes: _shapes,
    flow.plans: _plans,
    flow.mask_roots: lambda found, _: {_node(n): _node(r) for n, r in found.roots.items()},
    flow.full: lambda found, program: [found(block) for block in program.blocks],
    lane_numbers: _of_instructions(lambda found, i: found(i)),
    forms: _of_instructions(lambda found, i: found(i)),
    flow.used: _present,
    questions.groups: _of_accesses(_group),
    questions.tile_finder: lambda found, _: (
        {i: _tile(tile) for i, tile in found.tiles.items()},
        found.leaves,
        found.kept,
    ),
    questions.tiles: _of_accesses(_tile),
    questions.needed: _present,
}


def plain(known: Analyses, question: Question) -> Any:
    """An answer in its plain form; what the answer still has to find, it finds now."""
    return PLAIN[question](known(question), known.program)


# ---------------------------------------------------------------------------------- the checks


class Watching(GangStages):
    """Follows passes, and notes those that say they have changed nothing but have."""

    def __init__(self, c: GangCompilation) -> None:
        super().__init__()
        self.wrong: list[str] = []  #: what was said that is not so
        self.changed: list[str] = []  #: passes that have changed the program, as they say
        self._text = print_program(c.program)

    def passed(self, name: str, program: Program, stage: Stage, changed: bool) -> None:
        """Behind a pass."""
        text = print_program(program)
        if changed:
            self.changed.append(name)
        elif text != self._text:
            self.wrong.append(f"{name} changes the program, and says that it does not")
        self._text = text


def watched(
    passes: Iterable[Pass[GangCompilation]], c: GangCompilation, ask_before: bool
) -> Watching:
    """Takes a program through passes, and compares what is known behind each with what would be.

    With `ask_before`, all that a pass keeps is asked in front of it, so that all of it is there to
    be kept; without, what passes have asked themselves.
    """
    c.stages = watching = Watching(c)
    for one in passes:
        if ask_before and all(fact(c) for fact in one.needs):
            for question in one.keeps:
                plain(c.known, question)
        before = len(watching.changed)
        run([one], c)
        if len(watching.changed) > before:
            stale = _stale(c.known)
            watching.wrong += [f"{one.name} keeps {name}" for name in stale]
            if stale:  # which is nobody else's fault
                c.known.forget()
    return watching


def _stale(known: Analyses) -> list[str]:
    """The questions whose answers are no longer what they would be if they were asked now."""
    fresh = Analyses(known.program, known.launch, known.width)
    answered = [question for question in known._answers if question in PLAIN]
    for question in answered:  # in this order, as some answers refine others
        fresh(question)
    return [q.__name__ for q in answered if plain(known, q) != plain(fresh, q)]
