"""metal_integer against Python's integers, for all eight types."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.frontend.header_harness import INTEGERS, METAL_TYPES, Array, Functions


@dataclass(frozen=True)
class Type:
    """An integer type: its width, range, and conversion into it."""

    numpy: Any

    @property
    def name(self) -> str:
        return METAL_TYPES[self.numpy]

    @property
    def bits(self) -> int:
        return int(np.iinfo(self.numpy).bits)

    @property
    def low(self) -> int:
        return int(np.iinfo(self.numpy).min)

    @property
    def high(self) -> int:
        return int(np.iinfo(self.numpy).max)

    def wrap(self, value: int) -> int:
        value &= (1 << self.bits) - 1
        return value - (1 << self.bits) if value > self.high else value

    def clip(self, value: int) -> int:
        return min(max(value, self.low), self.high)

    def unsigned(self, value: int) -> int:
        return value & ((1 << self.bits) - 1)


Reference = Callable[..., int]


def _rotate(t: Type, x: int, n: int) -> int:
    n %= t.bits
    x = t.unsigned(x)
    return t.wrap(x << n | x >> (t.bits - n))


def _clz(t: Type, x: int) -> int:
    return t.bits - t.unsigned(x).bit_length()


def _ctz(t: Type, x: int) -> int:
    x = t.unsigned(x)
    return (x & -x).bit_length() - 1 if x else t.bits


def _reverse(t: Type, x: int) -> int:
    return t.wrap(int(f"{t.unsigned(x):0{t.bits}b}"[::-1], 2))


def _median(t: Type, x: int, y: int, z: int) -> int:
    return sorted((x, y, z))[1]


_FUNCTIONS: dict[str, tuple[int, Reference]] = {
    "abs": (1, lambda t, x: t.wrap(abs(x))),
    "clz": (1, _clz),
    "ctz": (1, _ctz),
    "popcount": (1, lambda t, x: t.unsigned(x).bit_count()),
    "reverse_bits": (1, _reverse),
    "addsat": (2, lambda t, x, y: t.clip(x + y)),
    "subsat": (2, lambda t, x, y: t.clip(x - y)),
    "hadd": (2, lambda t, x, y: (x + y) >> 1),
    "rhadd": (2, lambda t, x, y: (x + y + 1) >> 1),
    "mulhi": (2, lambda t, x, y: t.wrap(x * y >> t.bits)),
    "rotate": (2, _rotate),
    "min": (2, lambda t, x, y: min(x, y)),
    "max": (2, lambda t, x, y: max(x, y)),
    "madhi": (3, lambda t, x, y, z: t.wrap((x * y >> t.bits) + z)),
    "madsat": (3, lambda t, x, y, z: t.clip(x * y + z)),
    "min3": (3, lambda t, x, y, z: min(x, y, z)),
    "max3": (3, lambda t, x, y, z: max(x, y, z)),
    "median3": (3, _median),
    "clamp": (3, lambda t, x, y, z: min(max(x, y), z)),
}
_TYPES = [Type(t) for t in INTEGERS]


@pytest.fixture(scope="module")
def functions() -> Functions:
    table = Functions()
    for t in _TYPES:
        for name, (arity, _) in _FUNCTIONS.items():
            arguments = ", ".join("xyz"[:arity])
            table.add(f"{name}_{t.name}", f"{name}({arguments})", [t.name] * arity, t.name)
        table.add(f"absdiff_{t.name}", "absdiff(x, y)", [t.name] * 2, f"make_unsigned_t<{t.name}>")
        table.add(f"extract_{t.name}", "extract_bits(x, y, z)", [t.name, "uint", "uint"], t.name)
        table.add(
            f"insert_{t.name}",
            "insert_bits(x, y, z, w)",
            [t.name, t.name, "uint", "uint"],
            t.name,
        )
    for name in ("int", "uint"):
        table.add(f"mul24_{name}", "mul24(x, y)", [name] * 2, name)
        table.add(f"mad24_{name}", "mad24(x, y, z)", [name] * 3, name)
    return table


def _samples(t: Type, count: int, columns: int, seed: int = 0) -> list[Array]:
    """Edges in all combinations of two, random words, and words with few significant bits."""
    rng = np.random.default_rng(seed)
    edges = [t.low, t.low + 1, 0, 1, 2, t.high - 1, t.high, t.wrap(-1), t.wrap(-2)]
    third = rng.choice(np.array(edges, object), len(edges) ** 2)
    pairs = itertools.product(edges, edges)
    rows = [[x, y, z][:columns] for (x, y), z in zip(pairs, third, strict=True)]
    for _ in range(count):
        words = (int(w) for w in rng.integers(0, 2**63, columns))
        rows.append([t.wrap(w >> int(rng.integers(0, 64)) if w % 2 else w * 3) for w in words])
    return [np.array(column, t.numpy) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("name", _FUNCTIONS)
@pytest.mark.parametrize("t", _TYPES, ids=lambda t: t.name)
def test_function(functions: Functions, t: Type, name: str) -> None:
    arity, reference = _FUNCTIONS[name]
    columns = _samples(t, 200, arity)
    actual = functions.run(f"{name}_{t.name}", *columns, dtype=t.numpy)
    for row, result in zip(zip(*columns, strict=True), actual, strict=True):
        arguments = [int(v) for v in row]
        assert int(result) == t.wrap(reference(t, *arguments)), (name, t.name, arguments)


@pytest.mark.parametrize("t", _TYPES, ids=lambda t: t.name)
def test_absdiff_is_unsigned(functions: Functions, t: Type) -> None:
    x, y = _samples(t, 200, 2)
    unsigned = np.dtype(f"u{np.dtype(t.numpy).itemsize}")
    actual = functions.run(f"absdiff_{t.name}", x, y, dtype=unsigned)
    assert actual.tolist() == [abs(int(a) - int(b)) for a, b in zip(x, y, strict=True)]


@pytest.mark.parametrize("t", _TYPES, ids=lambda t: t.name)
def test_bit_fields(functions: Functions, t: Type) -> None:
    x, y = _samples(t, 300, 2)
    rng = np.random.default_rng(3)
    offset = rng.integers(0, t.bits + 1, len(x))
    count = (rng.random(len(x)) * (t.bits + 1 - offset)).astype(int)
    offset[:2], count[:2] = 0, t.bits
    arguments = [offset.astype(np.uint32), count.astype(np.uint32)]
    extracted = functions.run(f"extract_{t.name}", x, *arguments, dtype=t.numpy)
    inserted = functions.run(f"insert_{t.name}", x, y, *arguments, dtype=t.numpy)
    for i in range(len(x)):
        mask = (1 << int(count[i])) - 1
        field = t.unsigned(int(x[i])) >> int(offset[i]) & mask
        if t.low and mask and field > mask >> 1:
            field -= mask + 1
        assert int(extracted[i]) == field, (int(x[i]), offset[i], count[i])
        base = t.unsigned(int(x[i])) & ~(mask << int(offset[i]))
        wanted = t.wrap(base | (t.unsigned(int(y[i])) & mask) << int(offset[i]))
        assert int(inserted[i]) == wanted, (int(x[i]), int(y[i]), offset[i], count[i])


@pytest.mark.parametrize("t", [Type(np.int32), Type(np.uint32)], ids=lambda t: t.name)
def test_24_bit_products(functions: Functions, t: Type) -> None:
    x, y, z = _samples(t, 300, 3)

    def low24(value: int) -> int:
        value &= 0xFFFFFF
        return value - (1 << 24) if t.low and value >> 23 else value

    products = [low24(int(a)) * low24(int(b)) for a, b in zip(x, y, strict=True)]
    assert functions.run(f"mul24_{t.name}", x, y, dtype=t.numpy).tolist() == [
        t.wrap(p) for p in products
    ]
    assert functions.run(f"mad24_{t.name}", x, y, z, dtype=t.numpy).tolist() == [
        t.wrap(p + int(c)) for p, c in zip(products, z, strict=True)
    ]
