// What no program can beat: memory copied, and multiply-adds, as fast as this machine does them.

#include "vec.h"

using namespace bench;

extern "C" void bench_copy(const float* x, float* out, int64_t count) {
  parallel(count, 1 << 16, [=](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i += 4 * W) {
      const vf a = load(x + i), b = load(x + i + W), c = load(x + i + 2 * W), d = load(x + i + 3 * W);
      stream(out + i, a);
      stream(out + i + W, b);
      stream(out + i + 2 * W, c);
      stream(out + i + 3 * W, d);
    }
    fence();
  });
}

// A copy that may stay in the caches.
extern "C" void bench_copy_cached(const float* x, float* out, int64_t count) {
  parallel(count, 1 << 14, [=](int64_t first, int64_t last) {
    std::memcpy(out + first, x + first, (last - first) * sizeof(float));
  });
}

// `flops` floating-point operations in independent multiply-adds; the result keeps them alive.
extern "C" void bench_multiply_add(float* out, int64_t flops) {
  constexpr int kChains = 12;
  constexpr int64_t kRound = 2 * W * kChains * 256;
  parallel(flops / kRound, 64, [=](int64_t first, int64_t last) {
    vf sums[kChains];
    for (int c = 0; c < kChains; ++c) sums[c] = vf(float(c));
    vf factor = vf(out[0]), addend = vf(out[1]);
    for (int64_t round = first; round < last; ++round) {
      for (int step = 0; step < 256; ++step) {
#pragma clang loop unroll(full)
        for (int c = 0; c < kChains; ++c) sums[c] = fma(sums[c], factor, addend);
      }
    }
    vf total = sums[0];
    for (int c = 1; c < kChains; ++c) total += sums[c];
    if (sum(total) == 12345.0f) out[2] = 1;
  });
}
