"""Makes a failing case small: takes pieces away while it still fails in the same way.

Candidates need not be sensible: `rules.well_formed` drops those that do not compile, and the
oracle those that have no single answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from anymetal.testing.fuzz.launch import LaunchSize
from anymetal.testing.fuzz.rules import well_formed
from anymetal.testing.fuzz.tree import (
    Arm,
    Block,
    Break,
    Case,
    Cast,
    Constant,
    Declare,
    Expr,
    If,
    Loop,
    Statement,
    Switch,
    Swizzle,
    Variable,
    walk,
)
from anymetal.testing.fuzz.types import Type


def shrink(case: Case, fails: Callable[[Case], bool], tries: int = 400) -> Case:
    """The smallest case found with at most that many calls of `fails`."""
    seen: set[str] = set()
    progress = True
    while progress and tries > 0:
        progress = False
        for candidate in _candidates(case):
            key = repr(
                (candidate.launch, candidate.body, candidate.functions, candidate.init_value)
            )
            key += str([(b.name, b.size) for b in candidate.buffers])
            if key in seen or not well_formed(candidate):
                continue
            seen.add(key)
            tries -= 1
            if fails(candidate):
                case, progress = candidate, True
                break
            if tries <= 0:
                break
    return case


def _candidates(case: Case) -> Iterator[Case]:
    """Everything one step smaller, the largest steps first."""
    for body in _block(case.body):
        yield _without_unused(replace(case, body=body))
    for launch in _launches(case.launch):
        yield replace(case, launch=launch)
    for number, function in enumerate(case.functions):
        for body in _block(function.body):
            functions = list(case.functions)
            functions[number] = replace(function, body=body)
            yield replace(case, functions=tuple(functions))
    if case.init_value:
        yield replace(case, init_value=0)
    yield from _smaller_data(case)


def _without_unused(case: Case) -> Case:
    """Drops buffers and functions that nothing names, apart from the last output."""
    used: set[str] = set()
    for node in walk((case.body, tuple(f.body for f in case.functions))):
        used.update(value for value in (_named(node, f) for f in _NAMING) if value)
    kept = [buffer for buffer in case.buffers if buffer.name in used]
    if not any(buffer.space == "output" for buffer in kept):
        kept.append(case.outputs()[0])
    functions = tuple(f for f in case.functions if f.name in used)
    return replace(case, buffers=tuple(kept), functions=functions)


_NAMING = ("buffer", "name")


def _named(node: Any, field_name: str) -> str:
    value = getattr(node, field_name, "")
    return value if isinstance(value, str) else ""


def _launches(launch: LaunchSize) -> Iterator[LaunchSize]:
    x, y, z = launch.grid
    options = [(1, 1, 1), (2, 1, 1), (32, 1, 1), (33, 1, 1), (x, 1, 1), (x, y, 1)]
    options += [(max(1, x // 2), y, z), (x, max(1, y // 2), z), (x, y, max(1, z // 2))]
    for grid in options:
        if grid < launch.grid and all(a <= b for a, b in zip(grid, launch.grid, strict=True)):
            yield replace(launch, grid=grid)
    for group in ((32, 1, 1), (64, 1, 1), (launch.threadgroup[0], 1, 1)):
        if group < launch.threadgroup:
            yield replace(launch, threadgroup=group)


def _smaller_data(case: Case) -> Iterator[Case]:
    for number, buffer in enumerate(case.buffers):
        for size in (1, 8, 32, buffer.size // 2):
            if 0 < size < buffer.size:
                data = None if buffer.data is None else buffer.data[:size]
                buffers = list(case.buffers)
                buffers[number] = replace(buffer, size=size, data=data)
                yield replace(case, buffers=tuple(buffers))


# -------------------------------------------------------------------------------- statements


def _block(block: Block) -> Iterator[Block]:
    size = len(block)
    while size > 0:
        for start in range(0, len(block), size):
            yield block[:start] + block[start + size :]
        size //= 2
    for place, statement in enumerate(block):
        for smaller in _statement(statement):
            yield block[:place] + smaller + block[place + 1 :]


def _statement(node: Statement) -> Iterator[Block]:
    """Blocks that may stand for a statement."""
    match node:
        case If(condition, then, otherwise):
            yield then
            if otherwise:
                yield otherwise
                yield (If(condition, then),)
            for block in _block(then):
                yield (replace(node, then=block),)
            for block in _block(otherwise):
                yield (replace(node, otherwise=block),)
        case Loop(_, counter, start, _, _, condition, body):
            yield (Declare(counter, start), *body)
            if node.kind != "for":
                yield (replace(node, kind="for"),)
            if condition is not None:
                yield (replace(node, condition=None),)
            for block in _block(body):
                yield (replace(node, body=block),)
        case Switch(_, arms):
            for arm in arms:
                yield tuple(s for s in arm.body if not isinstance(s, Break))
            yield from _switch(node, arms)
    for name, child in _children(node):
        smaller_ones = _index(child) if name in _PLACES else _expression(child)
        for smaller in smaller_ones:
            yield (_with(node, name, smaller),)


#: Fields of statements that say where something is: only an index in them may change.
_PLACES = ("target", "first", "second")


def _index(place: Any) -> Iterator[Any]:
    index = getattr(place, "index", None)
    if index is not None:
        for smaller in _expression(index):
            yield replace(place, index=smaller)


def _switch(node: Switch, arms: tuple[Arm, ...]) -> Iterator[Block]:
    for place, arm in enumerate(arms):
        rest = arms[:place], arms[place + 1 :]
        if len(arms) > 1:
            yield (replace(node, cases=rest[0] + rest[1]),)
        for block in _block(arm.body):
            yield (replace(node, cases=(*rest[0], replace(arm, body=block), *rest[1])),)


# ------------------------------------------------------------------------------- expressions


def _is_expression(value: object) -> bool:
    return isinstance(getattr(value, "type", None), Type)


def _children(node: Any) -> Iterator[tuple[str, Any]]:
    for item in fields(node):
        value = getattr(node, item.name)
        if _is_expression(value):
            yield item.name, value


def _expression(node: Expr) -> Iterator[Expr]:
    """Expressions of the same type with less in them."""
    if not isinstance(node, Variable):
        yield from _constants(node)
    yield from (part for part in walk(node) if part is not node and _same_type(part, node))
    for name, child in _children(node):
        for smaller in _expression(child):
            yield _with(node, name, smaller)
    for item in fields(node):
        value = getattr(node, item.name)
        if isinstance(value, tuple):
            for place, argument in enumerate(value):
                for smaller in _expression(argument):
                    changed = (*value[:place], smaller, *value[place + 1 :])
                    yield _with(node, item.name, changed)


def _with(node: Any, name: str, value: Any) -> Any:
    return replace(node, **{name: value})


def _same_type(part: object, node: Expr) -> bool:
    return _is_expression(part) and getattr(part, "type", None) == node.type


def _constants(node: Expr) -> Iterator[Expr]:
    kind = node.type
    if isinstance(node, Swizzle | Cast) and isinstance(node.operand, Constant):
        return  # a splat constant
    if isinstance(node, Constant):
        if kind.is_integer and abs(node.value) > 1:
            yield replace(node, value=int(node.value) // 2)
        return
    for number in (0, 1):
        value: int | float | bool = bool(number) if kind.kind == "bool" else number
        constant = Constant(kind.element, float(number) if kind.is_float else value)
        yield Cast(kind, constant) if kind.is_vector else constant
