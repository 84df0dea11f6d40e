// <metal_simdgroup>: functions across the 32 lanes of a SIMD-group, under the active mask.
// Values of 8 and 16 bits travel widened to 32, floating values as their bits.
#pragma once

namespace __am {

constexpr uint simd_width = 32;

template <typename T>
inline T shuffle(T value, uint lane) {
  if constexpr (is_vector<T>) {
    constexpr int N = components<T>;
    AM_GATHER(T, N, shuffle(value.at(0), lane), shuffle(value.at(1), lane),
              shuffle(value.at(2), lane), shuffle(value.at(3), lane))
  } else if constexpr (sizeof(T) == 8) {
    const ulong bits = __builtin_bit_cast(ulong, value);
    const ulong low = __am_shuffle(uint(bits), lane);
    const ulong high = __am_shuffle(uint(bits >> 32), lane);
    return __builtin_bit_cast(T, low | high << 32);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, __am_shuffle(__builtin_bit_cast(uint, value), lane));
  } else if constexpr (sizeof(T) == 2) {
    const ushort bits = __builtin_bit_cast(ushort, value);
    return __builtin_bit_cast(T, ushort(__am_shuffle(bits, lane)));
  } else {
    const uchar bits = __builtin_bit_cast(uchar, value);
    return __builtin_bit_cast(T, uchar(__am_shuffle(bits, lane)));
  }
}

// What may cross lanes: Metal has no 64-bit and no boolean shuffles. (MLX adds some; see
// mlx/simd.h.)
template <typename T, typename E = element_of<T>>
constexpr bool crosses_lanes = is_arithmetic_v<E> && !is_same_v<E, bool> && sizeof(E) <= 4;
template <typename T>
using lane_value = require<crosses_lanes<T>>;
template <typename T>
using lane_integer = require<crosses_lanes<T> && is_integral_v<element_of<T>>>;

// The lane from which to take the value, for each kind of shuffle; `group` is a power of two of
// neighbouring lanes, which are shuffled among themselves.
inline uint lane_up(uint delta, uint group) {
  const uint lane = __am_lane();
  return (lane & (group - 1)) >= delta ? lane - delta : lane;
}
inline uint lane_down(uint delta, uint group) {
  const uint lane = __am_lane();
  return (lane & (group - 1)) + delta < group ? lane + delta : lane;
}
inline uint lane_rotated(uint distance, uint group) {
  const uint lane = __am_lane();
  return (lane & ~(group - 1)) | ((lane + distance) & (group - 1));
}

template <typename T>
inline T fill_up(T value, T filling, uint delta, uint modulo) {
  const uint source = lane_rotated(0 - delta, modulo);
  const T inside = shuffle(value, source);
  const T outside = shuffle(filling, source);
  return (__am_lane() & (modulo - 1)) >= delta ? inside : outside;
}
template <typename T>
inline T fill_down(T value, T filling, uint delta, uint modulo) {
  const uint source = lane_rotated(delta, modulo);
  const T inside = shuffle(value, source);
  const T outside = shuffle(filling, source);
  return (__am_lane() & (modulo - 1)) + delta < modulo ? inside : outside;
}

inline uint first_active_lane() { return __builtin_ctzg(__am_ballot(true), 0); }

}  // namespace __am

