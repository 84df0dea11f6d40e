// Shuffles that Metal lacks and MLX adds at global scope: 64-bit integers, bool, complex64_t.
#pragma once

#define AM_SHUFFLES(T)                                                                     \
  inline T simd_shuffle(T data, uint16_t lane) { return __am::shuffle(data, lane); }       \
  inline T simd_shuffle_up(T data, uint16_t delta) {                                       \
    return __am::shuffle(data, __am::lane_up(delta, __am::simd_width));                    \
  }                                                                                        \
  inline T simd_shuffle_down(T data, uint16_t delta) {                                     \
    return __am::shuffle(data, __am::lane_down(delta, __am::simd_width));                  \
  }                                                                                        \
  inline T simd_shuffle_and_fill_up(T data, T filling, uint16_t delta) {                   \
    return __am::fill_up(data, filling, delta, __am::simd_width);                          \
  }
AM_SHUFFLES(uint64_t)
AM_SHUFFLES(int64_t)
AM_SHUFFLES(bool)
AM_SHUFFLES(complex64_t)
#undef AM_SHUFFLES
