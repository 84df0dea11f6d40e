// The types that Metal's compiler knows by itself. All else is in namespace metal only, which a text
// opens if it likes.
#pragma once

using metal::uchar, metal::ushort, metal::uint, metal::ulong, metal::half, metal::bfloat;
using metal::int8_t, metal::int16_t, metal::int32_t, metal::int64_t;
using metal::uint8_t, metal::uint16_t, metal::uint32_t, metal::uint64_t;
using metal::ptrdiff_t, metal::size_t, metal::intptr_t, metal::uintptr_t;
using metal::operator""h;

#define AM_VECTORS(T) using metal::T##2, metal::T##3, metal::T##4;
#define AM_TYPES(T) AM_VECTORS(T) AM_VECTORS(packed_##T)
AM_VECTORS(bool)
AM_TYPES(char)
AM_TYPES(uchar)
AM_TYPES(short)
AM_TYPES(ushort)
AM_TYPES(int)
AM_TYPES(uint)
AM_TYPES(long)
AM_TYPES(ulong)
AM_TYPES(half)
AM_TYPES(bfloat)
AM_TYPES(float)
#undef AM_TYPES
#undef AM_VECTORS

#define AM_MATRICES(T)                           \
  using metal::T##2x2, metal::T##2x3, metal::T##2x4; \
  using metal::T##3x2, metal::T##3x3, metal::T##3x4; \
  using metal::T##4x2, metal::T##4x3, metal::T##4x4;
AM_MATRICES(float)
AM_MATRICES(half)
#undef AM_MATRICES
