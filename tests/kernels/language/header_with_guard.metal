// A header with guards, a pragma, and its own includes, as a file would have it.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x * 2
// header:
#pragma once
#ifndef MY_HEADER_H
#define MY_HEADER_H
#include <metal_stdlib>
#include <metal_simdgroup>
#include <metal_atomic>
#if !defined(__METAL_VERSION__)
#error "for Metal"
#endif
#ifdef __APPLE__
#define SCALE 2
#else
#define SCALE 2
#endif
using namespace metal;
namespace { inline float scaled(float v) { return v * SCALE; } }
#endif  // MY_HEADER_H
// body:
y[thread_position_in_grid.x] = scaled(x[thread_position_in_grid.x]);
