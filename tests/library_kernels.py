"""A Metal file with kernels of many kinds, and what it takes to call them."""

from __future__ import annotations

import ctypes
from typing import Any

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction

TEXT = """
#include <metal_stdlib>
using namespace metal;

constant int stride [[function_constant(0)]];
constant bool has_more [[function_constant(1)]];

struct Line { float a; float b; };

template <typename T>
[[kernel]] void add(device const T* x [[buffer(0)]], device T* y [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) { y[i] = x[i] + y[i]; }
#define ADD(NAME, T) template [[host_name("add_" #NAME)]] [[kernel]] decltype(add<T>) add<T>;
ADD(uint8, uchar) ADD(int8, char) ADD(uint16, ushort) ADD(int16, short) ADD(uint32, uint)
ADD(int32, int) ADD(uint64, ulong) ADD(int64, long) ADD(float16, half) ADD(bfloat16, bfloat)
ADD(float32, float)

kernel void invert(device bool* y, uint i [[thread_position_in_grid]]) { y[i] = !y[i]; }

kernel void line(device const float* x, constant Line& of, device float* y,
                 uint i [[thread_position_in_grid]]) { y[i] = of.a * x[i] + of.b; }

kernel void line_gradient(device const float* dy, constant Line& of, device float* dx,
                          uint i [[thread_position_in_grid]]) { dx[i] = of.a * dy[i]; }

kernel void several(device const int* x, device int* twice, device atomic_int* sum,
                    device int* every, device int* more [[function_constant(has_more)]],
                    uint i [[thread_position_in_grid]]) {
  twice[i] = 2 * x[i];
  atomic_fetch_add_explicit(sum, x[i], memory_order_relaxed);
  if (i % stride == 0) every[i / stride] = x[i];
  if (has_more) more[i] = 3 * x[i];
}

kernel void sums(device const float* x, device float* y, threadgroup float* kept,
                 uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                 uint g [[threadgroup_position_in_grid]], uint n [[threads_per_threadgroup]]) {
  kept[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) for (uint k = 0; k < n; k++) y[g] += kept[k];
}

kernel void stray(device const float* x, constant long& far, device float* y,
                  uint i [[thread_position_in_grid]]) {
  y[i] += 1;
  y[i] += x[i == 3 ? far : i];
}

kernel void tick(device const atomic_int* ticks, device int* y) {
  atomic_fetch_add_explicit((device atomic_int*)ticks, 1, memory_order_relaxed);
  y[0] = 7;
}

kernel void silent(device const float* x, uint i [[thread_position_in_grid]]) {}

template <typename T> kernel void wrong(device T* y) { y[0] = T::nothing; }
template [[host_name("broken")]] [[kernel]] decltype(wrong<float>) wrong<float>;
"""
FLOATS = ((8,), mx.float32)


class Line(ctypes.Structure):
    _fields_ = [("a", ctypes.c_float), ("b", ctypes.c_float)]


def run(kernel: LibraryFunction, *values: Any, threads: int, **more: Any) -> list[Any]:
    return kernel(*values, **({"grid": threads, "threadgroup": 32} | more))


def random(shape: tuple[int, ...], dtype: str = "float32", seed: int = 0) -> mx.array:
    """Small numbers, which all types of numbers have."""
    return mx.array(np.random.default_rng(seed).integers(0, 50, shape)).astype(getattr(mx, dtype))
