"""Which threadgroups a launch really uses, and which class of launches it belongs to."""

from __future__ import annotations

import pytest

from anymetal.source import KernelSource
from anymetal.targets.cpu.variant import fitting_groups, gang_width, launch_variant, variant_for

GRID = ("thread_position_in_grid",)


def source(body="", attributes=GRID, header=""):
    return KernelSource("k", "custom_kernel_k", header, body, (), attributes, "", "")


@pytest.mark.parametrize(
    ("grid", "group", "fitting"),
    [
        ((1000, 1, 1), (1, 1, 1), [(1000, 1, 1)]),
        ((100_000, 1, 1), (1, 1, 1), [(1024, 1, 1)]),
        ((100_000, 1, 1), (100, 1, 1), [(1024, 1, 1)]),
        ((640, 480, 1), (16, 16, 1), [(32, 8, 1), (640, 1, 1)]),
        ((100_000, 1, 1), (256, 1, 1), [(256, 1, 1)]),  # good as it is
        ((512, 12, 3), (256, 1, 1), [(32, 4, 1), (256, 1, 1)]),
        ((500, 31, 1), (256, 1, 1), [(32, 8, 1), (256, 1, 1)]),  # beyond both edges
        ((4096, 64, 1), (32, 8, 1), [(32, 8, 1)]),
        ((4096, 63, 1), (32, 8, 1), [(32, 8, 1), (32, 8, 1)]),  # beyond the edge, or not
        ((64, 4096, 1), (32, 8, 1), [(32, 8, 1), (64, 8, 1)]),  # whole rows, which are short
        ((256, 100, 1), (32, 10, 1), [(32, 8, 1), (256, 2, 1)]),
        ((3, 1000, 1), (3, 8, 1), [(3, 8, 1)]),  # rows of three are no better
    ],
)
def test_groups_of_a_kernel_that_cannot_tell(grid, group, fitting):
    groups = fitting_groups(source("out[thread_position_in_grid.x] = 1;"), grid, group)
    assert list(groups) == fitting
    variant = launch_variant(grid, groups)
    if len(groups) == 1:
        assert variant == variant_for(grid, groups[0])
    else:
        assert variant.instead == variant_for(grid, groups[1])
        assert (variant.rows, variant.partial, variant.team) == (32, False, groups[0][1])


def test_threadgroups_beyond_the_edge():
    assert launch_variant((500, 31, 3), ((32, 8, 1), (256, 1, 1))).padded == "xy"
    assert launch_variant((512, 31, 3), ((32, 8, 1), (256, 1, 1))).padded == "y"
    assert launch_variant((512, 32, 3), ((32, 8, 1), (256, 1, 1))).padded == ""
    assert launch_variant((512, 31, 3), ((32, 8, 1),)).padded == ""


@pytest.mark.parametrize(
    "kernel",
    [
        source("threadgroup_barrier(mem_flags::mem_none);"),
        source("x = simd_sum(x);"),
        source("x = quad_sum(x);"),
        source(header="inline float f(float x) { return simd_max(x); }"),
        source("", (*GRID, "threads_per_threadgroup")),
    ],
)
def test_group_of_a_kernel_that_can_tell(kernel):
    assert fitting_groups(kernel, (1000, 1, 1), (1, 1, 1)) == ((1, 1, 1),)
    assert fitting_groups(kernel, (512, 64, 1), (16, 16, 1)) == ((16, 16, 1),)


@pytest.mark.parametrize(
    ("grid", "group", "expected"),
    [  # flat, linear, aligned, full, partial, single
        ((1024, 1, 1), (256, 1, 1), (1, 1, 1, 1, 0, 0)),
        ((1000, 1, 1), (256, 1, 1), (1, 1, 1, 1, 1, 0)),
        ((7, 1, 1), (7, 1, 1), (1, 1, 0, 0, 1, 1)),
        ((64, 64, 1), (32, 4, 1), (0, 1, 1, 1, 0, 0)),
        ((60, 64, 1), (32, 4, 1), (0, 0, 1, 1, 1, 0)),
        ((64, 64, 1), (16, 16, 1), (0, 0, 0, 1, 0, 0)),
        ((8, 4, 1), (8, 4, 1), (0, 0, 0, 1, 0, 1)),
    ],
)
def test_variant(grid, group, expected):
    variant = variant_for(grid, group)
    names = ("flat", "linear", "aligned", "full", "partial", "single")
    assert tuple(int(getattr(variant, name)) for name in names) == expected


def test_the_scalar_build_has_no_partial_gangs():
    with gang_width(1):
        variant = variant_for((7, 3, 1), (7, 3, 1))
    assert (variant.width, variant.full, variant.partial) == (1, True, False)
