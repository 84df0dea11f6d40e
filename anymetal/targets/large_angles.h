// Large arguments of sin, cos and tan, which are rare, for the code of all targets: divided by pi in
// integers, after M. Payne and R. Hanek, "Radian reduction for trigonometric functions", 1983. COUNT
// lanes at a time.
#pragma once

namespace large_angles {

template <class T, unsigned COUNT>
using Vector = T __attribute__((ext_vector_type(COUNT)));
template <unsigned COUNT>
using Floats = Vector<float, COUNT>;
template <unsigned COUNT>
using Words = Vector<unsigned, COUNT>;
template <unsigned COUNT>
using Longs = Vector<unsigned long, COUNT>;

template <unsigned COUNT>
Longs<COUNT> wide(Words<COUNT> words) {
  return __builtin_convertvector(words, Longs<COUNT>);
}
template <unsigned COUNT>
Words<COUNT> low(Longs<COUNT> longs) {
  return __builtin_convertvector(longs, Words<COUNT>);
}
template <unsigned COUNT>
Floats<COUNT> signed_float(Words<COUNT> words) {
  return __builtin_convertvector(__builtin_bit_cast(Vector<int, COUNT>, words), Floats<COUNT>);
}

// |x| / pi modulo 2 in units of 2^-63, for large x: the mantissa times those 96 bits of 1 / pi that
// are neither multiples of 2 in the product nor too small to matter.
template <unsigned COUNT>
Longs<COUNT> half_turns_of(Floats<COUNT> x) {
  constexpr unsigned inverse[] = {0x000a2f98, 0x36e4e441, 0x529fc275, 0x7d1f534d,
                                  0xdc0db629, 0x5993c439, 0x041fe516};
  const Words<COUNT> bits = __builtin_bit_cast(Words<COUNT>, x);
  const Words<COUNT> mantissa = (bits & 0x7fffff) | 0x800000;
  const Words<COUNT> start = ((bits >> 23) & 0xff) - 140;  // bit 0 has the weight 2^10
  const auto word = [&](int at) {
    const auto one_of = [&](unsigned even, unsigned odd) {
      return (start & 32) != 0 ? Words<COUNT>(odd) : Words<COUNT>(even);
    };
    return (start & 64) != 0 ? one_of(inverse[at + 2], inverse[at + 3])
                             : one_of(inverse[at], inverse[at + 1]);
  };
  const auto window = [&](int at) {
    return (word(at) << (start & 31)) | (word(at + 1) >> 1 >> (~start & 31));
  };
  const Longs<COUNT> factor = wide<COUNT>(mantissa);
  const Longs<COUNT> middle =
      factor * wide<COUNT>(window(1)) + ((factor * wide<COUNT>(window(2))) >> 32);
  return (wide<COUNT>(mantissa * window(0)) << 32) + middle;
}

template <unsigned COUNT>
struct Reduced {
  Floats<COUNT> angle;
  Words<COUNT> half_turns;  // modulo 2
};

// What is left of x as an angle without the nearest whole number of half turns, and that number. The
// angle is multiplied by 2^shift before and moved by `offset` in units of 2^-63 half turns; it has the
// sign of x. Infinity leaves NaN.
template <unsigned COUNT>
Reduced<COUNT> without_half_turns(Floats<COUNT> x, unsigned long shift, unsigned long offset) {
#pragma clang fp contract(on)
  const Longs<COUNT> turns = (half_turns_of<COUNT>(x) << shift) + offset;
  const Longs<COUNT> rest = turns << 1;
  const Floats<COUNT> high = signed_float<COUNT>(low<COUNT>(rest >> 32));
  const Floats<COUNT> below = signed_float<COUNT>(low<COUNT>(rest) >> 1);
  const Floats<COUNT> turn = high * 0x1p-32f + below * 0x1p-63f;
  const Floats<COUNT> size = turn * 0x1.921fb6p+1f + turn * -0x1.777a5cp-24f;
  const Words<COUNT> sign = __builtin_bit_cast(Words<COUNT>, x) & 0x80000000;
  const Words<COUNT> turned = __builtin_bit_cast(Words<COUNT>, size) ^ sign;
  const Floats<COUNT> angle = __builtin_bit_cast(Floats<COUNT>, turned) + x * 0;
  return {angle, low<COUNT>((turns + (1ul << 62)) >> 63)};
}

// Of one angle: its bits, and the number above them.
inline unsigned long packed(float x, unsigned long shift, unsigned long offset) {
  const Reduced<1> parts = without_half_turns<1>(x, shift, offset);
  return __builtin_bit_cast(unsigned, parts.angle[0]) | wide<1>(parts.half_turns)[0] << 32;
}

}  // namespace large_angles
