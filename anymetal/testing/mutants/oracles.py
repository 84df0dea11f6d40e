"""Whether a mistake does harm, found out without the sanitizer: by running kernels and comparing.

order      Threads run one after the other from barrier to barrier (the scalar build), or in
           SIMD-groups: if the results are not those of the right kernel, they depend on how
           threads happen to be scheduled.
bounds     All arrays lie at the end of mapped memory, then at its beginning: an access outside of
           one is a fault.
undefined  What nobody has written holds one number, then another: if results change, they depend
           on it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import cast

import mlx.core as mx
import numpy as np

from anymetal.errors import KernelMemoryError
from anymetal.kernel import metal_kernel
from anymetal.runtime.arrays import Exporter
from anymetal.targets.base import Launch
from anymetal.targets.cpu.launch import CpuTarget
from anymetal.targets.cpu.variant import gang_width
from anymetal.testing.fenced import Array, fenced
from anymetal.testing.mutants.operators import FILLING, FILLINGS, Mutant
from anymetal.testing.mutants.recording import run, with_text

#: Lanes of a gang in the builds that are compared.
_WIDTHS = (32, 1)
#: An `init_value` is as good as another where nobody relies on it.
_INITS = (0.0, 113.0)


class UnstableError(Exception):
    """The right kernel already gives now this and then that, so nothing can be compared."""


def reference(launch: Launch) -> list[Array]:
    """The results of the right kernel. Raises UnstableError unless they are always the same."""
    first, other = (_results(launch, width) for width in _WIDTHS)
    if not _same(first, other):
        raise UnstableError(launch.source.name)
    return first


def harmful(mutant: Mutant, right: Sequence[Array]) -> bool:
    """Whether the mistake does harm. `right`: what the kernel without it gives."""
    tried = mutant.instead or mutant.launch
    match mutant.harm:
        case "order":
            return any(not _same(right, _results(tried, width)) for width in _WIDTHS)
        case "bounds":
            return any(_faults(tried, at_end) for at_end in (True, False))
        case "undefined":
            one, other = (_results(filled, 32) for filled in _fillings(tried))
            return not _same(one, other)


def _results(launch: Launch, width: int) -> list[Array]:
    _scrub()
    with gang_width(width):
        return [_words(array) for array in run(launch)]


_SCRUB = metal_kernel(
    name="scrub",
    input_names=[],
    output_names=["sum"],
    source="""
        threadgroup uint memory[8192];
        for (uint n = thread_index_in_threadgroup; n < 8192; n += 256) memory[n] = 0xAAAAAAAA - n;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum[thread_position_in_grid.x] = memory[thread_position_in_grid.x % 8192];
    """,
)


def _scrub() -> None:
    """Overwrites threadgroup memory, in which the right values may be left from another run.

    One threadgroup always runs on the thread that launches, many on the threads of the pool, too.
    """
    for groups in (64, 1):
        threads = (groups * 256, 1, 1)
        mx.eval(
            _SCRUB(
                inputs=[],
                grid=threads,
                threadgroup=(256, 1, 1),
                output_shapes=[threads[:1]],
                output_dtypes=[mx.uint32],
            )
        )


def _words(array: mx.array) -> Array:
    """The bits of an array, as unsigned integers of the elements' size."""
    word = np.dtype(f"u{array.itemsize}")
    return np.array(array.reshape(-1).view(mx.uint8)).view(word).reshape(array.shape)


def _same(one: Sequence[Array], other: Sequence[Array]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def _fillings(launch: Launch) -> list[Launch]:
    """The launch with one number in place of what is missing, and with another."""
    source = launch.source
    if FILLING not in source.body + source.header:
        return [dataclasses.replace(launch, init_value=init) for init in _INITS]
    return [
        with_text(launch, body=_filled(source.body, which), header=_filled(source.header, which))
        for which in (0, 1)
    ]


def _filled(text: str, which: int) -> str:
    for type_, numbers in FILLINGS.items():
        text = text.replace(f"{FILLING}_{type_};", f"{type_}({numbers[which]});")
    return text


def _faults(launch: Launch, at_end: bool) -> bool:
    """Whether an access faults, with arrays at the ends of their pages or at the beginnings."""
    inputs = [_words(mx.contiguous(array)) for array in launch.inputs]
    outputs = [
        _words(mx.full(shape, launch.init_value or 0, dtype))
        for shape, dtype in zip(launch.output_shapes, launch.output_dtypes, strict=True)
    ]
    bound = cast("list[Exporter]", [fenced(array, at_end) for array in (*inputs, *outputs)])
    try:
        CpuTarget().run_in_place(launch.source, bound, launch.grid, launch.threadgroup)
    except KernelMemoryError:
        return True
    return False
