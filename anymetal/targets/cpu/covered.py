"""Which outputs a launch stores as a whole: what analysis/must_store.py has found, with numbers.

An address is a sum of strides times numbers that have a range each, all independent of each other.
Sorted by their strides, smallest first, they are like the digits of a number: as long as no stride
is larger than what has been covered so far, there is no gap.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import prod
from typing import Any

from anymetal.ir.sizes import SIMD_GROUP

Extent = tuple[int, int, int]
#: Addresses of 32 bits that are larger may have wrapped.
_LARGEST = 1 << 31


def covered(notes: str, outputs: Sequence[int], grid: Extent, group: Extent) -> list[int]:
    """For each output, how many bytes from its beginning on are certainly stored in a launch.

    `notes`: a list of `Stored` as JSON, or nothing. `outputs`: their positions among the
    parameters. `group`: threads per threadgroup, where the grid's edge does not cut it short.
    """
    found = dict.fromkeys(outputs, 0)
    for slot, bytes_, terms in json.loads(notes) if notes else ():
        digits = _digits(terms, grid, group)
        if digits is not None:
            found[slot] = max(found[slot], _reach(bytes_, digits))
    return list(found.values())


def _reach(bytes_: int, digits: list[tuple[int, int]]) -> int:
    """Where the first gap is, or 0: sums of these (stride, numbers) begin runs of bytes."""
    end = bytes_
    for stride, count in sorted(digits):
        if count > 1 and stride > end:
            return 0
        end += stride * (count - 1)
    return end if end < _LARGEST else 0


def _digits(terms: Any, grid: Extent, group: Extent) -> list[tuple[int, int]] | None:
    """Strides, and how many numbers they are multiplied by; None if these are not independent, or
    not the same in all threadgroups."""
    whole = [threads % size == 0 for threads, size in zip(grid, group, strict=True)]
    sizes = {f"grid_{axis}": grid[i] for i, axis in enumerate("xyz")}
    sizes |= {f"full_size_{axis}": group[i] for i, axis in enumerate("xyz")}
    sizes |= {f"size_{axis}": group[i] for i, axis in enumerate("xyz") if whole[i]}
    digits: list[tuple[int, int]] = []
    strides: dict[str, int] = {}
    for stride, count, names in terms:
        factor = stride * prod(sizes[name] for name in names if name in sizes)
        rest = [name for name in names if name not in sizes]
        if len(rest) > 1 or (rest and count > 1):
            return None
        if rest:
            strides[rest[0]] = strides.get(rest[0], 0) + factor
        else:
            digits.append((factor, count))
    for i, axis in enumerate("xyz"):
        thread, above = (strides.pop(f"{name}_{axis}", 0) for name in ("thread", "group"))
        if above == thread * group[i]:
            digits.append((thread, grid[i]))
            continue
        if thread and above and not whole[i]:
            return None
        digits += [(thread, min(group[i], grid[i])), (above, -(-grid[i] // group[i]))]
    lane, gang = strides.pop("lane", 0), strides.pop("gang", 0)
    if lane or gang:
        beside = any(name.startswith("thread_") for *_, names in terms for name in names)
        if beside or not all(whole) or prod(group) % SIMD_GROUP:
            return None
        digits += [(lane, SIMD_GROUP), (gang, prod(group) // SIMD_GROUP)]
    return None if strides else [(stride, count) for stride, count in digits if stride]
