// <metal_quadgroup>: functions across the 4 lanes 4k … 4k+3, built from shuffles and the ballot
// that tells which lanes are active.
#pragma once

namespace __am {

constexpr uint quad_width = 4;

inline uint quad_base() { return __am_lane() & ~(quad_width - 1); }
inline uint quad_index() { return __am_lane() & (quad_width - 1); }
inline uint quad_bits(bool x) { return (__am_ballot(x) >> quad_base()) & 15; }

template <typename T, typename E = element_of<T>>
using quad_value = require<is_arithmetic_v<E> && !is_same_v<E, bool>>;
template <typename T, typename E = element_of<T>>
using quad_integer = require<is_integral_v<E> && !is_same_v<E, bool>>;

// Folds the lanes of the quad whose bit is set in `lanes`.
template <typename Op, typename T>
inline T quad_step(T total, T x, uint lanes, uint lane) {
  const T other = shuffle(x, quad_base() + lane);
  return (lanes >> lane) & 1 ? Op::apply(total, other) : total;
}
template <typename Op, typename T>
inline T quad_fold(T identity, T x, uint lanes) {
  T total = quad_step<Op>(identity, x, lanes, 0);
  total = quad_step<Op>(total, x, lanes, 1);
  total = quad_step<Op>(total, x, lanes, 2);
  return quad_step<Op>(total, x, lanes, 3);
}

#define AM_OPERATION(name, ...)            \
  struct name {                            \
    template <typename T>                  \
    static constexpr T apply(T a, T b) {   \
      return static_cast<T>(__VA_ARGS__);  \
    }                                      \
  };
AM_OPERATION(op_sum, a + b)
AM_OPERATION(op_product, a * b)
AM_OPERATION(op_min, metal::min(a, b))
AM_OPERATION(op_max, metal::max(a, b))
AM_OPERATION(op_and, a & b)
AM_OPERATION(op_or, a | b)
AM_OPERATION(op_xor, a ^ b)
#undef AM_OPERATION

}  // namespace __am

namespace metal {

#define AM_LANES template <typename T, __am::quad_value<T> = 0>
AM_LANES inline T quad_shuffle(T x, uint lane) {
  return __am::shuffle(x, __am::quad_base() + lane);
}
AM_LANES inline T quad_broadcast(T x, uint lane) { return quad_shuffle(x, lane); }
AM_LANES inline T quad_broadcast_first(T x) {
  return quad_shuffle(x, __builtin_ctzg(__am::quad_bits(true), 0));
}
AM_LANES inline T quad_shuffle_up(T x, uint delta) {
  return __am::shuffle(x, __am::lane_up(delta, __am::quad_width));
}
AM_LANES inline T quad_shuffle_down(T x, uint delta) {
  return __am::shuffle(x, __am::lane_down(delta, __am::quad_width));
}
AM_LANES inline T quad_shuffle_rotate_up(T x, uint delta) {
  return __am::shuffle(x, __am::lane_rotated(0 - delta, __am::quad_width));
}
AM_LANES inline T quad_shuffle_rotate_down(T x, uint delta) {
  return __am::shuffle(x, __am::lane_rotated(delta, __am::quad_width));
}
AM_LANES inline T quad_shuffle_xor(T x, uint mask) { return __am::shuffle(x, __am_lane() ^ mask); }
AM_LANES inline T quad_shuffle_and_fill_up(T x, T filling, uint delta,
                                           uint modulo = __am::quad_width) {
  return __am::fill_up(x, filling, delta, modulo);
}
AM_LANES inline T quad_shuffle_and_fill_down(T x, T filling, uint delta,
                                             uint modulo = __am::quad_width) {
  return __am::fill_down(x, filling, delta, modulo);
}

// Lanes up to and including this one, and lanes before it.
#define AM_ALL __am::quad_bits(true)
#define AM_UP_TO (AM_ALL & ((2u << __am::quad_index()) - 1))
#define AM_BEFORE (AM_ALL & ((1u << __am::quad_index()) - 1))
AM_LANES inline T quad_sum(T x) { return __am::quad_fold<__am::op_sum>(T(0), x, AM_ALL); }
AM_LANES inline T quad_product(T x) { return __am::quad_fold<__am::op_product>(T(1), x, AM_ALL); }
AM_LANES inline T quad_min(T x) { return __am::quad_fold<__am::op_min>(x, x, AM_ALL); }
AM_LANES inline T quad_max(T x) { return __am::quad_fold<__am::op_max>(x, x, AM_ALL); }
AM_LANES inline T quad_prefix_inclusive_sum(T x) {
  return __am::quad_fold<__am::op_sum>(T(0), x, AM_UP_TO);
}
AM_LANES inline T quad_prefix_inclusive_product(T x) {
  return __am::quad_fold<__am::op_product>(T(1), x, AM_UP_TO);
}
AM_LANES inline T quad_prefix_exclusive_sum(T x) {
  return __am::quad_fold<__am::op_sum>(T(0), x, AM_BEFORE);
}
AM_LANES inline T quad_prefix_exclusive_product(T x) {
  return __am::quad_fold<__am::op_product>(T(1), x, AM_BEFORE);
}
#undef AM_LANES

#define AM_LANES template <typename T, __am::quad_integer<T> = 0>
AM_LANES inline T quad_and(T x) { return __am::quad_fold<__am::op_and>(x, x, AM_ALL); }
AM_LANES inline T quad_or(T x) { return __am::quad_fold<__am::op_or>(x, x, AM_ALL); }
AM_LANES inline T quad_xor(T x) { return __am::quad_fold<__am::op_xor>(T(0), x, AM_ALL); }
#undef AM_LANES
#undef AM_ALL
#undef AM_UP_TO
#undef AM_BEFORE

class quad_vote {
 public:
  using vote_t = ulong;

  constexpr explicit quad_vote(vote_t votes = 0) : votes(votes & 15) {}
  constexpr explicit operator vote_t() const { return votes; }
  constexpr bool all() const { return votes == 15; }
  constexpr bool any() const { return votes != 0; }

 private:
  vote_t votes;
};

inline quad_vote quad_ballot(bool x) { return quad_vote(__am::quad_bits(x)); }
inline quad_vote quad_active_threads_mask() { return quad_vote(__am::quad_bits(true)); }
inline bool quad_all(bool x) { return __am::quad_bits(!x) == 0; }
inline bool quad_any(bool x) { return __am::quad_bits(x) != 0; }
inline bool quad_is_first() {
  return __am::quad_index() == uint(__builtin_ctzg(__am::quad_bits(true), 0));
}

}  // namespace metal
