"""Loops that a `switch` jumps into (Duff's device) become loops with one entry.

The first iteration, which may begin anywhere, gets blocks of its own; from there on the loop begins
where its text begins, and lanes meet there. This is done on Clang's output, where values still pass
from block to block through variables in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anymetal.frontend.loops import Function, last_instruction
from anymetal.ir.cfg import postorder

#: A function may grow to so many times its number of blocks.
_GROWTH = 8
_NAME = r"%(?:[\w.$-]+|\"[^\"]+\")"
_DEFINED = re.compile(rf"^  ({_NAME}) = ", re.M)
_USED = re.compile(rf"(label )?({_NAME})")
_PHI = re.compile(r" = phi .*")
_PLACE = re.compile(r"!dbg !(\d+)")
_LATCH = re.compile(r"!llvm\.loop !")
_ROOT = "\0"


class Tangled(Exception):
    """Control flow that cannot be taken apart; `place` is an entry of the line table."""

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self.place = place


def reducible(ir: str) -> str:
    """Clang's output without loops of several entries. Raises Tangled."""
    if "\n  switch " not in ir or "!llvm.loop" not in ir:
        return ir  # there is no other way to jump into a loop
    for function in Function.all(ir):
        if "\n  switch " not in function.text:
            continue
        changed = function
        while tangle := _tangle(changed):
            changed = _with_first_iteration(changed, tangle)
            if len(changed.blocks) > _GROWTH * len(function.blocks):
                raise _tangled(function, tangle)
        if changed is not function:
            ir = ir.replace(function.text, changed.text, 1)
    return ir


def _tangle(function: Function) -> set[str] | None:
    """Blocks that lead to each other and have several entries."""
    work = [set(postorder(next(iter(function.blocks)), function.successors.__getitem__))]
    everything = work[0]
    while work:
        for component in _components(function, work.pop()):
            entries = {
                target
                for block in everything - component
                for target in function.successors[block]
                if target in component
            }
            if len(entries) > 1:
                return component
            if len(component) > 1:
                work.append(component - entries)
    return None


def _components(function: Function, blocks: set[str]) -> Iterator[set[str]]:
    """Strongly connected components (Kosaraju)."""
    inside = {
        block: [target for target in function.successors[block] if target in blocks]
        for block in function.blocks
        if block in blocks
    }
    before: dict[str, list[str]] = {block: [] for block in inside}
    for block, targets in inside.items():
        for target in targets:
            before[target].append(block)
    order = postorder(_ROOT, lambda b: list(inside) if b == _ROOT else inside[b])
    found = {_ROOT}

    def new(block: str) -> list[str]:
        return [b for b in before[block] if b not in found]

    for block in reversed(order):
        if block not in found:
            component = set(postorder(block, new))
            found |= component
            yield component


def _with_first_iteration(function: Function, blocks: set[str]) -> Function:
    """The function in which control enters copies of these blocks, and the blocks themselves only
    where the loop begins again."""
    begin = _beginning(function, blocks)
    _check(function, blocks)
    names = {f"%{block}": _renamed(f"%{block}", function) for block in blocks}
    values = {
        name: _renamed(name, function)
        for block in blocks
        for name in _DEFINED.findall(function.blocks[block])
    }

    def entering(match: re.Match[str]) -> str:
        return match[1] + names.get(match[2], match[2]) if match[1] else match[0]

    def copied(match: re.Match[str]) -> str:
        if match[1] and match[2] == f"%{begin}":
            return match[0]
        return (match[1] or "") + ({**values, **names}).get(match[2], match[2])

    result: dict[str, str] = {}
    first = True
    for block, text in function.blocks.items():
        if block not in blocks:
            result[block] = _USED.sub(entering, text)
            continue
        if first:
            for name in function.blocks:
                if name in blocks:
                    result[names[f"%{name}"][1:]] = _USED.sub(copied, function.blocks[name])
        first = False
        result[block] = text
    return function.changed(result)


def _beginning(function: Function, blocks: set[str]) -> str:
    """Where the text of the outermost loop begins."""
    begins = {
        target
        for block in blocks
        if _LATCH.search(function.blocks[block], last_instruction(function.blocks[block]))
        for target in function.successors[block]
        if target in blocks
    }
    if not begins:
        raise _tangled(function, blocks)
    return next(block for block in function.blocks if block in begins)


def _check(function: Function, blocks: set[str]) -> None:
    """Raises Tangled if a value of these blocks is used elsewhere, or depends on the entry."""
    defined = {n for block in blocks for n in _DEFINED.findall(function.blocks[block])}
    labels = {f"%{block}" for block in blocks}
    for block, text in function.blocks.items():
        used = {name for label, name in _USED.findall(text) if not label}
        if block not in blocks and used & (defined | labels):
            raise _tangled(function, blocks)
        if block in blocks:
            named = {n for phi in _PHI.findall(text) for _, n in _USED.findall(phi)}
            others = {f"%{other}" for other in function.blocks if other not in blocks}
            if named & others:
                raise _tangled(function, blocks)


def _renamed(name: str, function: Function) -> str:
    """A name that the function has not yet."""
    number = 1
    while (new := f'"{name[1:].strip(chr(34))}.first{number}"') in function.text:
        number += 1
    return f"%{new}"


def _tangled(function: Function, blocks: set[str]) -> Tangled:
    places = [
        match[1]
        for block, text in function.blocks.items()
        if block in blocks and (match := _PLACE.search(text))
    ]
    return Tangled(places[0] if places else "")
