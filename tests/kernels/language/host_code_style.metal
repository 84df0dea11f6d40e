// A whole library of helpers in a header: guards, pragmas, macros that define functions.
// input: x = float32[40] uniform(0.5, 2)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x * x + 1 / x + 2
// close: 1e-6
// header:
#pragma once
#pragma METAL fp math_mode(safe)
#ifndef MY_LIBRARY_H
#define MY_LIBRARY_H
#include <metal_stdlib>
#include <metal_simdgroup>
#define DEFINE_UNARY(name, expression)                 \
  template <typename T>                                \
  struct name {                                        \
    T operator()(T x) const { return T(expression); }  \
  };
DEFINE_UNARY(Square, x * x)
DEFINE_UNARY(Inverse, 1 / x)
#undef DEFINE_UNARY
template <typename T, typename... Ops>
inline T sum_of(T x, Ops... ops) { return (ops(x) + ...); }
#endif  // MY_LIBRARY_H
// body:
uint t = thread_position_in_grid.x;
if (t >= threads_per_grid.x) return;
y[t] = sum_of(x[t], Square<float>(), Inverse<float>{}, [](float) { return 2.0f; });
