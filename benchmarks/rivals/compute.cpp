// Random numbers, option prices, fractals, a stencil.

#include "math.h"

using namespace bench;

namespace {

typedef uint64_t vul2 __attribute__((ext_vector_type(W / 2)));

// The four words of W / 2 counters, each in the lower half of 64 bits. A product reads nothing but
// that half, so what gathers in the upper one does no harm.
[[gnu::always_inline]] inline void philox(vul2 (&c)[4], uint32_t seed) {
  constexpr uint64_t kLow = 0xffffffffu;
  uint32_t key0 = seed, key1 = 0;
#pragma clang loop unroll(full)
  for (int round = 0; round < 10; ++round) {
    const vul2 first = (c[0] & kLow) * 0xD2511F53ull, second = (c[2] & kLow) * 0xCD9E8D57ull;
    c[0] = (second >> 32) ^ c[1] ^ uint64_t(key0);
    c[1] = second;
    c[2] = (first >> 32) ^ c[3] ^ uint64_t(key1);
    c[3] = first;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

[[gnu::always_inline]] inline vf unit(vu bits) {
  return __builtin_convertvector(vi(bits >> 8), vf) * 5.9604645e-8f;
}

[[gnu::always_inline]] inline vf normal(vf x, vf exp_half_square) {
  const vf k = 1.0f / fma(vf(0.2316419f), __builtin_elementwise_abs(x), vf(1.0f));
  vf p = fma(vf(1.330274429f), k, vf(-1.821255978f));
  p = fma(p, k, vf(1.781477937f));
  p = fma(p, k, vf(-0.356563782f));
  p = fma(p, k, vf(0.319381530f));
  const vf tail = 0.39894228f * exp_half_square * p * k;
  return x > 0.0f ? 1.0f - tail : tail;
}

}  // namespace

extern "C" void bench_philox(float* out, int64_t seed, int64_t count) {
  // Lane 4 l + p has counter 4 p + l: after a transposition within groups of four lanes, whole
  // vectors lie in memory order.
  vul2 even, odd;
  uint32_t lanes[W];
  for (int i = 0; i < W; ++i) lanes[i] = i % 4 * (W / 4) + i / 4;
  for (int i = 0; i < W / 2; ++i) even[i] = lanes[2 * i], odd[i] = lanes[2 * i + 1];
  parallel(count / 4, 1 << 13, [=](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i += W) {
      vul2 c0[4] = {even + uint64_t(i)}, c1[4] = {odd + uint64_t(i)};
      philox(c0, uint32_t(seed));
      philox(c1, uint32_t(seed));
      vu c[4];
      for (int k = 0; k < 4; ++k) c[k] = (vu)((c0[k] & 0xffffffffull) | (c1[k] << 32));
      const vf a = unit(c[0]), b = unit(c[1]), d = unit(c[2]), e = unit(c[3]);
#if defined(__AVX512F__)
      const __m512d ab0 = __m512d(_mm512_unpacklo_ps(a, b)), ab1 = __m512d(_mm512_unpackhi_ps(a, b));
      const __m512d de0 = __m512d(_mm512_unpacklo_ps(d, e)), de1 = __m512d(_mm512_unpackhi_ps(d, e));
      stream(out + 4 * i, vf(_mm512_unpacklo_pd(ab0, de0)));
      stream(out + 4 * i + W, vf(_mm512_unpackhi_pd(ab0, de0)));
      stream(out + 4 * i + 2 * W, vf(_mm512_unpacklo_pd(ab1, de1)));
      stream(out + 4 * i + 3 * W, vf(_mm512_unpackhi_pd(ab1, de1)));
#else
      for (int k = 0; k < W; ++k) {
        float* to = out + 4 * (i + lanes[k]);
        to[0] = a[k], to[1] = b[k], to[2] = d[k], to[3] = e[k];
      }
#endif
    }
    fence();
  });
}

extern "C" void bench_black_scholes(const float* price, const float* strike, const float* years,
                                    float* call, float* put, float rate, float volatility,
                                    int64_t count) {
  // Two vectors take each step in turn: one alone is a chain that waits for itself.
  parallel(count, 1 << 14, [=](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i += 2 * W) {
      vf s[2], k[2], t[2], d1[2], d2[2], n1[2], n2[2], discounted[2];
#define EACH _Pragma("clang loop unroll(full)") for (int v = 0; v < 2; ++v)
      EACH s[v] = load(price + i + v * W), k[v] = load(strike + i + v * W);
      EACH t[v] = load(years + i + v * W);
      EACH d1[v] = bench::log(s[v] / k[v]);
      EACH {
        const vf spread = volatility * __builtin_elementwise_sqrt(t[v]);
        d1[v] = fma(vf(rate + 0.5f * volatility * volatility), t[v], d1[v]) / spread;
        d2[v] = d1[v] - spread;
      }
      EACH discounted[v] = k[v] * bench::exp(-rate * t[v]);
      EACH n1[v] = bench::exp(-0.5f * d1[v] * d1[v]);
      EACH n2[v] = bench::exp(-0.5f * d2[v] * d2[v]);
      EACH n1[v] = normal(d1[v], n1[v]);
      EACH n2[v] = normal(d2[v], n2[v]);
      EACH stream(call + i + v * W, s[v] * n1[v] - discounted[v] * n2[v]);
      EACH stream(put + i + v * W, discounted[v] * (1.0f - n2[v]) - s[v] * (1.0f - n1[v]));
#undef EACH
    }
    fence();
  });
}

