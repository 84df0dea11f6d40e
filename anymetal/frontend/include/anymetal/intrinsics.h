// The functions that the code generators supply. Nothing else may be called from these headers,
// apart from compiler builtins and the C math functions that those turn into.
#pragma once

#define AM_POSITION __attribute__((const))
#define AM_COLLECTIVE __attribute__((convergent))

extern "C" {

// Position of the thread. `lane` counts 0..31 in the SIMD-group, `gang` counts SIMD-groups in the
// threadgroup; `size` is the actual extent of this threadgroup, `full_size` the dispatched one.
unsigned __am_lane() AM_POSITION;
unsigned __am_gang() AM_POSITION;
unsigned __am_thread_x() AM_POSITION;
unsigned __am_thread_y() AM_POSITION;
unsigned __am_thread_z() AM_POSITION;
unsigned __am_group_x() AM_POSITION;
unsigned __am_group_y() AM_POSITION;
unsigned __am_group_z() AM_POSITION;
unsigned __am_size_x() AM_POSITION;
unsigned __am_size_y() AM_POSITION;
unsigned __am_size_z() AM_POSITION;
unsigned __am_full_size_x() AM_POSITION;
unsigned __am_full_size_y() AM_POSITION;
unsigned __am_full_size_z() AM_POSITION;
unsigned __am_grid_x() AM_POSITION;
unsigned __am_grid_y() AM_POSITION;
unsigned __am_grid_z() AM_POSITION;

void __am_threadgroup_barrier(unsigned flags) AM_COLLECTIVE;
void __am_simdgroup_barrier(unsigned flags) AM_COLLECTIVE;

// Value of another lane: 0 where that lane is inactive or beyond 31.
unsigned __am_shuffle(unsigned value, unsigned lane) AM_COLLECTIVE;
// Bit i: lane i is active and its argument is true.
unsigned __am_ballot(bool) AM_COLLECTIVE;

// Reductions over the active lanes, and prefix scans (xscan: exclusive) in lane order.
float __am_reduce_add_f32(float) AM_COLLECTIVE;
float __am_reduce_mul_f32(float) AM_COLLECTIVE;
float __am_reduce_min_f32(float) AM_COLLECTIVE;
float __am_reduce_max_f32(float) AM_COLLECTIVE;
int __am_reduce_add_i32(int) AM_COLLECTIVE;
int __am_reduce_mul_i32(int) AM_COLLECTIVE;
int __am_reduce_min_i32(int) AM_COLLECTIVE;
int __am_reduce_max_i32(int) AM_COLLECTIVE;
unsigned __am_reduce_add_u32(unsigned) AM_COLLECTIVE;
unsigned __am_reduce_mul_u32(unsigned) AM_COLLECTIVE;
unsigned __am_reduce_min_u32(unsigned) AM_COLLECTIVE;
unsigned __am_reduce_max_u32(unsigned) AM_COLLECTIVE;
unsigned __am_reduce_and_u32(unsigned) AM_COLLECTIVE;
unsigned __am_reduce_or_u32(unsigned) AM_COLLECTIVE;
unsigned __am_reduce_xor_u32(unsigned) AM_COLLECTIVE;
float __am_scan_add_f32(float) AM_COLLECTIVE;
float __am_scan_mul_f32(float) AM_COLLECTIVE;
float __am_xscan_add_f32(float) AM_COLLECTIVE;
float __am_xscan_mul_f32(float) AM_COLLECTIVE;
unsigned __am_scan_add_u32(unsigned) AM_COLLECTIVE;
unsigned __am_scan_mul_u32(unsigned) AM_COLLECTIVE;
unsigned __am_xscan_add_u32(unsigned) AM_COLLECTIVE;
unsigned __am_xscan_mul_u32(unsigned) AM_COLLECTIVE;

// One of the lane's two elements of a * b + c, for 8 x 8 matrices (see simdgroup_matrix.h): both
// elements of a, and that one of b and c. Inactive lanes count as zeros in a and b.
float __am_matrix_fma(float a0, float a1, float b, float c) AM_COLLECTIVE;

// Whether there is an instruction for number * 2^exponent, a whole number, that gives infinity where
// the product is too large and 0 where it is too small; and that instruction.
bool __am_scales() AM_POSITION;
float __am_scale(float number, float exponent) AM_POSITION;

// A large angle without half turns: its bits, and the number of those modulo 2 in the upper half (see
// targets/large_angles.h).
unsigned long __am_large_angle(float angle, unsigned long shift, unsigned long offset) AM_POSITION;

// Prints a line for each active lane, in the order of lanes (see logging.h).
void __am_log(const unsigned long* record) AM_COLLECTIVE;

}  // extern "C"

#undef AM_POSITION
#undef AM_COLLECTIVE
