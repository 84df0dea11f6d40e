// <metal_pack>: normalised integers in one word, the first component in the lowest bits.
#pragma once

namespace __am {

// Component of `bits` bits at `shift`, as an integer.
constexpr int unsigned_field(uint word, int shift, int bits) {
  return (word >> shift) & ((1u << bits) - 1);
}
constexpr int signed_field(uint word, int shift, int bits) {
  return int(word << (32 - bits - shift)) >> (32 - bits);
}
constexpr float largest_unorm(int bits) { return float((1 << bits) - 1); }
constexpr float largest_snorm(int bits) { return float((1 << (bits - 1)) - 1); }

inline float unorm(uint word, int shift, int bits) {
  return float(unsigned_field(word, shift, bits)) / largest_unorm(bits);
}
inline float snorm(uint word, int shift, int bits) {
  return fmax(-1.0f, float(signed_field(word, shift, bits)) / largest_snorm(bits));
}

// NaN becomes 0: in unorm because max drops it, in snorm by test.
inline uint to_unorm(float x, int shift, int bits) {
  return uint(int(__builtin_rintf(saturate(x) * largest_unorm(bits)))) << shift;
}
inline uint to_snorm(float x, int shift, int bits) {
  const float inside = isnan(x) ? 0.0f : clamp(x, -1.0f, 1.0f);
  const uint field = uint(int(__builtin_rintf(inside * largest_snorm(bits))));
  return (field & ((1u << bits) - 1)) << shift;
}

inline float srgb_to_linear(float c) {
  return c <= 0.04045f ? c / 12.92f : metal::pow((c + 0.055f) / 1.055f, 2.4f);
}
inline uint linear_to_srgb8(float x, int shift) {
  const float c = saturate(x);
  const float encoded =
      c < 0.0031308f ? 12.92f * c : 1.055f * metal::pow(c, 1.0f / 2.4f) - 0.055f;
  return uint(int(encoded * 255 + 0.5f)) << shift;
}

}  // namespace __am

namespace metal {

// AM_PACKED(format names, word type, vector width, unpacked components; packed components): the
// functions in float, and in half on top of them.
#define AM_UNPACK(name, word, N, ...)                                             \
  inline vec<float, N> unpack_##name##_to_float(word bits) {                      \
    using namespace __am;                                                         \
    return vec<float, N>(__VA_ARGS__);                                            \
  }                                                                               \
  inline vec<half, N> unpack_##name##_to_half(word bits) {                        \
    return vec<half, N>(unpack_##name##_to_float(bits));                          \
  }
#define AM_PACK(name, word, N, ...)                                               \
  inline word pack_float_to_##name(vec<float, N> x) {                             \
    using namespace __am;                                                         \
    return static_cast<word>(__VA_ARGS__);                                        \
  }                                                                               \
  inline word pack_half_to_##name(vec<half, N> x) {                               \
    return pack_float_to_##name(vec<float, N>(x));                                \
  }

AM_UNPACK(unorm4x8, uint, 4, unorm(bits, 0, 8), unorm(bits, 8, 8), unorm(bits, 16, 8),
          unorm(bits, 24, 8))
AM_UNPACK(snorm4x8, uint, 4, snorm(bits, 0, 8), snorm(bits, 8, 8), snorm(bits, 16, 8),
          snorm(bits, 24, 8))
AM_UNPACK(unorm2x16, uint, 2, unorm(bits, 0, 16), unorm(bits, 16, 16))
AM_UNPACK(snorm2x16, uint, 2, snorm(bits, 0, 16), snorm(bits, 16, 16))
AM_UNPACK(unorm10a2, uint, 4, unorm(bits, 0, 10), unorm(bits, 10, 10), unorm(bits, 20, 10),
          unorm(bits, 30, 2))
AM_UNPACK(snorm10a2, uint, 4, snorm(bits, 0, 10), snorm(bits, 10, 10), snorm(bits, 20, 10),
          snorm(bits, 30, 2))
AM_UNPACK(unorm565, ushort, 3, unorm(bits, 0, 5), unorm(bits, 5, 6), unorm(bits, 11, 5))
AM_UNPACK(unorm4x8_srgb, uint, 4, srgb_to_linear(unorm(bits, 0, 8)),
          srgb_to_linear(unorm(bits, 8, 8)), srgb_to_linear(unorm(bits, 16, 8)),
          unorm(bits, 24, 8))

AM_PACK(unorm4x8, uint, 4,
        to_unorm(x.at(0), 0, 8) | to_unorm(x.at(1), 8, 8) | to_unorm(x.at(2), 16, 8) |
            to_unorm(x.at(3), 24, 8))
AM_PACK(snorm4x8, uint, 4,
        to_snorm(x.at(0), 0, 8) | to_snorm(x.at(1), 8, 8) | to_snorm(x.at(2), 16, 8) |
            to_snorm(x.at(3), 24, 8))
AM_PACK(unorm2x16, uint, 2, to_unorm(x.at(0), 0, 16) | to_unorm(x.at(1), 16, 16))
AM_PACK(snorm2x16, uint, 2, to_snorm(x.at(0), 0, 16) | to_snorm(x.at(1), 16, 16))
AM_PACK(unorm10a2, uint, 4,
        to_unorm(x.at(0), 0, 10) | to_unorm(x.at(1), 10, 10) | to_unorm(x.at(2), 20, 10) |
            to_unorm(x.at(3), 30, 2))
AM_PACK(snorm10a2, uint, 4,
        to_snorm(x.at(0), 0, 10) | to_snorm(x.at(1), 10, 10) | to_snorm(x.at(2), 20, 10) |
            to_snorm(x.at(3), 30, 2))
AM_PACK(unorm565, ushort, 3,
        to_unorm(x.at(0), 0, 5) | to_unorm(x.at(1), 5, 6) | to_unorm(x.at(2), 11, 5))
AM_PACK(srgb_unorm4x8, uint, 4,
        linear_to_srgb8(x.at(0), 0) | linear_to_srgb8(x.at(1), 8) | linear_to_srgb8(x.at(2), 16) |
            to_unorm(x.at(3), 24, 8))

#undef AM_UNPACK
#undef AM_PACK

}  // namespace metal
