// Large arguments of sin, cos and tan for one thread and for a gang: functions of their own, which
// gangs with small ones never call. In place they would be half of the code of a sine.

#include "../large_angles.h"

extern "C" [[gnu::noinline, gnu::cold]] unsigned long am_large_angle(float x, unsigned long shift,
                                                                     unsigned long offset) {
  return large_angles::packed(x, shift, offset);
}

// `lanes`: a multiple of 8.
extern "C" [[gnu::noinline, gnu::cold]] void am_large_angles(const float* x, float* angles,
                                                             unsigned* half_turns, unsigned lanes,
                                                             unsigned long shift,
                                                             unsigned long offset) {
  using large_angles::Floats, large_angles::Words;
#pragma clang loop unroll(disable)
  for (unsigned i = 0; i < lanes; i += 8) {
    const auto parts = large_angles::without_half_turns<8>(
        *reinterpret_cast<const Floats<8>*>(x + i), shift, offset);
    *reinterpret_cast<Floats<8>*>(angles + i) = parts.angle;
    *reinterpret_cast<Words<8>*>(half_turns + i) = parts.half_turns;
  }
}
