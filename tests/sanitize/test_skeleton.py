"""The way through the compiler: what a kernel does in its text is found at its place."""

from __future__ import annotations

import re
from functools import partialmethod

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.passes.observe import BOUNDS_READ, BOUNDS_WRITE, MISALIGNED, NOT_A_NUMBER
from anymetal.targets.cpu.sanitized import SanitizedPlan
from tests.sanitize.launching import Seen, sanitized, seen, watching

X = mx.arange(64, dtype=mx.float32)

STRAYS = """\
uint i = thread_position_in_grid.x;
threadgroup float t[32];
t[thread_position_in_threadgroup.x + 1] = x0[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
float v = x0[i + 40];
y0[i] = i < 24 ? v : t[0];
y0[i + 60] = 3;
"""


@pytest.mark.parametrize("width", [1, 32])
def test_accesses_outside_are_found_at_their_places(width):
    _, plan = sanitized(STRAYS, [X], [X], group=32, width=width)
    bounds = (BOUNDS_READ, BOUNDS_WRITE)
    assert [one for one in seen(plan) if one.kind in bounds] == [
        Seen(BOUNDS_WRITE, "source:3:41", "t", 128, (31, 0, 0), (0, 0, 0), 2),
        Seen(BOUNDS_READ, "source:5:11", "x0", 256, (24, 0, 0), (0, 0, 0), 40),
        Seen(BOUNDS_WRITE, "source:7:12", "y0", 256, (4, 0, 0), (0, 0, 0), 60),
    ]
    assert plan.take() == []


def test_a_load_that_llvm_drops_strays_and_one_under_its_condition_does_not():
    body = "uint i = thread_position_in_grid.x;\nbool ok = i < 60;\n"
    _, plan = sanitized(f"{body}float v = x0[i + 4];\ny0[i] = ok ? v : 0;", [X], [X])
    assert [(f.kind, f.where, f.count) for f in seen(plan)] == [(BOUNDS_READ, "source:3:11", 4)]
    _, plan = sanitized(f"{body}float v = x0[i + 4];\ny0[i] = 1;", [X], [X])
    assert [(f.kind, f.where, f.count) for f in seen(plan)] == [(BOUNDS_READ, "source:3:11", 4)]
    result, plan = sanitized(f"{body}y0[i] = ok ? x0[i + 4] : 0;", [X], [X])
    assert seen(plan) == []
    assert np.array_equal(result[0], np.r_[np.arange(4, 64), np.zeros(4)])


def test_the_loads_of_the_documentation_in_front_of_the_mask():
    """Its grid_sample reads four neighbours and looks later whether they are inside."""
    width = 8
    x = mx.random.uniform(shape=(1, width, width, 1))
    at = mx.array(np.float32([[-1, -1], [1, 1], [0, 0], [0.1, 0.2]])).reshape(1, 2, 2, 2)
    body = """\
uint elem = thread_position_in_grid.x;
int H = x0_shape[1];
int W = x0_shape[2];
int C = x0_shape[3];
uint grid_idx = elem / C * 2;
float ix = ((x1[grid_idx] + 1) * W - 1) / 2;
float iy = ((x1[grid_idx + 1] + 1) * H - 1) / 2;
int ix_nw = floor(ix);
int iy_nw = floor(iy);
float I_nw = x0[iy_nw * W * C + ix_nw * C];
float I_se = x0[(iy_nw + 1) * W * C + (ix_nw + 1) * C];
I_nw = iy_nw >= 0 && iy_nw <= H - 1 && ix_nw >= 0 && ix_nw <= W - 1 ? I_nw : 0;
I_se = iy_nw + 1 <= H - 1 && ix_nw + 1 <= W - 1 ? I_se : 0;
y0[elem] = I_nw + I_se;
"""
    _, plan = sanitized(body, [x, at], [mx.zeros((4,))], threads=4, group=4)
    found = [(f.kind, f.where, f.array, f.offset, f.thread[0], f.count) for f in seen(plan)]
    assert found == [
        (BOUNDS_READ, "source:10:14", "x0", -4 * (width + 1), 0, 1),
        (BOUNDS_READ, "source:11:14", "x0", 4 * width * (width + 1), 1, 1),
    ]


def test_nothing_is_told_of_other_builds():
    from anymetal.targets.cpu.variant import variant_for

    plain, watched = (variant_for((64, 1, 1), (64, 1, 1), sanitized=s) for s in (False, True))
    assert plain != watched and watched.checked and not plain.checked
    assert not re.search("sanitized", plain.text)


def test_what_one_launch_has_done_is_not_held_against_the_next():
    """Launches that are alike get the memory of the one before, as that left it."""
    body = "uint i = thread_position_in_grid.x; y0[x0[i]] = i; y0[x0[i]] += 1;"
    kernel = anymetal.metal_kernel("permuted", ["x0"], ["y0"], body)
    with watching() as plans:
        for shift in (0, 1, 17, 0):
            order = (np.arange(4096) + shift) % 4096
            (y,) = kernel(
                inputs=[mx.array(order)], output_shapes=[(4096,)], output_dtypes=[mx.int32],
                grid=(4096, 1, 1), threadgroup=(64, 1, 1),
            )  # fmt: skip
            assert np.array_equal(np.array(y)[order], np.arange(4096) + 1)
    (plan,) = plans
    told = plan.take()
    assert [len(one.findings) for one in told] == [0] * 4


def test_a_vector_that_is_not_aligned():
    body = "uint i = thread_position_in_grid.x;\nfloat4 v = *(const device float4*)(x0 + {});\n"
    body += "y0[i] = v.x;"
    _, plan = sanitized(body.format("i % 32"), [X], [X])
    assert [(f.kind, f.where, f.offset, f.count) for f in seen(plan)] == [
        (MISALIGNED, "source:2:12", 4, 48)
    ]
    _, plan = sanitized(body.format("i / 4 * 4"), [X], [X])
    assert seen(plan) == []


def test_a_view_that_runs_backwards_begins_where_its_memory_does():
    view = mx.as_strided(X, (32,), (-2,), 63)
    body = "uint i = thread_position_in_grid.x;\nif (i < {}) y0[i] = x0[-2 * int(i)];"
    for threads, expected in ((32, []), (33, [(BOUNDS_READ, "x0", -8, 32)])):
        _, plan = sanitized(
            body.format(threads), [view], [X], ensure_row_contiguous=False, init_value=0
        )
        found = [(f.kind, f.array, f.offset, f.thread[0]) for f in seen(plan)]
        assert [one for one in found if one[0] <= MISALIGNED] == expected


def test_nan_is_looked_for_only_on_request(monkeypatch):
    def found(zero: int) -> list[int]:
        body = f"uint i = thread_position_in_grid.x;\ny0[i] = 1 / (x0[i] - {zero});"
        _, plan = sanitized(body, [X], [X])
        return [one.kind for one in seen(plan)]

    assert found(1) == []
    monkeypatch.setattr(SanitizedPlan, "__init__", partialmethod(SanitizedPlan.__init__, nan=True))
    assert found(2) == [NOT_A_NUMBER]
