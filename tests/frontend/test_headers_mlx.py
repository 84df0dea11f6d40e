"""MLX's prelude: indexing, complex numbers, small functions, limits."""

from __future__ import annotations

import ctypes
import itertools

import mlx.core as mx
import numpy as np
import pytest

from tests.frontend.header_harness import Array, Expressions, Functions, messages, table

_INDEXING = """
struct Strides { int shape[5]; long a[5]; long b[5]; long c[5]; int ndim; };
extern "C" void locate(long n, const Strides* s, uint* out) {
  for (uint i = 0; i < n; ++i) out[i] = elem_to_loc(i, s->shape, s->a, s->ndim);
}
extern "C" void locate_wide(long n, const Strides* s, long* out) {
  for (long i = 0; i < n; ++i) out[i] = elem_to_loc(i, s->shape, s->a, s->ndim);
}
extern "C" void locate_xyz(long, const Strides* s, long* out) {
  int rest = 1;
  for (int i = 0; i < s->ndim - 2; ++i) rest *= s->shape[i];
  for (uint z = 0; z < rest; ++z)
    for (uint y = 0; y < s->shape[s->ndim - 2]; ++y)
      for (uint x = 0; x < s->shape[s->ndim - 1]; ++x) {
        uint3 e(x, y, z);
        long3 l = elem_to_loc_3_nd(e, s->shape, s->a, s->b, s->c, s->ndim);
        long2 two = elem_to_loc_2_nd(e, s->shape, s->a, s->b, s->ndim);
        bool same = l.x == elem_to_loc(e, s->shape, s->a, s->ndim) && all(l.xy == two);
        *out++ = same ? l.x : -1;
      }
}
template <int DIM, bool General> void walk(long n, const Strides* s, long* out, int step) {
  LoopedElemToLoc<DIM, long, General> looper(s->ndim);
  for (long i = 0; i < n; i += step) {
    out[i] = looper.location();
    step == 1 ? looper.next(s->shape, s->a) : looper.next(step, s->shape, s->a);
  }
}
#define WALK(name, DIM, General)                                                   \\
  extern "C" void name(long n, const Strides* s, long* out, int step) {            \\
    walk<DIM, General>(n, s, out, step);                                           \\
  }
WALK(walk_1, 1, true) WALK(walk_2, 2, true) WALK(walk_3, 3, true) WALK(walk_line, 1, false)
"""


class _Strides(ctypes.Structure):
    _fields_ = (
        ("shape", ctypes.c_int * 5),
        ("a", ctypes.c_long * 5),
        ("b", ctypes.c_long * 5),
        ("c", ctypes.c_long * 5),
        ("ndim", ctypes.c_int),
    )


def _strides(shape: tuple[int, ...], axes: list[int]) -> list[int]:
    """Element strides of a transposed array."""
    dense = np.zeros(tuple(shape[i] for i in axes), np.int8).transpose(np.argsort(axes))
    return list(dense.strides)


_SHAPES = [(7,), (3, 5), (4, 1, 6), (2, 3, 4, 5), (2, 3, 1, 4, 2)]


@pytest.fixture(scope="module")
def indexing() -> ctypes.CDLL:
    return Expressions([], preamble=_INDEXING).library


def _run(library: ctypes.CDLL, name: str, strides: _Strides, count: int, *more: int) -> Array:
    out = np.zeros(count, np.uint32 if name == "locate" else np.int64)
    getattr(library, name)(
        ctypes.c_long(count), ctypes.byref(strides), out.ctypes.data_as(ctypes.c_void_p), *more
    )
    return out


@pytest.mark.parametrize("shape", _SHAPES, ids=str)
def test_elem_to_loc(indexing: ctypes.CDLL, shape: tuple[int, ...]) -> None:
    ndim, count = len(shape), int(np.prod(shape))
    for axes in itertools.islice(itertools.permutations(range(ndim)), 6):
        a = _strides(shape, list(axes))
        indices = np.indices(shape).reshape(ndim, -1)
        wanted = (indices * np.array(a)[:, None]).sum(0)
        strides = _Strides(shape, tuple(a), tuple(2 * s for s in a), tuple(3 * s for s in a), ndim)
        for name in ("locate", "locate_wide"):
            assert _run(indexing, name, strides, count).tolist() == wanted.tolist()
        if ndim >= 2:
            assert _run(indexing, "locate_xyz", strides, count).tolist() == wanted.tolist()
        for name, step in itertools.product(("walk_1", "walk_2", "walk_3"), (1, 2, 5, 13)):
            walked = _run(indexing, name, strides, count, step)[::step]
            assert walked.tolist() == wanted[::step].tolist(), (name, step)
        if ndim == 1:
            assert _run(indexing, "walk_line", strides, count, 1).tolist() == wanted.tolist()