namespace metal {

#define AM_LANES template <typename T, __am::lane_value<T> = 0>
AM_LANES inline T simd_shuffle(T x, ushort lane) { return __am::shuffle(x, lane); }
AM_LANES inline T simd_broadcast(T x, ushort lane) { return __am::shuffle(x, lane); }
AM_LANES inline T simd_broadcast_first(T x) { return __am::shuffle(x, __am::first_active_lane()); }
AM_LANES inline T simd_shuffle_up(T x, ushort delta) {
  return __am::shuffle(x, __am::lane_up(delta, __am::simd_width));
}
AM_LANES inline T simd_shuffle_down(T x, ushort delta) {
  return __am::shuffle(x, __am::lane_down(delta, __am::simd_width));
}
AM_LANES inline T simd_shuffle_rotate_up(T x, ushort delta) {
  return __am::shuffle(x, __am::lane_rotated(0u - delta, __am::simd_width));
}
AM_LANES inline T simd_shuffle_rotate_down(T x, ushort delta) {
  return __am::shuffle(x, __am::lane_rotated(delta, __am::simd_width));
}
AM_LANES inline T simd_shuffle_xor(T x, ushort mask) { return __am::shuffle(x, __am_lane() ^ mask); }
AM_LANES inline T simd_shuffle_and_fill_up(T x, T filling, ushort delta,
                                           ushort modulo = __am::simd_width) {
  return __am::fill_up(x, filling, delta, modulo);
}
AM_LANES inline T simd_shuffle_and_fill_down(T x, T filling, ushort delta,
                                             ushort modulo = __am::simd_width) {
  return __am::fill_down(x, filling, delta, modulo);
}
#undef AM_LANES

// AM_COLLECT(name, op, types): op in the 32-bit type that T widens to. Prefix sums and products
// of signed integers have the bits of the unsigned ones.
#define AM_FOR_VECTOR(name)                                                                       \
  constexpr int N = __am::components<T>;                                                          \
  AM_GATHER(T, N, name(x.at(0)), name(x.at(1)), name(x.at(2)), name(x.at(3)))
#define AM_REDUCE(name, op)                                                                       \
  template <typename T, __am::lane_value<T> = 0>                                                  \
  inline T name(T x) {                                                                            \
    if constexpr (__am::is_vector<T>) {                                                           \
      AM_FOR_VECTOR(name)                                                                         \
    } else if constexpr (is_floating_point_v<T>) {                                                \
      return static_cast<T>(__am_reduce_##op##_f32(x));                                           \
    } else if constexpr (is_signed_v<T>) {                                                        \
      return static_cast<T>(__am_reduce_##op##_i32(x));                                           \
    } else {                                                                                      \
      return static_cast<T>(__am_reduce_##op##_u32(x));                                           \
    }                                                                                             \
  }
#define AM_SCAN(name, op)                                                                         \
  template <typename T, __am::lane_value<T> = 0>                                                  \
  inline T name(T x) {                                                                            \
    if constexpr (__am::is_vector<T>) {                                                           \
      AM_FOR_VECTOR(name)                                                                         \
    } else if constexpr (is_floating_point_v<T>) {                                                \
      return static_cast<T>(__am_##op##_f32(x));                                                  \
    } else {                                                                                      \
      return static_cast<T>(__am_##op##_u32(static_cast<uint>(x)));                               \
    }                                                                                             \
  }
#define AM_BITWISE(name, op)                                                                      \
  template <typename T, __am::lane_integer<T> = 0>                                                \
  inline T name(T x) {                                                                            \
    if constexpr (__am::is_vector<T>) {                                                           \
      AM_FOR_VECTOR(name)                                                                         \
    } else {                                                                                      \
      return static_cast<T>(__am_reduce_##op##_u32(static_cast<uint>(x)));                        \
    }                                                                                             \
  }
AM_REDUCE(simd_sum, add)
AM_REDUCE(simd_product, mul)
AM_REDUCE(simd_min, min)
AM_REDUCE(simd_max, max)
AM_BITWISE(simd_and, and)
AM_BITWISE(simd_or, or)
AM_BITWISE(simd_xor, xor)
AM_SCAN(simd_prefix_inclusive_sum, scan_add)
AM_SCAN(simd_prefix_inclusive_product, scan_mul)
AM_SCAN(simd_prefix_exclusive_sum, xscan_add)
AM_SCAN(simd_prefix_exclusive_product, xscan_mul)
#undef AM_FOR_VECTOR
#undef AM_REDUCE
#undef AM_SCAN
#undef AM_BITWISE

// The answers of all lanes to one question, one bit a lane.
class simd_vote {
 public:
  using vote_t = ulong;

  constexpr explicit simd_vote(vote_t votes = 0) : votes(votes) {}
  constexpr explicit operator vote_t() const { return votes; }
  constexpr bool all() const { return uint(votes) == ~0u; }
  constexpr bool any() const { return uint(votes) != 0; }

 private:
  vote_t votes;
};

inline simd_vote simd_ballot(bool x) { return simd_vote(__am_ballot(x)); }
inline simd_vote simd_active_threads_mask() { return simd_vote(__am_ballot(true)); }
inline bool simd_all(bool x) { return __am_ballot(!x) == 0; }
inline bool simd_any(bool x) { return __am_ballot(x) != 0; }
inline bool simd_is_first() { return __am_lane() == __am::first_active_lane(); }
inline bool simd_is_helper_thread() { return false; }

}  // namespace metal
