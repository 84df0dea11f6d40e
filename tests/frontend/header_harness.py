"""Runs Metal functions one thread at a time: the headers without vectorizer and launch.

A translation unit gets scalar definitions of the intrinsics, is compiled by the same Clang with the
same language flags, linked and loaded into this process. Cross-lane intrinsics answer from tables
that a test fills in: the headers' own part, which lane asks for which, can be checked like that.
"""

from __future__ import annotations

import ctypes
import functools
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anymetal import targets
from anymetal.frontend import clang
from anymetal.runtime.zig import link_shared, path_of, zig_path

# What a compiler's runtime library supplies: conversions of half and bfloat on processors without
# them. And the intrinsics: positions are variables, lanes are the 32 entries of `values`.
_SUPPORT = (
    f"""
#include "{Path(targets.__file__).with_name("large_angles.h")}"
"""
    + """
extern "C" {
float __extendhfsf2(_Float16 x) {
  unsigned b = __builtin_bit_cast(unsigned short, x);
  unsigned sign = (b & 0x8000) << 16, magnitude = b & 0x7fff;
  if (magnitude >= 0x7c00)
    return __builtin_bit_cast(float, sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  float value = __builtin_bit_cast(float, magnitude << 13) * 0x1p112f;
  return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, value) | sign);
}
_Float16 __truncsfhf2(float x) {
  unsigned b = __builtin_bit_cast(unsigned, x), sign = b >> 16 & 0x8000, m = b & 0x7fffffff, r;
  if (m > 0x7f800000) r = 0x7e00;
  else if (m >= 0x47800000) r = 0x7c00;
  else if (m < 0x38800000)  // subnormal: adding 0.5 aligns the bits, and the addition rounds
    r = __builtin_bit_cast(unsigned, __builtin_bit_cast(float, m) + 0.5f) - 0x3f000000;
  else r = (m + 0xfff + (m >> 13 & 1) - 0x38000000) >> 13;
  return __builtin_bit_cast(_Float16, (unsigned short)(sign | r));
}
__bf16 __truncsfbf2(float x) {
  unsigned b = __builtin_bit_cast(unsigned, x);
  unsigned r = x != x ? b >> 16 | 0x40 : (b + 0x7fff + (b >> 16 & 1)) >> 16;
  return __builtin_bit_cast(__bf16, (unsigned short)r);
}

unsigned am_position[17];
unsigned am_lane_values[32], am_active = ~0u, am_votes, am_barriers[2];
#define AM_POSITION(i, name) unsigned __am_##name() { return am_position[i]; }
AM_POSITION(0, lane) AM_POSITION(1, gang)
AM_POSITION(2, thread_x) AM_POSITION(3, thread_y) AM_POSITION(4, thread_z)
AM_POSITION(5, group_x) AM_POSITION(6, group_y) AM_POSITION(7, group_z)
AM_POSITION(8, size_x) AM_POSITION(9, size_y) AM_POSITION(10, size_z)
AM_POSITION(11, full_size_x) AM_POSITION(12, full_size_y) AM_POSITION(13, full_size_z)
AM_POSITION(14, grid_x) AM_POSITION(15, grid_y) AM_POSITION(16, grid_z)

void __am_threadgroup_barrier(unsigned flags) { am_barriers[0] = flags; }
void __am_simdgroup_barrier(unsigned flags) { am_barriers[1] = flags; }
// The highest bit tells two values of a lane apart: all lanes set it in one of two shuffles.
unsigned __am_shuffle(unsigned value, unsigned lane) {
  if (lane == am_position[0]) return value;
  if (lane >= 32 || !(am_active >> lane & 1)) return 0;
  return am_lane_values[lane] | (value & 0x80000000);
}
// Other lanes vote as `am_votes` says; a constant `true` asks for the active lanes.
bool __am_scales() { return false; }
float __am_scale(float number, float exponent) { return number * __builtin_exp2f(exponent); }
unsigned long __am_large_angle(float angle, unsigned long shift, unsigned long offset) {
  return large_angles::packed(angle, shift, offset);
}

unsigned __am_ballot(bool mine) {
  unsigned own = 1u << am_position[0];
  return mine ? (am_votes | own) & am_active : am_votes & ~own & am_active;
}
// A reduction answers with the name that it was called by, and passes its argument through.
const char* am_called;
#define AM_UNARY(T, name) T __am_##name(T x) { am_called = #name; return x; }
AM_UNARY(float, reduce_add_f32) AM_UNARY(float, reduce_mul_f32)
AM_UNARY(float, reduce_min_f32) AM_UNARY(float, reduce_max_f32)
AM_UNARY(int, reduce_add_i32) AM_UNARY(int, reduce_mul_i32)
AM_UNARY(int, reduce_min_i32) AM_UNARY(int, reduce_max_i32)
AM_UNARY(unsigned, reduce_add_u32) AM_UNARY(unsigned, reduce_mul_u32)
AM_UNARY(unsigned, reduce_min_u32) AM_UNARY(unsigned, reduce_max_u32)
AM_UNARY(unsigned, reduce_and_u32) AM_UNARY(unsigned, reduce_or_u32)
AM_UNARY(unsigned, reduce_xor_u32)
AM_UNARY(float, scan_add_f32) AM_UNARY(float, scan_mul_f32)
AM_UNARY(float, xscan_add_f32) AM_UNARY(float, xscan_mul_f32)
AM_UNARY(unsigned, scan_add_u32) AM_UNARY(unsigned, scan_mul_u32)
AM_UNARY(unsigned, xscan_add_u32) AM_UNARY(unsigned, xscan_mul_u32)
}
"""
)

