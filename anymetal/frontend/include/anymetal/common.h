// <metal_common>: saturate, sign, mix, step, smoothstep. clamp is with the minima and maxima.
#pragma once

namespace metal {

#define AM_COMMON(T)                                                          \
  constexpr T saturate(T x) { return clamp(x, T(0), T(1)); }                  \
  constexpr T sign(T x) {                                                     \
    return x > T(0) ? T(1) : x < T(0) ? T(-1) : x == T(0) ? copysign(T(0), x) : T(0); \
  }                                                                           \
  constexpr T mix(T x, T y, T a) { return x + (y - x) * a; }                  \
  constexpr T step(T edge, T x) { return x < edge ? T(0) : T(1); }            \
  constexpr T smoothstep(T edge0, T edge1, T x) {                             \
    const T t = saturate((x - edge0) / (edge1 - edge0));                      \
    return t * t * (T(3) - T(2) * t);                                         \
  }
AM_FOR_FLOATS(AM_COMMON)
#undef AM_COMMON

AM_MAP1(saturate)
AM_MIXED1(unify_floating, saturate)
AM_MAP1(sign)
AM_MIXED1(unify_floating, sign)
AM_MAP3(mix)
AM_MIXED3(unify_floating, mix)
AM_MAP2(step)
AM_MIXED2(unify_floating, step)
AM_MAP3(smoothstep)
AM_MIXED3(unify_floating, smoothstep)

namespace precise {
using metal::saturate;
}
namespace fast {
using metal::saturate;
}

}  // namespace metal
