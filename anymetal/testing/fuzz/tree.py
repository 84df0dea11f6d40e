"""The typed tree of a generated kernel: expressions, statements, buffers, the whole case.

Plain frozen data. `printer.py` turns it into Metal text, `oracle.py` evaluates it with NumPy,
`shrink.py` takes pieces away. Local names are unique in a case, so scopes never shadow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from anymetal.testing.fuzz.launch import LaunchSize
from anymetal.testing.fuzz.types import Array, Type

Space = Literal["input", "output", "threadgroup", "private"]
LoopKind = Literal["for", "while", "do", "forever"]
LoopOp = Literal["+=", "-=", "<<=", ">>="]


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """An array that expressions index. Inputs carry their data; a 0-d input has size 0."""

    name: str
    type: Type
    size: int
    space: Space
    data: Array | None = None
    atomic: bool = False


# ------------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Constant:
    type: Type
    value: int | float | bool


@dataclass(frozen=True, slots=True)
class Attribute:
    """`thread_position_in_grid.x`, or a scalar attribute with component ''."""

    type: Type
    name: str
    component: str


@dataclass(frozen=True, slots=True)
class Variable:
    type: Type
    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    type: Type
    op: Literal["-", "~", "!"]
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, bits, shifts, comparisons, `&&`, `||`; operand types convert as in C++."""

    type: Type
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Ternary:
    type: Type
    condition: Expr
    yes: Expr
    no: Expr


@dataclass(frozen=True, slots=True)
class Cast:
    type: Type
    operand: Expr


@dataclass(frozen=True, slots=True)
class Call:
    """A pure function of the Metal library, `as_type<T>` included (name "as_type")."""

    type: Type
    name: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Construct:
    """`float4(a, v.xy, b)`."""

    type: Type
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Swizzle:
    type: Type
    operand: Expr
    components: str


@dataclass(frozen=True, slots=True)
class Component:
    """`v[i]`, one component of a vector chosen at run time."""

    type: Type
    operand: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Load:
    """`buffer[index]`; a 0-d input has no index. Also the target of a store."""

    type: Type
    buffer: str
    index: Expr | None


@dataclass(frozen=True, slots=True)
class CastLoad:
    """`((const device S*)buffer)[index].field`; S is a vector type (field '') or `Record`."""

    type: Type
    buffer: str
    layout: Type | None  #: None means the struct `Record` of the header
    index: Expr
    field: str


@dataclass(frozen=True, slots=True)
class PointerLoad:
    """`pointer[offset]`."""

    type: Type
    pointer: str
    offset: Expr


@dataclass(frozen=True, slots=True)
class CrossLane:
    """A `simd_` or `quad_` function over the lanes that execute it together."""

    type: Type
    name: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of one of the case's own functions."""

    type: Type
    name: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class AtomicLoad:
    type: Type
    buffer: str
    index: Expr


Expr: TypeAlias = (
    Constant
    | Attribute
    | Variable
    | Unary
    | Binary
    | Ternary
    | Cast
    | Call
    | Construct
    | Swizzle
    | Component
    | Load
    | CastLoad
    | PointerLoad
    | CrossLane
    | FunctionCall
    | AtomicLoad
)

#: What can be assigned to. A CastLoad stores a whole vector.
Target: TypeAlias = Variable | Swizzle | Component | Load | CastLoad

# -------------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Declare:
    variable: Variable
    value: Expr


@dataclass(frozen=True, slots=True)
class DeclareArray:
    """A private array: `int a[4] = {…};`."""

    name: str
    type: Type
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class DeclarePointer:
    """`const device int* p = condition ? &a[i] : &b[j];` (or just `&a[i]`)."""

    name: str
    type: Type
    first: Load
    condition: Expr | None = None
    second: Load | None = None


@dataclass(frozen=True, slots=True)
class Advance:
    """`pointer += step;`."""

    pointer: str
    step: Expr


