"""Convolutions as products of matrices in tiles, whose rows are gathered from the input on the way.

`channel_3` in a name: three channels of a group, `channel_l`: many; `filter_s`: at most 16 places
along each axis. `general`: inputs may be spread, with zeros between.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.convolution import Convolution, drawn
from anymetal.testing.mlx_kernels.families.data import DTYPES, Random
from anymetal.testing.mlx_kernels.families.gemm import packed
from anymetal.testing.mlx_kernels.families.matrices import dtype_of, numbers, threads
from anymetal.testing.mlx_kernels.families.packed import strides

_STEP = 16  #: channels at a time
_COMMON = ("M", "N", "K", "gemm_k_iterations")
_TILES = ("tiles_n", "tiles_m", "swizzle_log")
_JUMPS = {2: ("inp_jump_w", "inp_jump_h"), 3: ("inp_jump_w", "inp_jump_h", "inp_jump_d")}
_GENERAL = np.dtype(
    [
        (name, "i4")
        for name in (
            *("f_wgt_jump_h", "f_wgt_jump_w", "f_out_jump_h", "f_out_jump_w"),
            *("adj_out_h", "adj_out_w", "adj_out_hw", "adj_implicit_m"),
        )
    ]
)


def conv(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`implicit_gemm_conv_2d_float16_bm32_bn8_bk16_wm4_wn1_channel_l_filter_s`,
    `implicit_gemm_conv_3d_float32_bm64_bn64_bk16_wm2_wn2_filter_l`."""
    n, dtype = numbers(name), dtype_of(name)
    axes = 3 if "_3d_" in name else 2
    few = name.partition("_channel_")[2][:1]
    channels = int(few) if few.isdigit() else _STEP * int(rng.integers(1, 4))
    one = drawn(rng, axes, channels, _outputs(rng, n["bn"]), groups=int(rng.integers(1, 3)))
    if not few.isdigit() and name.endswith("_filter_l"):  # more than 16 places along an axis
        long = tuple(17 if axis == 0 else 1 for axis in range(axes))
        sizes = (19, *one.inputs[1:])
        one = replace(one, inputs=sizes, filters=long, dilation=(1,) * axes)
        if axes == 2:  # where MLX's kernel looks for the padding on the wrong side if it is flipped
            one = replace(one, flip=False)
    x, w = one.operands(rng, dtype)
    rows = one.batch * math.prod(one.places)
    tiles = (-(-one.outputs // one.groups // n["bn"]), -(-rows // n["bm"]))
    got = kernel(
        x,
        w,
        (one.shapes[2], DTYPES[dtype]),
        one.params(),
        _gemm_params(one, rows, tiles, _steps(one, int(few) if few.isdigit() else 0)),
        **threads((*tiles, one.groups), (32, n["wn"], n["wm"])),
    )[0]
    return one.compared(got, x, w, dtype)


def _outputs(rng: Random, tile: int) -> int:
    """Of a group, for which the host code takes tiles of this width."""
    if tile == 8:
        return int(rng.integers(1, 16, endpoint=True))
    return tile + 16 * int(rng.integers(2))


def _steps(one: Convolution, few: int) -> int:
    """Of the common axis: all places of few channels are one sum; three take the room of four."""
    places = math.prod(one.filters)
    if few:
        return -(-places * {3: 4}.get(few, few) // _STEP)
    return places * -(-one.channels // one.groups // _STEP)


def _gemm_params(one: Convolution, rows: int, tiles: tuple[int, int], steps: int) -> bytes:
    """Sizes of the product, and how far the places of a filter are from each other in the input."""
    length = math.prod(one.filters) * one.channels // one.groups
    sign = -1 if one.flip else 1
    jumps = [  # for one place further along each axis
        jump * dilation
        for jump, dilation in zip(strides(one.shapes[0])[1:-1], one.dilation, strict=True)
    ]
    backs = [jump * (n - 1) for jump, n in zip(jumps, one.filters, strict=True)]
    axes = len(jumps)
    given = {
        name: sign * (jumps[axis] - sum(backs[axis + 1 :]))
        for name, axis in zip(_JUMPS[axes], reversed(range(axes)), strict=True)
    }
    given["inp_jump_c"] = _STEP - sign * sum(backs)
    struct = np.dtype([(name, "i4") for name in (*_COMMON, *given, *_TILES)])
    outputs = one.outputs // one.groups
    sizes = {"M": rows, "N": outputs, "K": length, "gemm_k_iterations": steps}
    return packed(struct, **sizes, **given, tiles_n=tiles[0], tiles_m=tiles[1])


def general(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`implicit_gemm_conv_2d_general_float16_bm32_bn8_bk16_wm4_wn1`: places of the result that meet
    the same zeros of a spread input are one product."""
    n, dtype = numbers(name), dtype_of(name)
    channels = int(rng.choice([16, 32, 5, 20]))
    outputs = int(rng.integers(1, 80))
    one = drawn(rng, 2, channels, outputs, spread=True)
    while not one.unfolded(np.ones(one.shapes[0])).any():  # nothing but zeros is met
        one = drawn(rng, 2, channels, outputs, spread=True)
    x, w = one.operands(rng, dtype)
    apart = [math.lcm(*pair) for pair in zip(one.spread, one.step, strict=True)]
    further = [every // step for every, step in zip(apart, one.step, strict=True)]
    weights = [
        math.lcm(spread, dilation) // dilation
        for spread, dilation in zip(one.spread, one.dilation, strict=True)
    ]
    places = [-(-size // every) for size, every in zip(one.places, further, strict=True)]
    rows = one.batch * math.prod(places)
    tiles = (-(-one.outputs // n["bn"]), -(-rows // n["bm"]))
    jumps = packed(
        _GENERAL,
        f_wgt_jump_h=weights[0],
        f_wgt_jump_w=weights[1],
        f_out_jump_h=further[0],
        f_out_jump_w=further[1],
        adj_out_h=places[0],
        adj_out_w=places[1],
        adj_out_hw=math.prod(places),
        adj_implicit_m=rows,
    )
    whole = one.batch * math.prod(one.places)
    got = kernel(
        x,
        w,
        (one.shapes[2], DTYPES[dtype]),
        one.params(),
        _gemm_params(one, whole, tiles, -(-channels // _STEP)),  # for each place of a filter
        jumps,
        *(_bases(one, axis, further[axis], weights[axis]) for axis in range(2)),
        constants={"align_C": channels % _STEP == 0},
        **threads((*tiles, math.prod(further)), (32, n["wn"], n["wm"])),
    )[0]
    return one.compared(got, x, w, dtype)


def _bases(one: Convolution, axis: int, count: int, every: int) -> bytes:
    """For each of the first places of the result, the first place of the filter that meets no zero
    between inputs, and how many more there are."""
    size, dilation, spread = one.filters[axis], one.dilation[axis], one.spread[axis]
    found = []
    for place in range(count):
        begin = place * one.step[axis] - one.padding[axis]
        at = range(size)
        meets = [begin + dilation * (size - 1 - i if one.flip else i) for i in at]
        first = next((i for i in at if meets[i] % spread == 0), size)
        found.append((first, -(-(size - first) // every)))
    return np.array(found, "i4").tobytes()
