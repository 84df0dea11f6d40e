"""Neighbours in memory: what the shuffles do, by a small interpreter of the text."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.simd.code.deinterleave import (
    deinterleave,
    interleave,
    interleave_odd,
    part_of_lanes,
)
from anymetal.targets.cpu.llvm_target import machine_for

WIDTHS = (32, 64)
_SHUFFLE = re.compile(r"shufflevector <(\d+) x (\w+)> (\S+), <\d+ x \w+> (\S+), <.*?> <(.*)>$")
_BITCAST = re.compile(r"bitcast <\d+ x \w+> (\S+) to ")
_NUMPY = {"i8": np.uint8, "i16": np.uint16, "i32": np.uint32, "float": np.uint32, "i64": np.uint64}
Bytes = NDArray[np.uint8]


def run(lines: list[str], values: dict[str, Bytes]) -> None:
    """Adds to `values` the bytes of all that the lines define."""
    for line in lines:
        name, _, text = line.strip().partition(" = ")
        if match := _SHUFFLE.match(text):
            element = np.dtype(_NUMPY[match[2]])
            count = int(match[1])
            nothing = np.zeros(count, element).view(np.uint8)
            one, other = (values.get(v, nothing).view(element) for v in match.group(3, 4))
            assert len(one) == len(other) == count
            picks = [int(pick.split()[1].replace("poison", "0")) for pick in match[5].split(",")]
            values[name] = np.concatenate([one, other])[picks].view(np.uint8)
        else:
            cast = _BITCAST.match(text)
            assert cast, text
            values[name] = values[cast[1]]


def memory(width: int, type_: t.Type, count: int) -> NDArray[np.unsignedinteger]:
    """What each lane has, by lane."""
    size = width * count * type_.size
    bytes_ = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    return bytes_.view(_NUMPY[str(type_)]).reshape(width, count)


TYPES = (t.I8, t.I16, t.I32, t.FLOAT, t.I64)
CPUS = ("x86-64-v2", "x86-64-v3", "x86-64-v4", "neoverse-v1")


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("type_", TYPES, ids=str)
@pytest.mark.parametrize("count", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("width", WIDTHS)
def test_there_and_back(cpu: str, type_: t.Type, count: int, width: int) -> None:
    machine, lanes = machine_for(cpu), memory(width, type_, count)
    rows = {f"%row{i}": row.view(np.uint8) for i, row in enumerate(lanes.reshape(count, width))}
    w = Writer(width)
    parts = deinterleave(w, type_, list(rows), machine)
    again = interleave(w, type_, parts, machine)
    values = dict(rows)
    run(w.lines, values)
    for part, column in zip(parts, lanes.T, strict=True):
        assert values[part].tobytes() == column.tobytes()
    assert b"".join(values[row].tobytes() for row in again) == lanes.tobytes()


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("count", [3, 4, 5, 8])
def test_one_of_them(cpu: str, count: int) -> None:
    lanes = memory(32, t.FLOAT, count)
    rows = {f"%row{i}": row.view(np.uint8) for i, row in enumerate(lanes.reshape(count, 32))}
    for number in range(count):
        w, values = Writer(32), dict(rows)
        part = part_of_lanes(w, t.FLOAT, list(rows), number, machine_for(cpu))
        run(w.lines, values)
        assert values[part].tobytes() == lanes[:, number].tobytes()


@pytest.mark.parametrize("type_", TYPES, ids=str)
@pytest.mark.parametrize("count", [2, 3, 5, 6, 7])
@pytest.mark.parametrize("width", WIDTHS)
def test_any_number_together(type_: t.Type, count: int, width: int) -> None:
    lanes = memory(width, type_, count)
    parts = {f"%part{k}": np.ascontiguousarray(lanes[:, k]).view(np.uint8) for k in range(count)}
    w, values = Writer(width), dict(parts)
    rows = interleave_odd(w, type_, list(parts))
    run(w.lines, values)
    assert b"".join(values[row].tobytes() for row in rows) == lanes.tobytes()
