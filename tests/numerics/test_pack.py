"""Packing and unpacking of normalised integers: every word of a component, ties, NaN."""

from __future__ import annotations

from dataclasses import dataclass

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from tests.numerics.evaluate import Array


@dataclass(frozen=True)
class _Layout:
    """Bits of each component, from the lowest; whether they are signed."""

    name: str
    bits: tuple[int, ...]
    signed: bool = False
    word: str = "uint"

    @property
    def words(self) -> type:
        return np.uint16 if self.word == "ushort" else np.uint32

    def unpacked(self, words: Array) -> Array:
        shifts = np.cumsum((0, *self.bits[:-1]))
        columns = []
        for shift, bits in zip(shifts, self.bits, strict=True):
            field = (words.astype(np.int64) >> int(shift)) & ((1 << bits) - 1)
            if self.signed:
                field = np.where(field >> (bits - 1), field - (1 << bits), field)
            columns.append(np.maximum(field / self.largest(bits), -1.0))
        return np.stack(columns, 1)

    def packed(self, values: Array) -> Array:
        """Clamped, scaled in float, rounded to nearest even; NaN is 0."""
        shifts = np.cumsum((0, *self.bits[:-1]))
        total = np.zeros(len(values), np.int64)
        for column, (shift, bits) in enumerate(zip(shifts, self.bits, strict=True)):
            inside = np.clip(np.nan_to_num(values[:, column]), -1.0 if self.signed else 0.0, 1.0)
            scaled = inside.astype(np.float32) * np.float32(self.largest(bits))
            total |= (np.rint(scaled).astype(np.int64) & ((1 << bits) - 1)) << int(shift)
        return total.astype(self.words)

    def largest(self, bits: int) -> int:
        return (1 << (bits - 1 if self.signed else bits)) - 1


_LAYOUTS = [
    _Layout("unorm4x8", (8, 8, 8, 8)),
    _Layout("snorm4x8", (8, 8, 8, 8), signed=True),
    _Layout("unorm2x16", (16, 16)),
    _Layout("snorm2x16", (16, 16), signed=True),
    _Layout("unorm10a2", (10, 10, 10, 2)),
    _Layout("snorm10a2", (10, 10, 10, 2), signed=True),
    _Layout("unorm565", (5, 6, 5), word="ushort"),
]
_TYPES = {"float": (np.float32, mx.float32), "half": (np.float16, mx.float16)}


def _unpack(name: str, kind: str, words: Array, count: int) -> Array:
    kernel = anymetal.metal_kernel(
        "unpacking",
        ["words"],
        ["out"],
        f"uint i = thread_position_in_grid.x; auto v = unpack_{name}_to_{kind}(words[i]);"
        f"for (uint k = 0; k < {count}; ++k) out[{count} * i + k] = v[k];",
    )
    (out,) = kernel(
        inputs=[mx.array(words)],
        output_shapes=[(len(words), count)],
        output_dtypes=[_TYPES[kind][1]],
        grid=(len(words), 1, 1),
        threadgroup=(64, 1, 1),
    )
    return np.array(out)


def _pack(name: str, kind: str, values: Array, words: type) -> Array:
    count = values.shape[1]
    parts = ", ".join(f"x[{count} * i + {k}]" for k in range(count))
    kernel = anymetal.metal_kernel(
        "packing",
        ["x"],
        ["out"],
        f"uint i = thread_position_in_grid.x; "
        f"out[i] = pack_{kind}_to_{name}({kind}{count}({parts}));",
    )
    (out,) = kernel(
        inputs=[mx.array(values.astype(_TYPES[kind][0]))],
        output_shapes=[(len(values),)],
        output_dtypes=[mx.uint16 if words is np.uint16 else mx.uint32],
        grid=(len(values), 1, 1),
        threadgroup=(64, 1, 1),
    )
    return np.array(out)


def _words(layout: _Layout) -> Array:
    """Every value of 16 bits in each half of the word."""
    low = np.arange(1 << 16, dtype=np.uint32)
    if layout.words is np.uint16:
        return low.astype(np.uint16)
    return np.concatenate([low << 16 | low[::-1], low * np.uint32(65537)])


@pytest.mark.parametrize("layout", _LAYOUTS, ids=lambda layout: layout.name)
def test_unpack(layout: _Layout) -> None:
    words = _words(layout)
    wanted = layout.unpacked(words)
    for kind, (type_, _) in _TYPES.items():
        found = _unpack(layout.name, kind, words, len(layout.bits))
        units = np.abs(found - wanted) / np.spacing(np.abs(wanted).astype(type_))
        assert units.max() <= 0.51, kind


@pytest.mark.parametrize("layout", _LAYOUTS, ids=lambda layout: layout.name)
def test_pack(layout: _Layout) -> None:
    rng = np.random.default_rng(5)
    count = len(layout.bits)
    values = rng.uniform(-1.5, 1.5, (4000, count))
    edges = [0, -0.0, 1, -1, 0.5, -0.5, np.inf, -np.inf, np.nan, 1.5 / 255, 2.5 / 255, 2.5 / 127]
    values[: len(edges)] = np.array(edges)[:, None]
    for kind, (type_, _) in _TYPES.items():
        given = values.astype(type_)
        found = _pack(layout.name, kind, given, layout.words)
        assert np.array_equal(found, layout.packed(given.astype(np.float64))), kind


@pytest.mark.parametrize("layout", _LAYOUTS, ids=lambda layout: layout.name)
def test_pack_inverts_unpack(layout: _Layout) -> None:
    words = _words(layout)
    values = _unpack(layout.name, "float", words, len(layout.bits))
    again = _unpack(
        layout.name, "float", _pack(layout.name, "float", values, layout.words), len(layout.bits)
    )
    assert np.array_equal(again, values)  # two words of signed layouts mean -1


def test_srgb() -> None:
    words = np.arange(256, dtype=np.uint32) * np.uint32(0x01010101)
    code = np.arange(256) / 255
    linear = np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)
    found = _unpack("unorm4x8_srgb", "float", words, 4)
    np.testing.assert_allclose(found[:, :3], np.stack([linear] * 3, 1), rtol=2e-6)
    np.testing.assert_allclose(found[:, 3], code, rtol=1e-7)
    assert np.array_equal(_pack("srgb_unorm4x8", "float", found, np.uint32), words)
    nothing = np.full((1, 4), np.nan)
    assert _pack("srgb_unorm4x8", "float", nothing, np.uint32).tolist() == [0]
