// The built-in inputs of a kernel: `__am_attr_<name>()` for each name of Metal's table. The
// generated function reads those that the body mentions.
#pragma once

// SIMD-groups are dense also in the smaller threadgroups at the edge of the grid.
inline uint3 __am_attr_thread_position_in_threadgroup() {
  return uint3(__am_thread_x(), __am_thread_y(), __am_thread_z());
}
inline uint3 __am_attr_threadgroup_position_in_grid() {
  return uint3(__am_group_x(), __am_group_y(), __am_group_z());
}
inline uint3 __am_attr_threads_per_threadgroup() {
  return uint3(__am_size_x(), __am_size_y(), __am_size_z());
}
inline uint3 __am_attr_dispatch_threads_per_threadgroup() {
  return uint3(__am_full_size_x(), __am_full_size_y(), __am_full_size_z());
}
inline uint3 __am_attr_threads_per_grid() {
  return uint3(__am_grid_x(), __am_grid_y(), __am_grid_z());
}
inline uint3 __am_attr_thread_position_in_grid() {
  return uint3(__am_group_x() * __am_full_size_x() + __am_thread_x(),
               __am_group_y() * __am_full_size_y() + __am_thread_y(),
               __am_group_z() * __am_full_size_z() + __am_thread_z());
}
inline uint3 __am_attr_threadgroups_per_grid() {
  return uint3((__am_grid_x() + __am_full_size_x() - 1) / __am_full_size_x(),
               (__am_grid_y() + __am_full_size_y() - 1) / __am_full_size_y(),
               (__am_grid_z() + __am_full_size_z() - 1) / __am_full_size_z());
}

// There is no stage-in region: it counts as the whole grid.
inline uint3 __am_attr_grid_origin() { return uint3(0); }
inline uint3 __am_attr_grid_size() { return __am_attr_threads_per_grid(); }

inline uint __am_attr_threads_per_simdgroup() { return 32; }
inline uint __am_attr_thread_execution_width() { return 32; }
inline uint __am_attr_thread_index_in_simdgroup() { return __am_lane(); }
inline uint __am_attr_thread_index_in_quadgroup() { return __am_lane() & 3; }
inline uint __am_attr_simdgroup_index_in_threadgroup() { return __am_gang(); }
inline uint __am_attr_quadgroup_index_in_threadgroup() {
  return __am_gang() * 8 + (__am_lane() >> 2);
}
inline uint __am_attr_thread_index_in_threadgroup() { return __am_gang() * 32 + __am_lane(); }

inline uint __am_attr_simdgroups_per_threadgroup() {
  return (__am_size_x() * __am_size_y() * __am_size_z() + 31) >> 5;
}
inline uint __am_attr_quadgroups_per_threadgroup() {
  return (__am_size_x() * __am_size_y() * __am_size_z() + 3) >> 2;
}
inline uint __am_attr_dispatch_simdgroups_per_threadgroup() {
  return (__am_full_size_x() * __am_full_size_y() * __am_full_size_z() + 31) >> 5;
}
inline uint __am_attr_dispatch_quadgroups_per_threadgroup() {
  return (__am_full_size_x() * __am_full_size_y() * __am_full_size_z() + 3) >> 2;
}

// What Metal's own headers read them with; so do MLX's kernels in functions beside the kernel.
template <typename T>
inline T __metal_get_thread_index_in_simdgroup(T) {
  return static_cast<T>(__am_lane());
}
template <typename T>
inline T __metal_get_thread_index_in_quadgroup(T) {
  return static_cast<T>(__am_lane() & 3);
}
template <typename T>
inline T __metal_get_simdgroup_index_in_threadgroup(T) {
  return static_cast<T>(__am_gang());
}