extern "C" void bench_mandelbrot(int32_t* out, int64_t size, int64_t steps) {
  constexpr int kVectors = 4;  // in flight, to hide the latency of each
  vf lanes;
  for (int i = 0; i < W; ++i) lanes[i] = float(i);
  const float scale = 2.5f / float(size);
  parallel(size, 4, [=](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const vf cy = vf(float(row) * scale - 1.25f);
      for (int64_t column = 0; column < size; column += kVectors * W) {
        vf cx[kVectors], x[kVectors], y[kVectors];
        vi n[kVectors];
        for (int v = 0; v < kVectors; ++v) {
          cx[v] = (lanes + float(column + v * W)) * scale - 2.0f;
          x[v] = y[v] = vf(0.0f);
          n[v] = vi(0);
        }
        for (int64_t step = 0; step < steps; ++step) {
          vi any = vi(0);
#pragma clang loop unroll(full)
          for (int v = 0; v < kVectors; ++v) {
            const vf xx = x[v] * x[v], yy = y[v] * y[v];
            const vi live = xx + yy <= 4.0f;
            n[v] -= live;
            any |= live;
            // Lanes that escaped go on towards infinity and NaN, and never come back.
            y[v] = fma(x[v] + x[v], y[v], cy);
            x[v] = xx - yy + cx[v];
          }
          if (__builtin_reduce_or(any) == 0) break;
        }
        for (int v = 0; v < kVectors; ++v) store(out + row * size + column + v * W, n[v]);
      }
    }
  });
}

namespace {

// Row r of the image, with zeros around it; a vector from column c + shift on.
struct Image {
  const float* data;
  int64_t rows, columns;

  [[gnu::always_inline]] vf at(int64_t r, int64_t c, int shift, bool edge) const {
    if (r < 0 || r >= rows) return vf(0.0f);
    const float* from = data + r * columns + c + shift;
    if (!edge) return load(from);
    vf value;
    for (int i = 0; i < W; ++i) {
      const int64_t column = c + shift + i;
      value[i] = column < 0 || column >= columns ? 0.0f : from[i];
    }
    return value;
  }
};

}  // namespace

extern "C" void bench_stencil(const float* x, const float* weights, float* out, int64_t rows,
                              int64_t columns) {
  constexpr int kRows = 4;
  const Image image{x, rows, columns};
  parallel(rows, 8 * kRows, [=](int64_t first, int64_t last) {
    vf w[9];
    for (int i = 0; i < 9; ++i) w[i] = vf(weights[i]);
    for (int64_t row = first; row < last; row += kRows) {
      for (int64_t column = 0; column < columns; column += W) {
        const bool edge = column == 0 || column + W >= columns;
        vf sums[kRows] = {};
#pragma clang loop unroll(full)
        for (int r = -1; r <= kRows; ++r) {
          const vf left = image.at(row + r, column, -1, edge);
          const vf middle = image.at(row + r, column, 0, edge);
          const vf right = image.at(row + r, column, 1, edge);
#pragma clang loop unroll(full)
          for (int k = 0; k < 3; ++k) {  // this row is row k of the window of output row r + 1 - k
            const int to = r + 1 - k;
            if (to < 0 || to >= kRows) continue;
            sums[to] = fma(w[3 * k], left, sums[to]);
            sums[to] = fma(w[3 * k + 1], middle, sums[to]);
            sums[to] = fma(w[3 * k + 2], right, sums[to]);
          }
        }
        for (int r = 0; r < kRows; ++r) stream(out + (row + r) * columns + column, sums[r]);
      }
    }
    fence();
  });
}
