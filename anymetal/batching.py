"""`metal_kernel(..., vmap="batch")`: kernels under `mx.vmap`, with the batch in the grid.

MLX has no rule for kernels. Many allow one that nobody need write: run the kernel for every element
of the batch in one launch, by stretching the grid in z. The kernel that does so is the user's own
behind a few lines that move its pointers to one element and shift its coordinates back:

    x (3, n) mapped, grid (n, 1, 1)   →   am1_x (batch, 3, n), grid (n, 1, batch)

    const uint am1_batch = thread_position_in_grid.z;
    auto x = am1_x + am1_batch * am1_x_strides[0];

The coordinates become macros rather than variables in an inner block: threadgroup memory must be
declared in the outermost one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

import mlx.core as mx

from anymetal.signature import KernelDefinition
from anymetal.size_extension import sized_inputs
from anymetal.source import ATTRIBUTES
from anymetal.targets.base import Extent, Lift

_GRID = ("thread_position_in_grid", "threads_per_grid", "grid_size")
_GROUPS = ("threadgroup_position_in_grid", "threadgroups_per_grid")

#: Lines of a body that nothing may stand in front of: pragmas on the arithmetic of all of it.
_OPENING = re.compile(
    r"(?:(?:\s|//[^\n]*\n)*#[ \t]*pragma[ \t]+(?:METAL|STDC|clang)[ \t]+fp[^\n]*\n)*", re.I
)


@dataclass(frozen=True)
class Extents:
    """What of a launch changes with the batch."""

    output_shapes: Sequence[tuple[int, ...]]
    grid: Extent
    threadgroup: Extent


#: Runs a kernel, which has a rule for `mx.vmap` in its turn.
Run = Callable[[KernelDefinition, Sequence[mx.array], Extents], list[mx.array]]


def batch_rule(definition: KernelDefinition, extents: Extents, run: Run) -> Lift:
    """The rule for `mx.vmap` of one launch.

    It raises ValueError if the launch cannot be lifted.
    """

    def lift(
        arrays: Sequence[mx.array], axes: Sequence[int | None]
    ) -> tuple[list[mx.array], list[int]]:
        mapped = [axis is not None for axis in axes]
        moved = [
            array if axis is None else mx.moveaxis(array, axis, 0)
            for array, axis in zip(arrays, axes, strict=True)
        ]
        batch = next(array.shape[0] for array, yes in zip(moved, mapped, strict=True) if yes)
        scalars = [yes and array.ndim == 1 for array, yes in zip(moved, mapped, strict=True)]
        lifted = _lifted(definition, mapped, scalars, extents)
        elements = mx.array([prod(shape) for shape in extents.output_shapes], mx.int64)
        outputs = run(lifted, [*moved, elements], _stretched(extents, batch))
        return outputs, [0] * len(outputs)

    return lift


def _stretched(extents: Extents, batch: int) -> Extents:
    x, y, z = extents.grid
    return Extents(
        [(batch, *shape) for shape in extents.output_shapes],
        (x, y, z * batch),
        (*extents.threadgroup[:2], _depth_of_group(extents)),
    )


def _depth_of_group(extents: Extents) -> int:
    """In z; a threadgroup ends where the grid ends, which a stretched grid does later."""
    depth, group = extents.grid[2], extents.threadgroup[2]
    return min(depth, group) if depth > 0 else group


def _lifted(
    definition: KernelDefinition,
    mapped: Sequence[bool],
    scalars: Sequence[bool],
    extents: Extents,
) -> KernelDefinition:
    """The same kernel for a batch. It takes the outputs' sizes as one more input.

    `scalars` says of each mapped input whether the kernel knows it without axes.
    """
    depth, group = extents.grid[2], _depth_of_group(extents)
    if min(*extents.grid, *extents.threadgroup) < 1:
        depth = group = 1  # no thread will run, or the launch is refused
    if depth % group:
        raise ValueError(
            f"[vmap] Kernel `{definition.name}` cannot be lifted: its grid has {depth} threads in "
            f"z, in threadgroups of {group}, so that one would have threads of two elements of "
            "the batch. Choose a threadgroup that divides the grid in z."
        )
    body, names = definition.prologue + definition.source, definition.input_names
    if sized_inputs(names, ATTRIBUTES.keys() | set(definition.output_names), body, ""):
        raise ValueError(
            f"[vmap] Kernel `{definition.name}` cannot be lifted: it uses `<input>_size`. Pass the "
            "number of elements as an input."
        )
    counted = [name for name in (*_GRID, *_GROUPS) if name in body]
    opening = next(_OPENING.finditer(body))[0]
    level = 1 + max(map(int, re.findall(r"\bam(\d+)_batch\b", body)), default=0)
    prefix = f"am{level}_"
    lines = [
        f"const uint {prefix}batch = thread_position_in_grid.z / {depth}u;",
        *(_coordinate(name, prefix, depth, depth // group) for name in counted),
        *(
            line
            for name, yes, scalar in zip(names, mapped, scalars, strict=True)
            if yes
            for line in _input(body, prefix, name, scalar)
        ),
        *(
            f"auto {name} = {prefix}{name} + {prefix}batch * {prefix}sizes[{i}];"
            for i, name in enumerate(definition.output_names)
        ),
        *(f"#undef {name}\n#define {name} {prefix}{name}" for name in counted),
        definition.prologue[len(opening) :] if definition.prologue else "",
    ]
    # Pragmas move into the prologue; they leave their lines behind.
    source = definition.source
    if not definition.prologue:
        source = "\n" * opening.count("\n") + source[len(opening) :]
    return replace(
        definition,
        input_names=(
            *(prefix + n if yes else n for n, yes in zip(names, mapped, strict=True)),
            f"{prefix}sizes",
        ),
        output_names=tuple(prefix + name for name in definition.output_names),
        prologue=opening + "\n".join(lines),
        source=source,
    )


def _coordinate(name: str, prefix: str, depth: int, groups: int) -> str:
    """What one element of the batch sees in the place of an attribute that counts in the grid."""
    extent = depth if name in _GRID else groups
    z = f"{name}.z % {extent}u" if "position" in name else f"{extent}u"
    return f"const uint3 {prefix}{name} = uint3({name}.x, {name}.y, {z});"


def _input(body: str, prefix: str, name: str, scalar: bool) -> list[str]:
    """One element of a mapped input, under the input's own name."""
    mine = prefix + name
    start = f"{prefix}batch * {mine}_strides[0]"
    if scalar:  # MLX passes nothing about an array without axes
        return [f"const auto {name} = {mine}[{start}];"]
    described = {
        f"{name}_shape": f"const constant int* {name}_shape = {mine}_shape + 1;",
        f"{name}_strides": f"const constant int64_t* {name}_strides = {mine}_strides + 1;",
        f"{name}_ndim": f"const int {name}_ndim = {mine}_ndim - 1;",
    }
    return [
        f"auto {name} = {mine} + {start};",
        *(line for word, line in described.items() if word in body),
    ]
