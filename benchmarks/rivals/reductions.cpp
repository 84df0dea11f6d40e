// Rows of 1024 numbers: read once from memory, then worked on in registers and the nearest cache.

#include <pthread.h>

#include "math.h"

using namespace bench;

namespace {
constexpr int kColumns = 1024;
constexpr int kVectors = kColumns / W;
constexpr int kRows = 16;  // a chunk
constexpr int kAhead = 4;  // independent accumulators
}  // namespace

extern "C" void bench_softmax(const float* x, float* out, int64_t rows) {
  parallel(rows, kRows, [=](int64_t first, int64_t last) {
    vf values[kVectors];
    for (int64_t row = first; row < last; ++row) {
      const float* from = x + row * kColumns;
      float* to = out + row * kColumns;
      vf top[kAhead], total[kAhead];
      for (int a = 0; a < kAhead; ++a) top[a] = load(from + a * W), total[a] = vf(0.0f);
      for (int i = kAhead; i < kVectors; i += kAhead) {
        for (int a = 0; a < kAhead; ++a) top[a] = max(top[a], load(from + (i + a) * W));
      }
      const vf shift = vf(largest(max(max(top[0], top[1]), max(top[2], top[3]))));
      for (int i = 0; i < kVectors; i += kAhead) {
        for (int a = 0; a < kAhead; ++a) {
          values[i + a] = bench::exp(load(from + (i + a) * W) - shift);
          total[a] += values[i + a];
        }
      }
      const vf scale = vf(1.0f / sum((total[0] + total[1]) + (total[2] + total[3])));
      for (int i = 0; i < kVectors; ++i) stream(to + i * W, values[i] * scale);
    }
    fence();
  });
}

extern "C" void bench_rms_norm(const float* x, const float* weight, float* out, float eps,
                               int64_t rows) {
  parallel(rows, kRows, [=](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const float* from = x + row * kColumns;
      float* to = out + row * kColumns;
      vf total[kAhead] = {};
      for (int i = 0; i < kVectors; i += kAhead) {
        for (int a = 0; a < kAhead; ++a) {
          const vf v = load(from + (i + a) * W);
          total[a] = fma(v, v, total[a]);
        }
      }
      const float mean = sum((total[0] + total[1]) + (total[2] + total[3])) / kColumns;
      const vf scale = vf(1.0f / __builtin_sqrtf(mean + eps));
      for (int i = 0; i < kVectors; ++i) {
        stream(to + i * W, load(from + i * W) * scale * load(weight + i * W));
      }
    }
    fence();
  });
}

extern "C" void bench_layer_norm_vjp(const float* x, const float* weight, const float* mean,
                                     const float* scale, const float* flow, float* dx,
                                     float* dweight, float* dbias, int64_t rows) {
  std::memset(dweight, 0, kColumns * sizeof(float));
  std::memset(dbias, 0, kColumns * sizeof(float));
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  parallel(rows, rows / threads() / 4, [&](int64_t first, int64_t last) {
    vf sum_weight[kVectors] = {}, sum_bias[kVectors] = {};
    for (int64_t row = first; row < last; ++row) {
      const float *from = x + row * kColumns, *g = flow + row * kColumns;
      const vf m = vf(mean[row]), s = vf(scale[row]);
      vf a = vf(0.0f), b = vf(0.0f), a2 = vf(0.0f), b2 = vf(0.0f);
      for (int i = 0; i < kVectors; i += 2) {
        const vf g0 = load(g + i * W), g1 = load(g + (i + 1) * W);
        const vf n0 = (load(from + i * W) - m) * s, n1 = (load(from + (i + 1) * W) - m) * s;
        const vf i0 = g0 * load(weight + i * W), i1 = g1 * load(weight + (i + 1) * W);
        a += i0, a2 += i1;
        b = fma(i0, n0, b), b2 = fma(i1, n1, b2);
        sum_weight[i] = fma(g0, n0, sum_weight[i]);
        sum_weight[i + 1] = fma(g1, n1, sum_weight[i + 1]);
        sum_bias[i] += g0, sum_bias[i + 1] += g1;
      }
      const vf mean_a = vf(sum(a + a2) / kColumns), mean_b = vf(sum(b + b2) / kColumns);
      for (int i = 0; i < kVectors; ++i) {
        const vf normal = (load(from + i * W) - m) * s;
        const vf inner = load(g + i * W) * load(weight + i * W);
        stream(dx + row * kColumns + i * W, (inner - fma(normal, mean_b, mean_a)) * s);
      }
    }
    fence();
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < kVectors; ++i) {
      store(dweight + i * W, load(dweight + i * W) + sum_weight[i]);
      store(dbias + i * W, load(dbias + i * W) + sum_bias[i]);
    }
    pthread_mutex_unlock(&mutex);
  });
}
