// One element in, one out. Outputs are larger than the caches, hence streaming stores.

#include "math.h"

using namespace bench;

namespace {

constexpr int64_t kChunk = 1 << 15;

template <class F>
void map(int64_t count, float* out, F at) {
  parallel(count, kChunk, [=](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i += 2 * W) {
      const vf a = at(i), b = at(i + W);
      stream(out + i, a);
      stream(out + i + W, b);
    }
    fence();
  });
}

}  // namespace

extern "C" void bench_saxpy(const float* x, const float* y, float* out, float a, int64_t count) {
  map(count, out, [=](int64_t i) { return fma(vf(a), load(x + i), load(y + i)); });
}

extern "C" void bench_exp(const float* x, float* out, int64_t count) {
  map(count, out, [=](int64_t i) { return bench::exp(load(x + i)); });
}

// v (1 + tanh u) / 2 = v / (1 + e^(-2u)).
extern "C" void bench_gelu(const float* x, float* out, int64_t count) {
  map(count, out, [=](int64_t i) {
    const vf v = load(x + i);
    const vf twice = v * fma(v * v, vf(-2 * 0.7978845608f * 0.044715f), vf(-2 * 0.7978845608f));
    return v / (bench::exp(twice) + 1.0f);
  });
}

// Grey of premultiplied RGBA pixels: four vectors of pixels become one of each colour.
extern "C" void bench_luminance(const float* pixels, float* out, int64_t count) {
  map(count, out, [=](int64_t i) {
    const float* from = pixels + 4 * i;
#if defined(__AVX512F__)
    const __m512 p0 = load<__m512>(from), p1 = load<__m512>(from + 16);
    const __m512 p2 = load<__m512>(from + 32), p3 = load<__m512>(from + 48);
    const __m512i even = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
    const __m512i odd = _mm512_setr_epi32(2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31);
    const __m512 rg_low = _mm512_permutex2var_ps(p0, even, p1);
    const __m512 ba_low = _mm512_permutex2var_ps(p0, odd, p1);
    const __m512 rg_high = _mm512_permutex2var_ps(p2, even, p3);
    const __m512 ba_high = _mm512_permutex2var_ps(p2, odd, p3);
    const __m512 r = _mm512_shuffle_f32x4(rg_low, rg_high, 0x44);
    const __m512 g = _mm512_shuffle_f32x4(rg_low, rg_high, 0xee);
    const __m512 b = _mm512_shuffle_f32x4(ba_low, ba_high, 0x44);
    const __m512 a = _mm512_shuffle_f32x4(ba_low, ba_high, 0xee);
#else
    vf r, g, b, a;
    for (int k = 0; k < W; ++k) {
      r[k] = from[4 * k], g[k] = from[4 * k + 1], b[k] = from[4 * k + 2], a[k] = from[4 * k + 3];
    }
#endif
    const vf grey = fma(vf(0.2126f), vf(r), fma(vf(0.7152f), vf(g), vf(0.0722f) * vf(b)));
    return vf(grey * vf(a));
  });
}

// The finaliser of MurmurHash3 (64 bits).
extern "C" void bench_hash(const uint64_t* x, uint64_t* out, int64_t count) {
  parallel(count, kChunk, [=](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i += W / 2) {
      vul v = load<vul>(x + i);
      v ^= v >> 33;
      v *= vul(0xff51afd7ed558ccdull);
      v ^= v >> 33;
      v *= vul(0xc4ceb9fe1a85ec53ull);
      v ^= v >> 33;
      stream(out + i, v);
    }
    fence();
  });
}
