"""What every case must obey statically; the shrinker checks its candidates against it.

Names are declared before use. `break` and `continue` have something to leave. And a cross-lane
call never stands in a block that leaves a loop: whether the lanes of several iterations may meet
behind the loop is a question that Metal does not answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from anymetal.testing.fuzz.tree import (
    Advance,
    Assign,
    Atomic,
    AtomicLoad,
    Binary,
    Block,
    Break,
    Case,
    Cast,
    CastLoad,
    Constant,
    Continue,
    CrossLane,
    Declare,
    DeclareArray,
    DeclarePointer,
    FunctionCall,
    If,
    Load,
    Loop,
    PointerLoad,
    Return,
    Statement,
    Switch,
    Variable,
    foldable,
    walk,
)


class _Broken(Exception):
    """The case breaks a rule."""


@dataclass(frozen=True)
class _Place:
    """Where a block stands."""

    breaks: bool = False
    continues: bool = False
    function: bool = False


def well_formed(case: Case) -> bool:
    """Whether the case obeys the rules."""
    buffers = frozenset(buffer.name for buffer in case.buffers)
    functions = frozenset(function.name for function in case.functions)
    try:
        for function in case.functions:
            names = frozenset(p.name for p in function.parameters)
            if not function.body or not isinstance(function.body[-1], Return):
                return False
            _block(function.body, names, _Place(function=True))
        _block(case.body, buffers | functions, _Place())
    except _Broken:
        return False
    return True


def _need(condition: bool) -> None:
    if not condition:
        raise _Broken


def _uses(node: object, names: frozenset[str]) -> None:
    """Every name in an expression is in scope."""
    for part in walk(node):
        match part:
            case Variable(_, name) | FunctionCall(_, name, _) | PointerLoad(_, name, _):
                _need(name in names)
            case Load(_, buffer, _) | AtomicLoad(_, buffer, _):
                _need(buffer in names)
            case CastLoad():
                _need(part.buffer in names)
            case Binary(kind, "<<" | ">>", left, right) if foldable(left) and foldable(right):
                _need(isinstance(right, Constant) and 0 <= right.value < kind.bits)
            case Cast(kind, operand) if kind.is_integer and operand.type.is_float:
                _need(not foldable(operand))


def _leaves(block: Block) -> bool:
    return bool(block) and isinstance(block[-1], Break | Continue | Return)


def _block(block: Block, names: frozenset[str], place: _Place) -> None:
    if _leaves(block) and (place.breaks or place.continues):
        _need(not any(isinstance(node, CrossLane) for node in walk(block)))
    for statement in block:
        names = _statement(statement, names, place)


def _statement(node: Statement, names: frozenset[str], place: _Place) -> frozenset[str]:
    """Checks a statement; returns the names in scope behind it."""
    match node:
        case Declare(variable, value):
            _uses(value, names)
            return names | {variable.name}
        case DeclareArray(name, _, values):
            _uses(values, names)
            return names | {name}
        case DeclarePointer(name, _, first, condition, second):
            _uses((first, condition, second), names)
            return names | {name}
        case Advance(pointer, step):
            _need(pointer in names)
            _uses(step, names)
        case Assign(target, _, value):
            _uses((target, value), names)
        case Atomic(_, buffer, index, value):
            _need(buffer in names)
            _uses((index, value), names)
        case If(condition, then, otherwise):
            _uses(condition, names)
            _block(then, names, place)
            _block(otherwise, names, place)
        case Loop():
            inner = names | {node.counter.name}
            _uses(node.start, names)
            _uses((node.limit, node.condition), inner)
            _block(node.body, inner, _Place(True, True, place.function))
        case Switch(selector, arms):
            _uses(selector, names)
            falls = not all(_leaves(arm.body) for arm in arms[:-1])
            _need(not falls or not any(isinstance(part, CrossLane) for part in walk(arms)))
            for arm in arms:
                # The closing break is the arm's end, not a way out of its middle.
                body = arm.body[:-1] if arm.body and isinstance(arm.body[-1], Break) else arm.body
                _block(body, names, _Place(True, place.continues, place.function))
        case Break():
            _need(place.breaks)
        case Continue():
            _need(place.continues)
        case Return(value):
            _need((value is not None) == place.function)
            _uses(value, names)
    return names
