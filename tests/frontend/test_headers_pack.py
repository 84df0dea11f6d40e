"""metal_pack against the formulas of the formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.frontend.header_harness import Array, Functions

_RNG = np.random.default_rng(11)


@dataclass(frozen=True)
class Format:
    """A packed format: bits of each component, lowest first."""

    name: str  #: in unpack_<name>_to_float
    bits: tuple[int, ...]
    signed: bool = False
    srgb: bool = False

    @property
    def packed(self) -> str:
        """The name in pack_float_to_<packed>."""
        return "srgb_unorm4x8" if self.srgb else self.name

    @property
    def word(self) -> Any:
        return np.uint16 if sum(self.bits) == 16 else np.uint32

    def scales(self) -> Array:
        return np.array([(1 << (bits - self.signed)) - 1 for bits in self.bits], np.float64)

    def fields(self, words: Array) -> Array:
        columns, shift = [], 0
        for bits in self.bits:
            field = words.astype(np.int64) >> shift & ((1 << bits) - 1)
            if self.signed:
                field -= (field >> (bits - 1)) << bits
            columns.append(field)
            shift += bits
        return np.stack(columns, -1)

    def words(self, fields: Array) -> Array:
        result, shift = np.zeros(len(fields), np.int64), 0
        for i, bits in enumerate(self.bits):
            result |= (fields[:, i] & ((1 << bits) - 1)) << shift
            shift += bits
        return result.astype(self.word)


_FORMATS = [
    Format("unorm4x8", (8,) * 4),
    Format("snorm4x8", (8,) * 4, signed=True),
    Format("unorm2x16", (16,) * 2),
    Format("snorm2x16", (16,) * 2, signed=True),
    Format("unorm10a2", (10, 10, 10, 2)),
    Format("snorm10a2", (10, 10, 10, 2), signed=True),
    Format("unorm565", (5, 6, 5)),
    Format("unorm4x8_srgb", (8,) * 4, srgb=True),
]


@pytest.fixture(scope="module")
def functions() -> Functions:
    table = Functions()
    for f in _FORMATS:
        word = "ushort" if f.word is np.uint16 else "uint"
        n = len(f.bits)
        for kind in ("float", "half"):
            unpack = f"packed_{kind}{n}(unpack_{f.name}_to_{kind}(x))"
            table.add(f"unpack_{f.name}_{kind}", unpack, [word], f"packed_{kind}{n}")
            pack = f"pack_{kind}_to_{f.packed}({kind}{n}(x))"
            table.add(f"pack_{f.name}_{kind}", pack, [f"packed_{kind}{n}"], word)
    return table


def _to_linear(c: Array) -> Array:
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def _to_srgb(x: Array) -> Array:
    return np.where(x < 0.0031308, 12.92 * x, 1.055 * np.maximum(x, 0) ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize("f", _FORMATS, ids=lambda f: f.name)
def test_unpack(functions: Functions, f: Format) -> None:
    words = _RNG.integers(0, 1 << 32, 5000, dtype=np.uint64).astype(f.word)
    words[:2] = 0, np.iinfo(f.word).max
    exact = np.maximum(f.fields(words) / f.scales(), -1.0)
    if f.srgb:
        exact[:, :3] = _to_linear(exact[:, :3])
    n = len(f.bits)
    single = functions.run(f"unpack_{f.name}_float", words, dtype=np.float32, width=n)
    np.testing.assert_allclose(single, exact, rtol=1e-6 if f.srgb else 6e-8)
    narrow = functions.run(f"unpack_{f.name}_half", words, dtype=np.float16, width=n)
    np.testing.assert_array_equal(narrow, single.astype(np.float16))


@pytest.mark.parametrize("kind", [np.float32, np.float16], ids=["float", "half"])
@pytest.mark.parametrize("f", _FORMATS, ids=lambda f: f.name)
def test_pack(functions: Functions, f: Format, kind: Any) -> None:
    n = len(f.bits)
    values = _RNG.uniform(-1.3, 1.3, (5000, n)).astype(kind)
    values[:6] = np.array([0, 1, -1, np.inf, -np.inf, np.nan])[:, None]
    inside = np.clip(np.nan_to_num(values.astype(np.float64), nan=0.0), -1 if f.signed else 0, 1)
    fields = np.rint(inside * f.scales())
    if f.srgb:
        fields[:, :3] = np.floor(_to_srgb(inside[:, :3]) * 255 + 0.5)
    name = f"pack_{f.name}_{'float' if kind is np.float32 else 'half'}"
    actual = functions.run(name, values, dtype=f.word)
    got = f.fields(actual)
    # The product is rounded to float before it is rounded to an integer: near a tie by one.
    assert np.abs(got - fields).max() <= 1
    assert (got != fields).mean() < 5e-3
    np.testing.assert_array_equal(f.words(got), actual)


@pytest.mark.parametrize("f", _FORMATS, ids=lambda f: f.name)
def test_round_trip(functions: Functions, f: Format) -> None:
    words = np.arange(1 << 16, dtype=np.uint32)
    words = (words * 0x10001).astype(f.word) if f.word is np.uint32 else words.astype(f.word)
    n = len(f.bits)
    values = functions.run(f"unpack_{f.name}_float", words, dtype=np.float32, width=n)
    again = functions.run(f"pack_{f.name}_float", values, dtype=f.word)
    lowest = np.array([-(1 << (bits - 1)) for bits in f.bits])
    fields = f.fields(words)
    if f.signed:  # the lowest code means -1 too, which packs as the next one
        fields = np.where(fields == lowest, lowest + 1, fields)
    np.testing.assert_array_equal(f.fields(again), fields)
