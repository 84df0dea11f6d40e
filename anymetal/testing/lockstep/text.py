"""The text of a kernel in the making: lines, variables in scope, random integer expressions.

Every statement is a line of its own, so that the shrinker can leave it out; and what C++ leaves
undefined is not written, or written with the words of dialect.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

#: Integer types and their bits.
BITS = {
    "char": 8,
    "uchar": 8,
    "short": 16,
    "ushort": 16,
    "int": 32,
    "uint": 32,
    "long": 64,
    "ulong": 64,
}
WIDE = ("int", "uint", "long", "ulong")
ODD = (0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, 32767, 32768, 65535)


@dataclass(frozen=True)
class Variable:
    """A variable in scope."""

    name: str
    type: str
    fixed: bool = False  #: not to be assigned, such as a counter of a loop


class Text:
    """Writes one body."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.variables: list[Variable] = []
        self._names = 0
        self._depth = 0
        #: Further leaves of expressions: for a type, a text or None.
        self.leaves: list[Callable[[str], str | None]] = []

    @property
    def body(self) -> str:
        return "\n".join(self.lines) + "\n"

    # ------------------------------------------------------------------------------- lines

    def line(self, text: str) -> None:
        self.lines.append("  " * self._depth + text)

    @contextmanager
    def block(self, head: str = "", tail: str = "}") -> Iterator[None]:
        """Braces around what is written inside; its variables end with it."""
        self.line(f"{head} {{" if head else "{")
        known = len(self.variables)
        self._depth += 1
        yield
        self._depth -= 1
        del self.variables[known:]
        self.line(tail)

    @contextmanager
    def loop(self, head: str) -> Iterator[None]:
        """A loop with the marks that the oracle needs where lanes meet in it."""
        self.line("LOOP")
        with self.block(head):
            self.line("ITER")
            yield
        self.line("END_LOOP")

    def fresh(self, prefix: str = "v") -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def declare(self, type_: str, value: str, prefix: str = "v", fixed: bool = False) -> Variable:
        """A new variable with this value."""
        variable = Variable(self.fresh(prefix), type_, fixed)
        self.line(f"{type_} {variable.name} = {value};")
        self.variables.append(variable)
        return variable

    # ------------------------------------------------------------------------- expressions

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def choose(self, *options: str) -> str:
        return self.rng.choice(options)

    def literal(self, type_: str) -> str:
        """A constant of a type, often an odd one."""
        bits = BITS[type_]
        signed = not type_.startswith("u")
        value = self.rng.choice(ODD) if self.chance(0.7) else self.rng.getrandbits(bits)
        if self.chance(0.15):
            value = self.rng.choice((2 ** (bits - 1), 2 ** (bits - 1) - 1, 2**bits - 1))
        if self.chance(0.25):
            value = -value
        value &= 2**bits - 1
        if signed and value >= 2 ** (bits - 1):
            value -= 2**bits
        return spelled(value, type_)

    def variable(self, *types: str) -> str | None:
        """The name of a variable of one of these types, rather a late one."""
        names = [v.name for v in self.variables if not types or v.type in types]
        if not names:
            return None
        return self.rng.choice(names[-6:] if self.chance(0.7) else names)

    def integer(self, type_: str = "uint", depth: int = 2) -> str:
        """An expression that is converted to an integer type where it is used."""
        if depth <= 0 or self.chance(0.12):
            return self._leaf(type_)

        def inner() -> str:
            return self.integer(type_, depth - 1)

        roll = self.rng.random()
        if roll < 0.55:
            return f"({inner()} {self.choose('+', '-', '*', '&', '|', '^')} {inner()})"
        if roll < 0.67:
            count = str(self.rng.randrange(BITS[type_])) if self.chance(0.7) else inner()
            return f"{self.choose('SHL', 'SHR')}({inner()}, {count})"
        if roll < 0.75:
            return f"({self.condition(depth - 1)} ? {inner()} : {inner()})"
        if roll < 0.82:
            other = self.rng.choice(list(BITS))
            return f"({type_})({other})({self.integer(self.rng.choice(WIDE), depth - 1)})"
        if roll < 0.88:
            return f"{self.choose('~', '-', '')}({inner()})"
        if roll < 0.94:
            return self.call(type_, depth)
        return self.quotient(type_, depth)

    def _leaf(self, type_: str) -> str:
        if self.leaves and self.chance(0.35):
            found = self.rng.choice(self.leaves)(type_)
            if found is not None:
                return found
        if self.chance(0.72):
            same = self.variable(type_) if self.chance(0.7) else None
            if name := same or self.variable(*BITS):
                return name
        return self.literal(type_)

    def call(self, type_: str, depth: int) -> str:
        """A function of integers, of one type."""
        name = self.choose(
            "popcount", "clz", "ctz", "reverse_bits", "rotate", "mulhi", "min", "max", "abs",
            "clamp",
        )  # fmt: skip
        first, second = (f"({type_})({self.integer(type_, depth - 1)})" for _ in range(2))
        if name == "abs" and type_.startswith("u"):
            name = "popcount"
        if name == "clamp":
            low, high = sorted(self.rng.sample(range(120), 2))
            return f"clamp({first}, ({type_}){low}, ({type_}){high})"
        if name in ("popcount", "clz", "ctz", "reverse_bits", "abs"):
            return f"(({type_}){name}({first}))"
        return f"{name}({first}, {second})"

    def quotient(self, type_: str, depth: int) -> str:
        """A division: never by zero, nor by -1, and never of the smallest number, which GCC divides
        by -1 for `a / b * -1`.
        """
        inner = f"({type_})(({self.integer(type_, depth - 1)}) | 1)"
        if self.chance(0.6):
            by = f"({type_}){self.rng.choice((2, 3, 5, 7, 8, 10, 64, 100, 127))}"
        else:
            mask = self.choose("3", "15", "63")
            by = f"({type_})((({self.integer(type_, depth - 1)}) & {mask}) + 1)"
        return f"({inner} {self.choose('/', '%')} {by})"

    def condition(self, depth: int = 1) -> str:
        """A bool, likely to differ between threads."""
        type_ = self.rng.choice(WIDE)
        roll = self.rng.random()
        if depth > 0 and roll < 0.15:
            glue = self.choose("&&", "||")
            return f"({self.condition(depth - 1)} {glue} {self.condition(depth - 1)})"
        if roll < 0.6:
            mask = self.rng.choice((1, 3, 7, 15))
            op = self.choose("==", "!=", "<", ">", "<=", ">=")
            return f"(({self.integer(type_, depth)} & {mask}) {op} {self.rng.randint(0, mask)})"
        op = self.choose("==", "!=", "<", ">", "<=", ">=")
        return f"(({type_})({self.integer(type_, depth)}) {op} {self.literal(type_)})"

    # -------------------------------------------------------------------------- statements

    def assign(self, depth: int = 2) -> None:
        """Changes a variable, or makes a new one."""
        changeable = [v for v in self.variables if not v.fixed and v.type in BITS]
        if not changeable or self.chance(0.35):
            type_ = self.rng.choice((*WIDE, "uint", "int"))
            self.declare(type_, f"({type_})({self.integer(type_, depth)})")
            return
        target = self.rng.choice(changeable)
        op = self.choose("=", "=", "+=", "^=", "-=", "|=", "&=", "*=")
        self.line(f"{target.name} {op} ({target.type})({self.integer(target.type, depth)});")

    def mixed(self, names: Sequence[str] | None = None) -> str:
        """All integer variables in one number, each of which counts."""
        names = names or [v.name for v in self.variables if v.type in BITS]
        return " + ".join(f"(uint){name} * {2 * i + 1}u" for i, name in enumerate(names)) or "0u"


def spelled(value: int, type_: str) -> str:
    """A number as a constant of a type in C++ and in Metal."""
    bits, signed = BITS[type_], not type_.startswith("u")
    if signed and value == -(2 ** (bits - 1)):
        return f"(({type_})({spelled(value + 1, type_)} - 1))"
    if bits < 32:
        return f"(({type_}){value})" if value >= 0 else f"(({type_})({value}))"
    suffix = {"int": "", "uint": "u", "long": "l", "ulong": "ul"}[type_]
    return f"{value}{suffix}" if value >= 0 else f"({value}{suffix})"
