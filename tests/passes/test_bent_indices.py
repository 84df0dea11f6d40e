"""Clamped, wrapped and chosen indices: which have an interior, and that numbers are right."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx import core as mx

from anymetal.analysis.cache import LaunchFacts
from anymetal.ir.model import Program
from anymetal.ir.spec import Stage, check
from anymetal.passes import version_by_bounds
from anymetal.testing.fenced import run_fenced
from tests.compiling import known_of
from tests.frontend.kernels import kernel_source
from tests.ir.programs import ops, program

#: %i is the place of the thread in a row; the load is from %j.
_ENTRY = """
entry:
  %g = call i32 @__am_group_x()
  %s = shl i32 %g, 5
  %t = call i32 @__am_thread_x()
  %i = add i32 %s, %t
  %n = load i32, ptr %shape
"""
_LOAD = """
  %w = zext i32 %j to i64
  %x = getelementptr float, ptr %a, i64 %w
  %v = load float, ptr %x
  %o = zext i32 %i to i64
  %y = getelementptr float, ptr %out, i64 %o
  store float %v, ptr %y
  ret void
"""
_SUM = "%e = add i32 %i, 3\n"
BENT = {
    "largest": _SUM + "%j = call i32 @llvm.smin.i32(i32 %e, i32 999)",
    "limit first": _SUM + "%j = call i32 @llvm.umin.i32(i32 999, i32 %e)",
    "row and column": "%r = udiv i32 %i, 1000\n%c = urem i32 %i, 1000\n%p = mul i32 %r, 1024\n"
    "%j = add i32 %p, %c",
    "row of a sum": "%e = add i32 %i, -3\n%j = sdiv i32 %e, 1000",
    "least": "%e = add i32 %i, -3\n%j = call i32 @llvm.smax.i32(i32 %e, i32 0)",
    "to zero": "%j = call i32 @llvm.usub.sat.i32(i32 %i, i32 3)",
    "both": _SUM
    + "%k = call i32 @llvm.smax.i32(i32 %e, i32 0)\n"
    + "%j = call i32 @llvm.smin.i32(i32 %k, i32 999)",
    "mirrored": "%e = add i32 %i, -3\n%j = call i32 @llvm.abs.i32(i32 %e, i1 false)",
    "wrapped": "%e = add i32 %i, 1001\n%j = urem i32 %e, 1000",
    "wrapped as signed": "%e = add i32 %i, 1001\n%j = srem i32 %e, 1000",
    "masked": _SUM + "%j = and i32 %e, 1023",
    "wrapped twice": _SUM + "%k = srem i32 %e, 1000\n%l = add i32 %k, 1000\n%j = srem i32 %l, 1000",
    "one in front": "%c = icmp eq i32 %i, 0\n%e = add i32 %i, -1\n"
    "%j = select i1 %c, i32 999, i32 %e",
    "wrapped by a choice": "%e = add i32 %i, 1\n%d = sub i32 %e, 1000\n%c = icmp slt i32 %e, 1000\n"
    "%j = select i1 %c, i32 %e, i32 %d",
}
STRAIGHT = {
    "only a place": "%j = and i32 %i, 1023",
    "a short row": _SUM + "%j = and i32 %e, 31",
    "no row": _SUM + "%j = and i32 %e, 1000",
    "a hash": "%h = mul i32 %i, %i\n%e = add i32 %h, 3\n%j = urem i32 %e, 1000",
    "the same for all lanes": "%e = add i32 %g, 3\n%j = call i32 @llvm.smin.i32(i32 %e, i32 999)",
    "known when compiling": "%e = add i32 %t, 3\n%l = call i32 @__am_lane()\n"
    "%j = call i32 @llvm.umin.i32(i32 %l, i32 30)",
    "a limit for all launches": _SUM + "%j = call i32 @llvm.smin.i32(i32 %e, i32 %n)",
    "a limit of two": _SUM + "%k = call i32 @llvm.smax.i32(i32 %e, i32 0)\n"
    "%j = call i32 @llvm.smin.i32(i32 %k, i32 %n)",
    "divisor may be zero": _SUM + "%j = urem i32 %e, %n",
    "whole rows": "%j = urem i32 %i, 960",
    "from memory": "%p = getelementptr float, ptr %a, i32 %i\n"
    "%e = load i32, ptr %p\n%j = call i32 @llvm.smin.i32(i32 %e, i32 999)",
    "which of both": "%e = add i32 %i, 1\n%d = sub i32 999, %i\n%c = icmp slt i32 %n, 70\n"
    "%j = select i1 %c, i32 %e, i32 %d",
}


def _versioned(index: str) -> tuple[Program, bool]:
    kernel = program(
        _ENTRY + index + _LOAD,
        "ptr %a, ptr %shape, ptr %out",
    )
    kernel.args[1].describes = True
    known = known_of(kernel, LaunchFacts(True, True, flat=True, whole=True))
    changed = version_by_bounds.run(known)
    check(kernel, Stage.GANG)
    return kernel, changed


@pytest.mark.parametrize("name", BENT)
def test_the_interior_is_straight(name: str) -> None:
    kernel, changed = _versioned(BENT[name])
    assert changed
    inner = next(b for b in kernel.blocks if b.name.endswith("$inner"))
    found = [i.op if i.op != "call" else i.arg for i in inner.instrs]
    assert "load" in found and "store" in found
    assert not {"urem", "srem", "udiv", "sdiv", "select", "and", "icmp"} & set(found)
    assert not [one for one in found if one.startswith("llvm.")]


@pytest.mark.parametrize("name", STRAIGHT)
def test_what_has_no_interior(name: str) -> None:
    kernel, changed = _versioned(STRAIGHT[name])
    assert not changed
    assert ops(kernel).count("load") <= 3


# ------------------------------------------------------------------------------------- results

#: An index `{e}`, a sum with an int of any sign, bent into a row of `n` elements; and NumPy's.
_FORMS: dict[str, tuple[str, Callable[[np.ndarray, int], np.ndarray]]] = {
    "clamp": ("metal::clamp({e}, 0, n - 1)", lambda e, n: np.clip(e, 0, n - 1)),
    "min of max": ("metal::min(metal::max({e}, 0), n - 1)", lambda e, n: np.clip(e, 0, n - 1)),
    "unsigned min": (
        "metal::min(uint({e}), uint(n - 1))",
        lambda e, n: np.minimum(e % 2**32, n - 1),
    ),
    "to zero": (
        "metal::min(metal::max(uint({e} + 4096), 4096u) - 4096u, uint(n - 1))",
        lambda e, n: np.clip(e, 0, n - 1),
    ),
    "modulo": ("(({e}) % n + n) % n", lambda e, n: e % n),
    "unsigned modulo": ("uint({e}) % uint(n)", lambda e, n: e % 2**32 % n),
    "mask": ("uint({e}) & 127u", lambda e, n: e % 128 % max(n, 128)),
    "absolute": ("metal::min(metal::abs({e}), n - 1)", lambda e, n: np.minimum(abs(e), n - 1)),
    "reflected": (
        "reflected({e}, n)",
        lambda e, n: np.clip(np.where(abs(e) >= n, 2 * n - 2 - abs(e), abs(e)), 0, n - 1),
    ),
    "either": (
        "({e}) < 0 || ({e}) >= n ? 0 : ({e})",
        lambda e, n: np.where((e < 0) | (e >= n), 0, e),
    ),
    "torus by choice": (
        "torus({e}, n)",
        lambda e, n: np.clip(np.where(e < 0, e + n, np.where(e >= n, e - n, e)), 0, n - 1),
    ),
}
_HEADER = """
static int reflected(int e, int n) {
    if (e < 0) e = -e;
    if (e >= n) e = 2 * n - 2 - e;
    return metal::clamp(e, 0, n - 1);
}
static int torus(int e, int n) {
    int inside = e < 0 ? e + n : e >= n ? e - n : e;
    return metal::clamp(inside, 0, n - 1);
}
"""


@pytest.mark.parametrize("name", _FORMS)
@pytest.mark.parametrize("n", [1, 63, 64, 97, 128])
def test_each_place_of_a_gang(name: str, n: int) -> None:
    """Gangs that begin at each place from far in front of a row to far behind it."""
    text, form = _FORMS[name]
    body = f"""constexpr int n = {n};
               int px = thread_position_in_grid.x, py = thread_position_in_grid.y;
               out[py * 32 + px] = x[{text.format(e="px + py - 200")}];"""
    places = 200 + 2 * n + 200
    x = np.random.default_rng(n).integers(0, 1 << 20, max(n, 128)).astype(np.int32)
    source = kernel_source(
        body,
        _HEADER,
        inputs={"x": mx.zeros(x.size, mx.int32)},
        outputs={"out": mx.int32},
    )
    out = np.zeros((places, 32), np.int32)
    found = run_fenced(source, [x], out, (32, places, 1), (32, 4, 1))
    e = np.arange(32, dtype=np.int64) + np.arange(places)[:, None] - 200
    np.testing.assert_array_equal(found, x[form(e, n)])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_index(data: st.DataObject) -> None:
    """Sums of bent indices in grids of any size, against NumPy; arrays end at fences."""
    names = data.draw(st.lists(st.sampled_from(sorted(_FORMS)), min_size=1, max_size=3))
    length = data.draw(st.one_of(st.integers(1, 300), st.sampled_from([64, 128, 1024])))
    width = data.draw(st.one_of(st.integers(1, 300), st.just(length), st.just(256)))
    height = data.draw(st.integers(1, 9))
    by = [data.draw(st.integers(-70, 70)) for _ in names]
    step = data.draw(st.sampled_from([1, 1, 1, 2, -1]))
    group = data.draw(
        st.sampled_from([(32, 1, 1), (64, 2, 1), (16, 16, 1), (8, 4, 1), (256, 1, 1)])
    )
    dtype = data.draw(st.sampled_from(["float32", "int32", "uint8"]))
    flat = data.draw(st.booleans())  # row and column follow from one number
    size = max(length, 128)

    forms = [_FORMS[name] for name in names]
    terms = " + ".join(
        f"x[{text.format(e=f'{step} * px + by{k}')}] * T({k + 1})"
        for k, (text, _) in enumerate(forms)
    )
    place = (
        "uint elem = p.x; int px = elem % w, py = elem / w;"
        if flat
        else "int px = p.x, py = p.y, elem = py * w + px;"
    )
    shifts = " ".join(f"constexpr int by{k} = {number};" for k, number in enumerate(by))
    body = f"""using T = metal::remove_cvref_t<decltype(out[0])>;
               constexpr int n = {length}, w = {width}; uint3 p = thread_position_in_grid;"""
    body += f"{place} {shifts} out[elem] = {terms} + T(py) * x[px % {size}];"

    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    x = random.integers(0, 40, size).astype(dtype)
    source = kernel_source(
        body,
        _HEADER,
        inputs={"x": mx.zeros(size, getattr(mx, dtype))},
        outputs={"out": getattr(mx, dtype)},
    )
    grid = (width * height, 1, 1) if flat else (width, height, 1)
    out = np.zeros((height, width), dtype)
    found = run_fenced(source, [x], out, grid, (group[0], 1, 1) if flat else group)

    px = np.arange(width, dtype=np.int64)
    rows = [x[form(step * px + move, length)] * (k + 1)
            for k, ((_, form), move) in enumerate(zip(forms, by, strict=True))]  # fmt: skip
    heights = np.arange(height)[:, None] * x[px % size].astype(np.int64)
    expected = (np.sum(rows, axis=0, dtype=np.int64) + heights).astype(dtype)
    np.testing.assert_array_equal(found, expected)
