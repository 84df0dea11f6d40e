// What editors need to understand Metal texts: `anymetal init` has them read this first. Kernels that run
// never see it.
//
// The body of a kernel is no whole text. In editors METAL_BODY opens a function around it, which has what
// the body names: its arrays as arguments, and all that Metal tells a thread.
//
//     #ifdef METAL_BODY
//     METAL_BODY(const device float* x, device float* y) {
//     #endif
//     uint i = thread_position_in_grid.x;
//     y[i] = 2 * x[i];
//     #ifdef METAL_BODY
//     }
//     #endif
#pragma once

#include "umbrella.h"

// Functions that render, which have keywords of their own.
#define vertex
#define fragment
// A keyword that means nothing, and may be an attribute: threadgroup float* a [[threadgroup(0)]].
#undef threadgroup
#define threadgroup __w64

#define METAL_BODY(...)                                                                        \
  [[maybe_unused]] static void metal_body(                                                     \
      __VA_ARGS__ __VA_OPT__(, ) uint3 thread_position_in_grid,                                \
      uint3 thread_position_in_threadgroup, uint3 threadgroup_position_in_grid,                \
      uint3 threads_per_threadgroup, uint3 dispatch_threads_per_threadgroup,                   \
      uint3 threads_per_grid, uint3 threadgroups_per_grid, uint3 grid_origin, uint3 grid_size, \
      uint threads_per_simdgroup, uint thread_execution_width, uint thread_index_in_simdgroup, \
      uint thread_index_in_quadgroup, uint simdgroup_index_in_threadgroup,                     \
      uint quadgroup_index_in_threadgroup, uint thread_index_in_threadgroup,                   \
      uint simdgroups_per_threadgroup, uint quadgroups_per_threadgroup,                        \
      uint dispatch_simdgroups_per_threadgroup, uint dispatch_quadgroups_per_threadgroup)
