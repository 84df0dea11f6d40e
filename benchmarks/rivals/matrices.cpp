// Transposition and Cholesky factors.

#include "transpose.h"

using namespace bench;

// In tiles, so that the lines of the output are full before they leave.
extern "C" void bench_transpose(const float* x, float* out, int64_t size) {
  constexpr int64_t kTile = 64;
  const int64_t tiles = size / kTile;
  parallel(tiles * tiles, 8, [=](int64_t first, int64_t last) {
    for (int64_t tile = first; tile < last; ++tile) {
      const int64_t row = tile / tiles * kTile, column = tile % tiles * kTile;
      for (int64_t r = row; r < row + kTile; r += W) {
        for (int64_t c = column; c < column + kTile; c += W) {
          vf rows[W];
          for (int i = 0; i < W; ++i) rows[i] = load(x + (r + i) * size + c);
          transpose(rows);
          for (int i = 0; i < W; ++i) stream(out + (c + i) * size + r, rows[i]);
        }
      }
    }
    fence();
  });
}

// The transposed factor, row by row: row j is row j of the matrix minus the rows above in the
// measure of their entry j. Four matrices at a time hide the latency of root and division.
extern "C" void bench_cholesky(const float* matrices, float* out, int64_t count) {
  constexpr int kSize = 32, kTogether = 4, kVectors = kSize / W;
  vi lanes;
  for (int i = 0; i < W; ++i) lanes[i] = i;
  parallel(count / kTogether, 8, [=](int64_t first, int64_t last) {
    alignas(64) float factor[kTogether][kSize][kSize];
    for (int64_t task = first; task < last; ++task) {
      const float* from = matrices + task * kTogether * kSize * kSize;
      for (int j = 0; j < kSize; ++j) {
        vf sums[kTogether][kVectors];
        const int skipped = j / W;  // vectors left of the diagonal
        for (int m = 0; m < kTogether; ++m) {
#pragma clang loop unroll(full)
          for (int v = 0; v < kVectors; ++v) {
            sums[m][v] = load(from + (m * kSize + j) * kSize + v * W);
          }
        }
        for (int k = 0; k < j; ++k) {
#pragma clang loop unroll(full)
          for (int m = 0; m < kTogether; ++m) {
            const vf measure = vf(-factor[m][k][j]);
#pragma clang loop unroll(full)
            for (int v = 0; v < kVectors; ++v) {
              if (v < skipped) continue;
              sums[m][v] = fma(measure, load(&factor[m][k][v * W]), sums[m][v]);
            }
          }
        }
        for (int m = 0; m < kTogether; ++m) {
          float* row = factor[m][j];
          for (int v = 0; v < kVectors; ++v) store(row + v * W, sums[m][v]);
          const vf scale = vf(1.0f / __builtin_sqrtf(row[j]));
          for (int v = 0; v < kVectors; ++v) {
            store(row + v * W, lanes + v * W >= j ? sums[m][v] * scale : vf(0.0f));
          }
        }
      }
      for (int m = 0; m < kTogether; ++m) {
        float* to = out + (task * kTogether + m) * kSize * kSize;
        for (int r = 0; r < kSize; r += W) {
          for (int c = 0; c < kSize; c += W) {
            vf block[W];
            for (int i = 0; i < W; ++i) block[i] = load(&factor[m][r + i][c]);
            transpose(block);
            for (int i = 0; i < W; ++i) stream(to + (c + i) * kSize + r, block[i]);
          }
        }
      }
    }
    fence();
  });
}
