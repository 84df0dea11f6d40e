// Results that need the one before.

#include "math.h"

using namespace bench;

namespace {

constexpr int64_t kMostParts = 1 << 12;

#if defined(__AVX512F__)
template <int kBy>
[[gnu::always_inline]] inline vi shifted(vi v) {
  return vi(_mm512_alignr_epi32(__m512i(v), _mm512_setzero_si512(), 16 - kBy));
}
[[gnu::always_inline]] inline vi scan(vi v) {
  v += shifted<1>(v);
  v += shifted<2>(v);
  v += shifted<4>(v);
  return v + shifted<8>(v);
}
#else
[[gnu::always_inline]] inline vi scan(vi v) {
  for (int i = 1; i < W; ++i) v[i] += v[i - 1];
  return v;
}
#endif

}  // namespace

// A part is small enough to be in the second-level cache when it is read again.
extern "C" void bench_prefix_sum(const int32_t* x, int32_t* out, int64_t count) {
  static int32_t before[kMostParts];
  int64_t size = 1 << 15;
  while (count / size > kMostParts) size *= 2;
  const int64_t parts = count / size;
  parallel(parts, 4, [=](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      vi sums[4] = {};
      for (int64_t i = part * size; i < (part + 1) * size; i += 4 * W) {
        for (int a = 0; a < 4; ++a) sums[a] += load<vi>(x + i + a * W);
      }
      before[part] = __builtin_reduce_add((sums[0] + sums[1]) + (sums[2] + sums[3]));
    }
  });
  int32_t total = 0;
  for (int64_t part = 0; part < parts; ++part) {
    const int32_t here = before[part];
    before[part] = total;
    total += here;
  }
  parallel(parts, 4, [=](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      vi carry = vi(before[part]);
      for (int64_t i = part * size; i < (part + 1) * size; i += W) {
        const vi sums = scan(load<vi>(x + i));
        stream(out + i, sums + carry);
        carry += vi(sums[W - 1]);
      }
    }
    fence();
  });
}

extern "C" void bench_rnn(const float* x, const float* weights, float* out, int64_t sequences,
                          int64_t steps) {
  constexpr int kUnits = 32, kVectors = kUnits / W, kTogether = W == 16 ? 8 : 2;
  alignas(64) float turned[kUnits * kUnits];
  for (int i = 0; i < kUnits; ++i) {
    for (int j = 0; j < kUnits; ++j) turned[j * kUnits + i] = weights[i * kUnits + j];
  }
  const float* columns = turned;
  parallel(sequences / kTogether, 4, [=](int64_t first, int64_t last) {
    alignas(64) float state[kTogether][kUnits];
    for (int64_t task = first; task < last; ++task) {
      std::memset(state, 0, sizeof(state));
      for (int64_t step = 0; step < steps; ++step) {
        vf sums[kTogether][kVectors];
        for (int s = 0; s < kTogether; ++s) {
          for (int v = 0; v < kVectors; ++v) {
            sums[s][v] = load(x + ((task * kTogether + s) * steps + step) * kUnits + v * W);
          }
        }
        for (int j = 0; j < kUnits; ++j) {
          vf column[kVectors];
          for (int v = 0; v < kVectors; ++v) column[v] = load(columns + j * kUnits + v * W);
#pragma clang loop unroll(full)
          for (int s = 0; s < kTogether; ++s) {
            for (int v = 0; v < kVectors; ++v) {
              sums[s][v] = fma(vf(state[s][j]), column[v], sums[s][v]);
            }
          }
        }
        for (int s = 0; s < kTogether; ++s) {
          for (int v = 0; v < kVectors; ++v) {
            const vf next = bench::tanh(sums[s][v]);
            store(&state[s][v * W], next);
            stream(out + ((task * kTogether + s) * steps + step) * kUnits + v * W, next);
          }
        }
      }
    }
    fence();
  });
}