#: NumPy's types (bfloat has none: its bits) and the names of the same types in Metal.
METAL_TYPES: dict[Any, str] = {
    np.bool_: "bool",
    np.int8: "char",
    np.uint8: "uchar",
    np.int16: "short",
    np.uint16: "ushort",
    np.int32: "int",
    np.uint32: "uint",
    np.int64: "long",
    np.uint64: "ulong",
    np.float16: "half",
    np.float32: "float",
}
INTEGERS = [t for t in METAL_TYPES if np.issubdtype(t, np.integer)]

Array = np.ndarray[Any, Any]


def compile_metal(text: str) -> ctypes.CDLL:
    """Load `text`, Metal code with `extern "C"` functions, as a shared library."""
    return _compile(text)


@functools.cache
def _compile(text: str) -> ctypes.CDLL:
    flags = [flag for flag in clang.flags("safe") if flag != "-disable-llvm-passes"]
    command = [str(zig_path()), "clang", "-cc1", *flags, "-O1"]
    command += "-mrelocation-model pic -pic-level 2 -emit-obj -o - -".split()
    unit = f'#include "anymetal/umbrella.h"\n{text}\n{_SUPPORT}'
    done = subprocess.run(command, input=unit.encode(), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[:5000]
    with tempfile.NamedTemporaryFile(suffix=".so") as file:
        file.write(link_shared(done.stdout))
        file.flush()
        return ctypes.CDLL(file.name)


def messages(text: str) -> str:
    """What Clang says about `text` after the umbrella header; empty if it compiles, whether or not
    Metal would compile it."""
    command = [str(zig_path()), "clang", "-cc1", *clang.flags("safe"), "-include-pch"]
    header = clang.precompiled_header("safe")
    command += [path_of(header), "-fsyntax-only", "-Wno-user-defined-warnings", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, pass_fds=[header])
    return done.stderr


class Functions:
    """Elementwise functions: each is an expression in x, y, z (elements of the inputs).

    `add` names them all first; the first `run` compiles them in one translation unit.
    """

    def __init__(self, preamble: str = "") -> None:
        self._text = [preamble]

    def add(self, name: str, expression: str, inputs: Sequence[str], output: str) -> None:
        """Declare `output name(inputs)`, types by their Metal names."""
        letters = "xyzw"[: len(inputs)]
        parameters = "".join(f"const {t}* p{c}, " for t, c in zip(inputs, letters, strict=True))
        locals_ = "".join(f"{t} {c} = p{c}[i]; " for t, c in zip(inputs, letters, strict=True))
        self._text.append(
            f'extern "C" void {name}(long n, {parameters}{output}* out) '
            f"{{ for (long i = 0; i < n; ++i) {{ {locals_}out[i] = {expression}; }} }}"
        )

    @functools.cached_property
    def library(self) -> ctypes.CDLL:
        return compile_metal("\n".join(self._text))

    def run(self, name: str, *inputs: Array, dtype: Any, width: int = 1) -> Array:
        """Results of one function, `width` elements of `dtype` for each element of the inputs."""
        arrays = [np.ascontiguousarray(array) for array in inputs]
        count = len(arrays[0])
        shape = (count,) if width == 1 else (count, width)
        out = np.zeros(shape, dtype)
        function: Callable[..., None] = getattr(self.library, name)
        function(
            ctypes.c_long(count),
            *(array.ctypes.data_as(ctypes.c_void_p) for array in arrays),
            out.ctypes.data_as(ctypes.c_void_p),
        )
        return out


def ulp_error(actual: Array, exact: Array) -> Array:
    """Distance of `actual` from the exact values in units of the last place of its own type.

    Equal infinities and NaNs are 0 apart. Overflow to infinity counts as the next number.
    """
    kind = actual.dtype.type
    info = np.finfo(kind)
    with np.errstate(all="ignore"):
        nearest = exact.astype(kind)
        unit = np.spacing(np.minimum(np.abs(nearest), info.max).astype(kind)).astype(np.float64)
        unit = np.maximum(unit, float(info.smallest_subnormal))
        error = np.abs(actual.astype(np.float64) - exact) / unit
    same = (np.isnan(actual) & np.isnan(exact)) | (actual == nearest) & np.isinf(nearest)
    return np.where(same, 0.0, np.where(np.isnan(error), np.inf, error))


_STORE = """
template <typename T> int am_store(double* out, T x) { out[0] = double(x); return 1; }
int am_store(double* out, half x) { out[0] = float(x); return 1; }
int am_store(double* out, bfloat x) { out[0] = float(x); return 1; }
template <typename T, int N> int am_store(double* out, vec<T, N> x) {
  for (int i = 0; i < N; ++i) am_store(out + i, x[i]);
  return N;
}
template <typename T, int N> int am_store(double* out, packed_vec<T, N> x) {
  return am_store(out, vec<T, N>(x));
}
template <typename T, int C, int R> int am_store(double* out, matrix<T, C, R> x) {
  for (int i = 0; i < C; ++i) am_store(out + i * R, x[i]);
  return C * R;
}
template <typename T> int am_store(double* out, complex_t<T> x) {
  am_store(out, x.real);
  return 1 + am_store(out + 1, x.imag);
}
"""


class Expressions:
    """Rows of `statements → expression`, each a function that returns its components.

    `preamble` stands in front of the functions, `variables` at the beginning of each.
    """

    def __init__(self, rows: Sequence[str], variables: str = "", preamble: str = "") -> None:
        self._rows = list(rows)
        functions = (
            f'extern "C" int row{i}(double* out) {{ {variables}\n{self._function(row)} }}'
            for i, row in enumerate(rows)
        )
        self._text = "\n".join([preamble, _STORE, *functions])

    @staticmethod
    def _function(row: str) -> str:
        """The last `;`-separated part is the result, what stands before it are statements."""
        *statements, expression = row.split(";")
        return f"{';'.join([*statements, ''])} return am_store(out, {expression});"

    @functools.cached_property
    def library(self) -> ctypes.CDLL:
        return compile_metal(self._text)

    def __call__(self, row: str) -> list[float]:
        """Components of the result of one row; 64-bit integers are exact up to 2^53."""
        out = (ctypes.c_double * 16)()
        count = getattr(self.library, f"row{self._rows.index(row)}")(out)
        return list(out[:count])


def table(text: str) -> dict[str, str]:
    """`left => right` lines; blank lines and lines that start with # are skipped."""
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.split(" => ") for line in lines if line and not line.startswith("#"))
    return {left.strip(): right.strip() for left, right in pairs}
