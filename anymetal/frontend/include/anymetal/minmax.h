// Functions that exist for integers and for floating types under one name: min, max, their three
// argument forms, clamp, abs. Floating min and max return the operand that is not NaN.
//
// Each type has its own plain function, as in Metal, so that a template of the user's with the same
// name still loses against it; mixed arguments go to the AM_MIXED overloads.
#pragma once

#define AM_FOR_MATHS(M) M(float) M(half) AM_OF_BFLOAT(M(bfloat))

namespace metal {

constexpr float fmin(float a, float b) { return __builtin_fminf(a, b); }
constexpr float fmax(float a, float b) { return __builtin_fmaxf(a, b); }
constexpr float fabs(float a) { return __builtin_fabsf(a); }

// The narrow types select one of the operands, which needs no rounding back.
#define AM_NARROW(T)                                                      \
  constexpr T fmin(T a, T b) {                                            \
    const float x = a;                                                    \
    const float y = b;                                                    \
    return (y < x || x != x) ? b : a;                                     \
  }                                                                       \
  constexpr T fmax(T a, T b) {                                            \
    const float x = a;                                                    \
    const float y = b;                                                    \
    return (y > x || x != x) ? b : a;                                     \
  }                                                                       \
  constexpr T fabs(T a) {                                                 \
    return __builtin_bit_cast(T, ushort(__builtin_bit_cast(ushort, a) & 0x7fff)); \
  }
AM_NARROW(half)
AM_OF_BFLOAT(AM_NARROW(bfloat))
#undef AM_NARROW

#define AM_FLOATING(T)                                                            \
  constexpr T min(T a, T b) { return fmin(a, b); }                                \
  constexpr T max(T a, T b) { return fmax(a, b); }                                \
  constexpr T abs(T a) { return fabs(a); }                                        \
  constexpr T fmin3(T a, T b, T c) { return fmin(fmin(a, b), c); }                \
  constexpr T fmax3(T a, T b, T c) { return fmax(fmax(a, b), c); }                \
  constexpr T fmedian3(T a, T b, T c) {                                           \
    return fmax(fmin(a, b), fmin(fmax(a, b), c));                                 \
  }
AM_FOR_MATHS(AM_FLOATING)
#undef AM_FLOATING

#define AM_INTEGER(T)                                        \
  constexpr T min(T a, T b) { return b < a ? b : a; }        \
  constexpr T max(T a, T b) { return a < b ? b : a; }        \
  constexpr T abs(T a) { return a < T(0) ? T(0 - a) : a; }
AM_FOR_INTEGERS(AM_INTEGER)
#undef AM_INTEGER

#define AM_BOTH(T)                                                                \
  constexpr T min3(T a, T b, T c) { return min(min(a, b), c); }                   \
  constexpr T max3(T a, T b, T c) { return max(max(a, b), c); }                   \
  constexpr T median3(T a, T b, T c) { return max(min(a, b), min(max(a, b), c)); } \
  constexpr T clamp(T a, T low, T high) { return min(max(a, low), high); }
AM_FOR_MATHS(AM_BOTH)
AM_FOR_INTEGERS(AM_BOTH)
#undef AM_BOTH

#define AM_BINARY(type, name) AM_MAP2(name) AM_MIXED2(type, name)
#define AM_TERNARY(type, name) AM_MAP3(name) AM_MIXED3(type, name)
AM_MAP1(abs)
AM_MIXED1(unify, abs)
AM_MAP1(fabs)
AM_MIXED1(unify_floating, fabs)
AM_BINARY(unify, min)
AM_BINARY(unify, max)
AM_BINARY(unify_floating, fmin)
AM_BINARY(unify_floating, fmax)
AM_TERNARY(unify, min3)
AM_TERNARY(unify, max3)
AM_TERNARY(unify, median3)
AM_TERNARY(unify, clamp)
AM_TERNARY(unify_floating, fmin3)
AM_TERNARY(unify_floating, fmax3)
AM_TERNARY(unify_floating, fmedian3)
#undef AM_BINARY
#undef AM_TERNARY
#undef AM_FOR_MATHS

}  // namespace metal