@dataclass(frozen=True, slots=True)
class Assign:
    """`target op value;` where op is `=`, `+=`, … A compound op computes as C++ does."""

    target: Target
    op: str
    value: Expr


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: Block
    otherwise: Block = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that a counter bounds, in each of the shapes that C++ has for it.

    for:      for (T c = start; c < limit && condition; c += step) { body }
    while:    T c = start; while (c < limit && condition) { c += step; body }
    do:       T c = start; do { c += step; body } while (c < limit && condition);
    forever:  T c = start; for (;;) { if (!(c < limit && condition)) break; c += step; body }

    The counter may also go by `<<=`, and by `-=` or `>>=` as long as `c > limit`.
    """

    kind: LoopKind
    counter: Variable
    start: Expr
    limit: Expr
    step: int
    condition: Expr | None
    body: Block
    op: LoopOp = "+="

    @property
    def test(self) -> Literal["<", ">"]:
        """How the counter compares with the limit while the loop goes on."""
        return "<" if self.op in ("+=", "<<=") else ">"


@dataclass(frozen=True, slots=True)
class Arm:
    """One group of labels of a switch. Without a closing Break it falls through."""

    labels: tuple[int, ...]
    default: bool
    body: Block


@dataclass(frozen=True, slots=True)
class Switch:
    selector: Expr
    cases: tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class Break:
    pass


@dataclass(frozen=True, slots=True)
class Continue:
    pass


@dataclass(frozen=True, slots=True)
class Return:
    """`return;` in the kernel, `return value;` in a function."""

    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Barrier:
    flags: str = "mem_threadgroup"


@dataclass(frozen=True, slots=True)
class Atomic:
    """`atomic_fetch_<op>_explicit(&buffer[index], value, memory_order_relaxed);`, result unused.
    Op "store" is `atomic_store_explicit`."""

    op: str
    buffer: str
    index: Expr
    value: Expr


Statement: TypeAlias = (
    Declare
    | DeclareArray
    | DeclarePointer
    | Advance
    | Assign
    | If
    | Loop
    | Switch
    | Break
    | Continue
    | Return
    | Barrier
    | Atomic
)
Block: TypeAlias = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A helper in the header. Its body ends in a Return with a value."""

    name: str
    result: Type
    parameters: tuple[Variable, ...]
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One generated kernel with its launch and its data."""

    seed: int
    launch: LaunchSize
    buffers: tuple[Buffer, ...]  #: inputs, outputs and threadgroup arrays
    functions: tuple[Function, ...]
    body: Block
    init_value: int = 0
    math_mode: str = "safe"
    notes: tuple[str, ...] = field(default=())
    off: tuple[str, ...] = ()  #: passes of the compiler that are switched off

    def inputs(self) -> list[Buffer]:
        return [buffer for buffer in self.buffers if buffer.space == "input"]

    def outputs(self) -> list[Buffer]:
        return [buffer for buffer in self.buffers if buffer.space == "output"]

    def threadgroup_arrays(self) -> list[Buffer]:
        return [buffer for buffer in self.buffers if buffer.space == "threadgroup"]


def walk(node: Any) -> Iterator[Any]:
    """Every tree node in `node`, itself first, in program order."""
    if isinstance(node, tuple):
        for item in node:
            yield from walk(item)
    elif type(node).__module__ == __name__:
        yield node
        for item in fields(node):
            yield from walk(getattr(node, item.name))


_RUN_TIME = (Attribute, Variable, Load, CastLoad, PointerLoad, CrossLane, FunctionCall, AtomicLoad)


def foldable(node: Expr) -> bool:
    """Whether Clang may compute it, by the rules of C++: those leave more open than Metal's."""
    return not any(isinstance(part, _RUN_TIME) for part in walk(node))


def uses_cross_lane(case: Case) -> bool:
    """Whether the kernel needs a gang of all 32 lanes."""
    return any(isinstance(node, CrossLane) for node in walk(case.body))
