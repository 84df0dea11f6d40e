"""Integer functions of every type and vector width, against Python's integers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.numerics.evaluate import Array, evaluate

_KINDS: dict[str, Any] = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
}
_ROWS = 203


class _Integer:
    """Metal's integer arithmetic of one type on Python's integers."""

    def __init__(self, kind: Any) -> None:
        limits = np.iinfo(kind)
        self.bits, self.low, self.high = limits.bits, int(limits.min), int(limits.max)

    def wrap(self, value: int) -> int:
        value %= 1 << self.bits
        return value - (1 << self.bits) if value > self.high else value

    def clip(self, value: int) -> int:
        return max(self.low, min(self.high, value))

    def word(self, value: int) -> str:
        return format(value % (1 << self.bits), f"0{self.bits}b")

    def rotated(self, x: int, y: int) -> int:
        word, turn = self.word(x), y % self.bits
        return self.wrap(int(word[turn:] + word[:turn], 2))

    def trailing_zeros(self, x: int) -> int:
        word = self.word(x)
        return self.bits if x == 0 else len(word) - len(word.rstrip("0"))

    def extracted(self, x: int, offset: int, bits: int) -> int:
        field = (x >> offset) % (1 << bits)
        return field - (1 << bits) if self.low < 0 and bits and field >> (bits - 1) else field

    def inserted(self, x: int, y: int, offset: int, bits: int) -> int:
        mask = ((1 << bits) - 1) << offset
        return self.wrap((x & ~mask) | (y << offset & mask))


_Rule = Callable[[_Integer, int, int, int], int]
_RULES: dict[str, _Rule] = {
    "abs(x)": lambda t, x, y, z: t.wrap(abs(x)),
    "absdiff(x, y)": lambda t, x, y, z: t.wrap(abs(x - y)),  # an unsigned type in Metal
    "addsat(x, y)": lambda t, x, y, z: t.clip(x + y),
    "subsat(x, y)": lambda t, x, y, z: t.clip(x - y),
    "madsat(x, y, z)": lambda t, x, y, z: t.clip(x * y + z),
    "hadd(x, y)": lambda t, x, y, z: (x + y) >> 1,
    "rhadd(x, y)": lambda t, x, y, z: (x + y + 1) >> 1,
    "clamp(x, min(y, z), max(y, z))": lambda t, x, y, z: max(min(y, z), min(max(y, z), x)),
    "min(x, y)": lambda t, x, y, z: min(x, y),
    "max(x, y)": lambda t, x, y, z: max(x, y),
    "min3(x, y, z)": lambda t, x, y, z: min(x, y, z),
    "max3(x, y, z)": lambda t, x, y, z: max(x, y, z),
    "median3(x, y, z)": lambda t, x, y, z: sorted((x, y, z))[1],
    "clz(x)": lambda t, x, y, z: t.bits - len(t.word(x).lstrip("0")),
    "ctz(x)": lambda t, x, y, z: t.trailing_zeros(x),
    "popcount(x)": lambda t, x, y, z: t.word(x).count("1"),
    "reverse_bits(x)": lambda t, x, y, z: t.wrap(int(t.word(x)[::-1], 2)),
    "rotate(x, y)": lambda t, x, y, z: t.rotated(x, y),
    "mulhi(x, y)": lambda t, x, y, z: (x * y) >> t.bits,
    "madhi(x, y, z)": lambda t, x, y, z: t.wrap(((x * y) >> t.bits) + z),
    **{
        f"extract_bits(x, {offset}u, {bits}u)": (
            lambda t, x, y, z, offset=offset, bits=bits: t.extracted(x, offset, bits)
        )
        for offset, bits in ((0, 0), (0, 8), (3, 4), (7, 1))
    },
    **{
        f"insert_bits(x, y, {offset}u, {bits}u)": (
            lambda t, x, y, z, offset=offset, bits=bits: t.inserted(x, y, offset, bits)
        )
        for offset, bits in ((0, 0), (0, 8), (3, 4), (7, 1))
    },
}


def _low24(t: _Integer, x: int) -> int:
    low = x % (1 << 24)
    return low - (1 << 24) if t.low < 0 and low >> 23 else low


_RULES_24: dict[str, _Rule] = {
    "mul24(x, y)": lambda t, x, y, z: t.wrap(_low24(t, x) * _low24(t, y)),
    "mad24(x, y, z)": lambda t, x, y, z: t.wrap(_low24(t, x) * _low24(t, y) + z),
}


def _operands(kind: Any, width: int) -> list[Array]:
    """All triples of edges, then random bits; a column a component."""
    limits = np.iinfo(kind)
    rng = np.random.default_rng(limits.bits + width)
    edges = (limits.min, limits.max, 0, 1, limits.max // 3)
    triples = np.array(list(itertools.product(edges, repeat=3)), kind)
    random = rng.integers(limits.min, limits.max, (_ROWS * width, 3), kind, endpoint=True)
    random[: len(triples)] = triples[: len(random)]
    columns = [np.ascontiguousarray(random[:, k]) for k in range(3)]
    return [column.reshape(_ROWS, width) if width > 1 else column for column in columns]


_WIDTHS = [1, *(pytest.param(width, marks=pytest.mark.slow) for width in (2, 3, 4))]


@pytest.mark.parametrize("width", _WIDTHS)
@pytest.mark.parametrize("name", _KINDS)
def test_every_function(name: str, width: int) -> None:
    kind = _KINDS[name]
    rules = {**_RULES, **(_RULES_24 if name in ("int", "uint") else {})}
    x, y, z = _operands(kind, width)
    labels = {f"f{k}": expression for k, expression in enumerate(rules)}
    given = list(zip(*(column.ravel().tolist() for column in (x, y, z)), strict=True))
    # A kernel has as many buffers as Metal: in two parts.
    parts = [dict(list(labels.items())[k::2]) for k in range(2)]
    results = {k: v for part in parts for k, v in evaluate(part, name, x=x, y=y, z=z).items()}
    for label, expression in labels.items():
        wanted = [rules[expression](_Integer(kind), *row) for row in given]
        actual = results[label].ravel().tolist()
        bad = [(row, a, w) for row, a, w in zip(given, actual, wanted, strict=True) if a != w]
        assert not bad, f"{expression}: {bad[0]}"


@pytest.mark.parametrize("name", _KINDS)
def test_shift_counts_use_their_low_bits(name: str) -> None:
    kind = _KINDS[name]
    x, y, _ = _operands(kind, 1)
    t = _Integer(kind)
    wide = max(t.bits, 32)  # narrow operands are promoted to int, and so are the counts' bits
    results = evaluate({"left": "x << y", "right": "x >> y"}, name, x=x, y=y)
    for label, rule in (
        ("left", lambda a, b: t.wrap(a << b % wide)),
        ("right", lambda a, b: t.wrap(a >> b % wide)),
    ):
        wanted = [rule(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        assert results[label].tolist() == wanted


@pytest.mark.parametrize("name", _KINDS)
def test_division_truncates_and_never_traps(name: str) -> None:
    kind = _KINDS[name]
    x, y, _ = _operands(kind, 1)
    results = evaluate({"quotient": "x / y", "rest": "x % y"}, name, x=x, y=y)
    t = _Integer(kind)
    for a, b, quotient, rest in zip(
        x.tolist(), y.tolist(), results["quotient"].tolist(), results["rest"].tolist(), strict=True
    ):
        if b == 0 or (b == -1 and a == t.low):
            continue  # some value
        wanted = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        assert (quotient, rest) == (wanted, a - wanted * b), (a, b)
