// <simd/simd.h>: the host's names of Metal's vectors, for headers that host and kernel share.
#pragma once

namespace simd {
using namespace metal;
}

#define AM_HOST_NAMES(T)               \
  typedef metal::T##2 vector_##T##2;   \
  typedef metal::T##3 vector_##T##3;   \
  typedef metal::T##4 vector_##T##4;   \
  typedef metal::T##2 simd_##T##2;     \
  typedef metal::T##3 simd_##T##3;     \
  typedef metal::T##4 simd_##T##4;
AM_HOST_NAMES(char)
AM_HOST_NAMES(uchar)
AM_HOST_NAMES(short)
AM_HOST_NAMES(ushort)
AM_HOST_NAMES(int)
AM_HOST_NAMES(uint)
AM_HOST_NAMES(long)
AM_HOST_NAMES(ulong)
AM_HOST_NAMES(half)
AM_HOST_NAMES(float)
#undef AM_HOST_NAMES

#define AM_HOST_MATRICES(C)                        \
  typedef metal::float##C##x2 matrix_float##C##x2; \
  typedef metal::float##C##x3 matrix_float##C##x3; \
  typedef metal::float##C##x4 matrix_float##C##x4; \
  typedef metal::float##C##x2 simd_float##C##x2;   \
  typedef metal::float##C##x3 simd_float##C##x3;   \
  typedef metal::float##C##x4 simd_float##C##x4;
AM_HOST_MATRICES(2)
AM_HOST_MATRICES(3)
AM_HOST_MATRICES(4)
#undef AM_HOST_MATRICES
