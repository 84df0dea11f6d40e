"""Control-flow analyses against their definitions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anymetal.ir import types as t
from anymetal.ir.cfg import Loop, dominates, dominators, find_loops, postorder, reverse_postorder
from anymetal.ir.model import Block, Const, Instr, predecessors
from anymetal.ir.problem import Problem

Graph = dict[int, list[int]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any graph with up to two edges out of a node; node 0 is the entry."""
    count = draw(st.integers(1, 9))
    node = st.integers(0, count - 1)
    return {n: draw(st.lists(node, max_size=2)) for n in range(count)}


def reached(graph: Graph, without: int = -1) -> set[int]:
    """Nodes on some way from the entry that avoids one node."""
    seen: set[int] = set()
    work = [0]
    while work:
        node = work.pop()
        if node not in seen and node != without:
            seen.add(node)
            work.extend(graph[node])
    return seen


@given(graphs())
def test_postorder(graph: Graph) -> None:
    order = postorder(0, lambda n: graph[n])
    assert sorted(order) == sorted(reached(graph))
    assert order[-1] == 0


@given(graphs())
def test_dominators(graph: Graph) -> None:
    """A node dominates those that cannot be reached without it."""
    nodes = reached(graph)
    idom = dominators(0, lambda n: graph[n])
    assert set(idom) == nodes
    for a, b in itertools.product(nodes, nodes):
        assert dominates(idom, a, b) == (b not in reached(graph, without=a))
    for node in nodes - {0}:  # the immediate one is dominated by all others
        above = [a for a in nodes - {node} if dominates(idom, a, node)]
        assert all(dominates(idom, a, idom[node]) for a in above)


def blocks(graph: Mapping[str, Iterable[str]]) -> dict[str, Block]:
    """Blocks with such successors, in this order; no operand matters."""
    result = {name: Block(name) for name in graph}
    condition: list[Const] = [Const(t.I1, "true")]
    for name, targets in graph.items():
        arg = [result[target] for target in targets]
        operands = condition if len(arg) == 2 else []
        instr = Instr(t.VOID, "br", [*operands], arg) if arg else Instr(t.VOID, "ret", [])
        result[name].append(instr)
    return result


def names(items: set[Block] | list[Block]) -> str:
    return "".join(sorted(block.name for block in items))


def test_order_and_predecessors() -> None:
    made = blocks({"a": "bc", "b": "d", "c": "dd", "d": ""})
    order = reverse_postorder(made["a"])
    assert names(order) == "abcd" and order[0] is made["a"] and order[-1] is made["d"]
    preds = predecessors(list(made.values()))
    assert {name: names(preds[block]) for name, block in made.items()} == {
        "a": "", "b": "a", "c": "a", "d": "bc",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("graph", "loops"),
    [
        ({"a": "b", "b": ""}, []),
        ({"a": "b", "b": "bc", "c": ""}, ["b in -: b exits bc"]),
        ({"a": "b", "b": "b"}, ["b in -: b exits "]),
        (
            {"a": "b", "b": "c", "c": "cd", "d": "be", "e": ""},
            ["b in -: bcd exits de", "c in b: c exits cd"],
        ),
        (
            {"a": "b", "b": "cd", "c": "be", "d": "be", "e": ""},
            ["b in -: bcd exits ce de"],  # two latches, two exits
        ),
        (
            {"a": "b", "b": "bc", "c": "cd", "d": ""},
            ["b in -: b exits bc", "c in -: c exits cd"],
        ),
    ],
)
def test_loops(graph: dict[str, str], loops: list[str]) -> None:
    def show(loop: Loop) -> str:
        parent = loop.parent.header.name if loop.parent else "-"
        exits = " ".join(sorted(a.name + b.name for a, b in loop.exits))
        assert loop.parent is None or loop in loop.parent.children
        return f"{loop.header.name} in {parent}: {names(loop.blocks)} exits {exits}"

    assert [show(loop) for loop in find_loops(list(blocks(graph).values()))] == loops


def test_a_nest_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not once for each loop around."""
    looks = 0
    successors = Block.successors.fget

    def counted(block: Block) -> list[Block]:
        nonlocal looks
        looks += 1
        return successors(block)

    def looks_at(depth: int) -> int:
        nonlocal looks
        nest = {f"{k}": [f"{k + 1}", f"{k}e"] for k in range(depth)}
        latches = {f"{k}e": [f"{k}", f"{k - 1}e"] for k in range(1, depth)}
        made = blocks({**nest, f"{depth}": [f"{depth - 1}e"], **latches, "0e": ""})
        looks = 0
        loops = find_loops(list(made.values()))
        assert [len(loop.exits) for loop in loops] == [1] * (depth - 1)
        return looks

    monkeypatch.setattr(Block, "successors", property(counted))
    assert looks_at(200) < 2.1 * looks_at(100)


def test_a_loop_with_two_entries_is_an_error() -> None:
    made = blocks({"a": "bc", "b": "c", "c": "bd", "d": ""})
    with pytest.raises(Problem, match=r"irreducible loop at [bc]"):
        find_loops(list(made.values()))
