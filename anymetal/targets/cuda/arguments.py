"""What a launch hands to the code of a kernel: arrays, then numbers, and how many blocks."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import mlx.core as mx

from anymetal.errors import KernelLaunchError
from anymetal.ir.sizes import MAX_THREADS_PER_THREADGROUP, SIMD_GROUP
from anymetal.source import LibrarySource
from anymetal.targets.base import Extent, Launch
from anymetal.targets.cuda.names import Form

#: What CUDA allows: threads of a block in z, blocks in y and z; MLX: threads of a launch.
_MOST_IN_Z, _MOST_BLOCKS, _MOST_THREADS = 64, 65535, 2**31 - 1


class Geometry(NamedTuple):
    """How a launch is cut into blocks."""

    grid: Extent  #: threads, as MLX takes them
    block: Extent  #: threads of one block
    numbers: list[int]  #: behind the arrays: the grid that the kernel sees, and its blocks in a row
    in_a_row: bool  #: blocks and threads are numbered in x alone, since CUDA allows no such y or z

    @property
    def blocks(self) -> list[int]:
        """How many blocks there are in x, y and z."""
        return [-(-g // b) for g, b in zip(self.grid, self.block, strict=True)]


def geometry(kernel: str, grid: Extent, threadgroup: Extent) -> Geometry:
    """Blocks are as large as threadgroups, clamped to the grid.

    Raises KernelLaunchError if there are too many of them to be numbered in any way.
    """
    block = block_of(grid, threadgroup)
    plain = Geometry(grid, block, list(grid), False)
    _, y, z = plain.blocks
    if block[2] <= _MOST_IN_Z and max(y, z) <= _MOST_BLOCKS:
        return plain
    size = prod(block)
    threads = prod(plain.blocks) * size
    if threads + size > _MOST_THREADS:
        raise KernelLaunchError(
            f"[metal_kernel] Kernel `{kernel}` was launched with grid={grid} and "
            f"threadgroup={threadgroup}. A launch on an NVIDIA GPU has at most {_MOST_BLOCKS} "
            f"threadgroups in y and in z, each with at most {_MOST_IN_Z} threads in z, or fewer "
            f"than {_MOST_THREADS} threads in all."
        )
    return Geometry((threads, 1, 1), (size, 1, 1), [*grid, *block], True)


def form_of(blocks: Geometry, written_last: bool = False, aligned: bool = False) -> Form:
    """For which launches code is compiled that serves one with these blocks."""
    size = prod(blocks.block)
    even = all(g % b == 0 for g, b in zip(blocks.grid, blocks.block, strict=True))
    whole = even and size % SIMD_GROUP == 0 and not blocks.in_a_row
    flat = blocks.grid[1:] == (1, 1) and not blocks.in_a_row
    return Form(threads_for(size), written_last, blocks.in_a_row, whole, flat, aligned)


def threads_for(block: int) -> int:
    """For how many threads code is compiled that runs in blocks of so many: a power of two, so that
    one version serves many launches."""
    return min(MAX_THREADS_PER_THREADGROUP, max(SIMD_GROUP, 1 << (block - 1).bit_length()))


def block_of(grid: Extent, threadgroup: Extent) -> Extent:
    """The threads of a block: the threadgroup, clamped to the grid."""
    x, y, z = map(min, grid, threadgroup)
    return (x, y, z)


class Binding(NamedTuple):
    """What the buffers in front of the outputs are, in the order of the kernel's parameters.

    Inputs have to be bound row-contiguous, also where the kernel would take others: MLX says
    nothing about the strides of an array before it is evaluated. A kernel that asks for strides
    gets those of a row-contiguous array.
    """

    order: list[int]  #: numbers of inputs, and behind the last one of `descriptions`
    descriptions: list[mx.array]  #: what describes inputs

    def arrays(self, inputs: Sequence[mx.array]) -> list[mx.array]:
        """The buffers of a launch with these inputs."""
        every = [*inputs, *self.descriptions]
        return [every[place] for place in self.order]


def binding(launch: Launch) -> Binding:
    """The buffers of all launches with such inputs."""
    count = len(launch.inputs)
    if isinstance(launch.source, LibrarySource):
        return Binding(list(range(count)), [])
    found = Binding([], [])
    for parameter in launch.source.parameters:
        if parameter.kind == "input":
            found.order.append(parameter.argument)
        elif parameter.kind != "output":
            found.order.append(count + len(found.descriptions))
            shape = launch.inputs[parameter.argument].shape
            found.descriptions.append(description(parameter.kind, shape))
    return found


def buffers(launch: Launch) -> list[mx.array]:
    """The arrays in front of the outputs."""
    return binding(launch).arrays(launch.inputs)


def description(kind: str, shape: tuple[int, ...]) -> mx.array:
    """What a parameter of this kind says about a row-contiguous array."""
    return mx.array(numbers_of(kind, shape), getattr(mx, DESCRIBED[kind]))


#: Types of what describes arrays, by the kinds of parameters.
DESCRIBED = {"shape": "int32", "strides": "int64", "ndim": "int32", "size": "uint32"}


def numbers_of(kind: str, shape: tuple[int, ...]) -> list[int]:
    """The same as numbers."""
    match kind:
        case "shape":
            return list(shape)
        case "strides":
            return [prod(shape[axis + 1 :]) for axis in range(len(shape))]
        case "ndim":
            return [len(shape)]
        case "size":
            return [prod(shape)]
    raise ValueError(f"a parameter of the kind {kind!r} describes no array")
