// Inference of a language model: weights of 4 bits, attention.

#include "math.h"

using namespace bench;

namespace {

constexpr int64_t kMostColumns = 8192;
constexpr int64_t kGroup = 64;  // weights that share scale and bias
alignas(64) float planes[kMostColumns];
alignas(64) float group_sums[kMostColumns / kGroup];

}  // namespace

// The vector is put in the order in which masks of a vector of words deliver weights: plane k has
// every eighth number, divided by what the place of weights in 16 bits makes of them. Biases need
// its sums over groups only.
extern "C" void bench_quantised(const uint32_t* words, const float* scales, const float* biases,
                                const float* x, float* out, int64_t rows, int64_t columns) {
  const int64_t per_row = columns / 8, groups = columns / kGroup;
  for (int64_t block = 0; block < columns / (8 * W); ++block) {
    for (int k = 0; k < 8; ++k) {
      const float place = 1.0f / float(1 << (k % 4 * 4));
      for (int j = 0; j < W; ++j) {
        planes[(block * 8 + k) * W + j] = x[(block * W + j) * 8 + k] * place;
      }
    }
  }
  for (int64_t g = 0; g < groups; ++g) {
    float total = 0;
    for (int64_t i = 0; i < kGroup; ++i) total += x[g * kGroup + i];
    group_sums[g] = total;
  }
  parallel(rows, 64, [=](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      vf total = vf(0.0f);
      for (int64_t g = 0; g < groups; g += W) {
        total = fma(load(biases + row * groups + g), load(group_sums + g), total);
      }
      for (int64_t block = 0; block < columns / (8 * W); ++block) {
        const vu low = load<vu>(words + row * per_row + block * W), high = low >> 16;
        const float* plane = planes + block * 8 * W;
        vf dot0 = vf(0.0f), dot1 = vf(0.0f);
#pragma clang loop unroll(full)
        for (int k = 0; k < 8; k += 2) {
          const vu half = k < 4 ? low : high;
          const vf even = __builtin_convertvector(vi(half & (15u << (k % 4 * 4))), vf);
          const vf odd = __builtin_convertvector(vi(half & (15u << (k % 4 * 4 + 4))), vf);
          dot0 = fma(even, load(plane + k * W), dot0);
          dot1 = fma(odd, load(plane + (k + 1) * W), dot1);
        }
        const float* scale = scales + row * groups + block * (8 * W / kGroup);
#if defined(__AVX512F__)
        const vf factor = vf(_mm512_insertf32x8(_mm512_set1_ps(scale[0]), _mm256_set1_ps(scale[1]), 1));
#else
        const vf factor = vf(*(scales + row * groups + block * 8 * W / kGroup));
        (void)scale;
#endif
        total = fma(dot0 + dot1, factor, total);
      }
      out[row] = sum(total);
    }
  });
}

// A task has 2 W queries of a head as lanes: scores, maxima and sums need no reduction, and both
// products keep 8 × 2 vectors in registers.
extern "C" void bench_attention(const float* q, const float* k, const float* v, float* out,
                                int64_t heads, int64_t queries, int64_t keys) {
  constexpr int64_t kSize = 64, kLanes = 2 * W, kTile = 64, kRows = W == 16 ? 8 : 4;
  const int64_t tasks_per_head = queries / kLanes;
  parallel(heads * tasks_per_head, 1, [=](int64_t first, int64_t last) {
    alignas(64) float query[kSize * kLanes], result[kSize * kLanes], weight[kTile * kLanes];
    for (int64_t task = first; task < last; ++task) {
      const int64_t head = task / tasks_per_head;
      const float* mine = q + task * kLanes * kSize;
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        for (int64_t d = 0; d < kSize; ++d) query[d * kLanes + lane] = mine[lane * kSize + d] * 0.125f;
      }
      std::memset(result, 0, sizeof(result));
      vf top[2] = {vf(-__builtin_inff()), vf(-__builtin_inff())}, total[2] = {};
      for (int64_t start = 0; start < keys; start += kTile) {
        const float* key = k + (head * keys + start) * kSize;
        const float* value = v + (head * keys + start) * kSize;
        vf best[2] = {top[0], top[1]};
        for (int64_t j = 0; j < kTile; j += kRows) {
          vf sums[kRows][2] = {};
          for (int64_t d = 0; d < kSize; ++d) {
            const vf q0 = load(query + d * kLanes), q1 = load(query + d * kLanes + W);
#pragma clang loop unroll(full)
            for (int r = 0; r < kRows; ++r) {
              const vf factor = vf(key[(j + r) * kSize + d]);
              sums[r][0] = fma(factor, q0, sums[r][0]);
              sums[r][1] = fma(factor, q1, sums[r][1]);
            }
          }
          for (int r = 0; r < kRows; ++r) {
            for (int h = 0; h < 2; ++h) {
              best[h] = max(best[h], sums[r][h]);
              store(weight + (j + r) * kLanes + h * W, sums[r][h]);
            }
          }
        }
        vf shrink[2];
        for (int h = 0; h < 2; ++h) {
          shrink[h] = bench::exp(top[h] - best[h]);
          total[h] *= shrink[h];
          top[h] = best[h];
          for (int64_t j = 0; j < kTile; ++j) {
            float* at = weight + j * kLanes + h * W;
            const vf p = bench::exp(load(at) - best[h]);
            store(at, p);
            total[h] += p;
          }
        }
        for (int64_t d = 0; d < kSize; d += kRows) {
          vf sums[kRows][2];
          for (int r = 0; r < kRows; ++r) {
            for (int h = 0; h < 2; ++h) {
              sums[r][h] = load(result + (d + r) * kLanes + h * W) * shrink[h];
            }
          }
          for (int64_t j = 0; j < kTile; ++j) {
            const vf p0 = load(weight + j * kLanes), p1 = load(weight + j * kLanes + W);
#pragma clang loop unroll(full)
            for (int r = 0; r < kRows; ++r) {
              const vf factor = vf(value[j * kSize + d + r]);
              sums[r][0] = fma(factor, p0, sums[r][0]);
              sums[r][1] = fma(factor, p1, sums[r][1]);
            }
          }
          for (int r = 0; r < kRows; ++r) {
            for (int h = 0; h < 2; ++h) store(result + (d + r) * kLanes + h * W, sums[r][h]);
          }
        }
      }
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const float scale = 1.0f / total[lane / W][lane % W];
        for (int64_t d = 0; d < kSize; ++d) {
          out[(task * kLanes + lane) * kSize + d] = result[d * kLanes + lane] * scale;
        }
      }
    }
  });
}