_VALUES = table("""
elem_to_loc_1(5, 3l) => 15
long v[] = {10, 1}; elem_to_loc_2(uint2(2, 3), v) => 32
long v[] = {100, 10, 1}; elem_to_loc_3(uint3(2, 3, 4), v) => 432
ceildiv(10, 3) => 4
ceildiv(9u, 3) => 3
complex64_t() => 0 0
complex64_t(1.5f, 2) => 1.5 2
complex64_t(3) => 3 0
complex64_t(half(0.5)) => 0.5 0
complex64_t(bfloat(0.5)) => 0.5 0
complex64_t(float2(1, 2)) => 1 2
complex64_t(complex32_t(1, 2)) => 1 2
float v = z; v => 1
float2 v = z; v => 1 2
int v = static_cast<int>(w); v => 3
-z => -1 -2
z + w => 4 6
z - w => -2 -2
z * w => -5 10
w / z => 2.2 -0.4
z + 1 => 2 2
1 - z => 0 -2
2.0f / z => 0.4 -0.8
z += w; z => 4 6
z += 1; z => 2 2
complex64_t(7, -7) % complex64_t(3, 3) => 1 2
z == complex64_t(1, 2) => 1
z < w => 1
z < complex64_t(1, 3) => 1
z >= w => 0
complex64_t(1, 1e30) / complex64_t(1e30, 1e30) => 0.5 0.5
log1p(complex64_t(1e-8f, 1e-9f)) => 1e-8 1e-9
log1p(complex64_t(3, 4)) => 1.7328679513998633 0.7853981633974483
hypot(3.0f, 4.0f) => 5
hypot(3e30f, 4e30f) => 5e30
hypot(INFINITY, NAN) => inf
hypot(0.0f, 0.0f) => 0
log1p(1e-10f) => 1e-10
log1p(-1.0f) => -inf
log1p(INFINITY) => inf
cast_to<bool>(0.0f) => 0
cast_to<bool>(-0.0f) => 0
cast_to<bool>(1e-40f) => 1
cast_to<bool>(complex64_t(0, 2)) => 1
cast_to<int>(2.5f) => 2
Limits<float>::max => inf
Limits<float>::finite_max => 3.4028234663852886e38
Limits<half>::finite_min => -65504
Limits<bfloat16_t>::min => -inf
Limits<int8_t>::min => -128
Limits<uint16_t>::max => 65535
Limits<int64_t>::finite_max > 0 => 1
Limits<bool>::max => 1
Limits<complex64_t>::min => -inf -inf
WorkPerThread<half>::n => 4
WorkPerThread<bool>::n => 8
sizeof(ConditionalType<true, char, int>::type) => 1
bfloat16_to_uint16(bfloat16_t(1)) => 16256
uint16_to_bfloat16(0x4000) => 2
is_complex_v<complex64_t> + 2 * is_complex_v<float> => 1
is_lane_convertible_v<int, bfloat> => 1
REDUCE_N_READS + RMS_LOOPED_LIMIT => 4100
""")


@pytest.fixture(scope="module")
def values() -> Expressions:
    return Expressions(list(_VALUES), "complex64_t z(1, 2), w(3, 4);")


@pytest.mark.parametrize("row", _VALUES)
def test_value(values: Expressions, row: str) -> None:
    assert values(row) == pytest.approx([float(v) for v in _VALUES[row].split()], rel=3e-7)


def test_log1p_keeps_small_arguments() -> None:
    functions = Functions()
    functions.add("log1p_float", "log1p(x)", ["float"], "float")
    x = np.float32(
        np.concatenate([10.0 ** np.linspace(-30, 30, 5000), np.linspace(-0.99, 9, 5000)])
    )
    actual = functions.run("log1p_float", x, dtype=np.float32)
    np.testing.assert_allclose(actual, np.log1p(x.astype(np.float64)), rtol=1e-6)


def test_names_of_every_dtype() -> None:
    """MLX's generator writes these names into signatures and template arguments."""
    names = "bool int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t".split()
    names += ["float16_t", "bfloat16_t", "float", "complex64_t"]
    dtypes = "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
    dtypes += ["float16", "bfloat16", "float32", "complex64"]
    checks = (
        f"static_assert(sizeof({name}) == {getattr(mx, dtype).size});"
        for name, dtype in zip(names, dtypes, strict=True)
    )
    assert messages("\n".join(checks)) == ""
