// Matrix products: packed panels, a block of the result in registers.

#include "vec.h"

using namespace bench;

namespace {

#if defined(__AVX512F__)
constexpr int kRows = 8;  // of a block in registers
#else
constexpr int kRows = 4;
#endif
constexpr int kColumns = 2 * W;
constexpr int64_t kDepth = 256;      // of a panel
constexpr int64_t kBlock = 64;       // rows of `a` that one thread packs
constexpr int64_t kWidest = 1024;    // columns of `b`

alignas(64) float packed_b[kDepth * kWidest];
alignas(64) thread_local float packed_a[kBlock * kDepth];

[[gnu::always_inline]] inline vf widen(const float* from) { return load(from); }
[[gnu::always_inline]] inline vf widen(const _Float16* from) {
  return __builtin_convertvector(load<vh>(from), vf);
}

void multiply_block(const float* a, const float* b, float* c, int64_t columns, int64_t depth,
                    bool add) {
  vf sums[kRows][2] = {};
  for (int64_t k = 0; k < depth; ++k) {
    const vf b0 = load(b + k * kColumns), b1 = load(b + k * kColumns + W);
#pragma clang loop unroll(full)
    for (int r = 0; r < kRows; ++r) {
      const vf factor = vf(a[k * kRows + r]);
      sums[r][0] = fma(factor, b0, sums[r][0]);
      sums[r][1] = fma(factor, b1, sums[r][1]);
    }
  }
#pragma clang loop unroll(full)
  for (int r = 0; r < kRows; ++r) {
    float* to = c + r * columns;
    store(to, add ? load(to) + sums[r][0] : sums[r][0]);
    store(to + W, add ? load(to + W) + sums[r][1] : sums[r][1]);
  }
}

template <class T>
void multiply(const T* a, const T* b, float* c, int64_t rows, int64_t columns, int64_t inner) {
  for (int64_t start = 0; start < inner; start += kDepth) {
    const int64_t depth = inner - start < kDepth ? inner - start : kDepth;
    parallel(columns / kColumns, 4, [=](int64_t first, int64_t last) {
      for (int64_t panel = first; panel < last; ++panel) {
        float* to = packed_b + panel * kColumns * depth;
        for (int64_t k = 0; k < depth; ++k, to += kColumns) {
          const T* from = b + (start + k) * columns + panel * kColumns;
          store(to, widen(from));
          store(to + W, widen(from + W));
        }
      }
    });
    parallel(rows, kBlock, [=](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; row += kRows) {
        float* to = packed_a + (row - first) * depth;
        for (int r = 0; r < kRows; ++r) {
          for (int64_t k = 0; k < depth; ++k) to[k * kRows + r] = a[(row + r) * inner + start + k];
        }
      }
      for (int64_t panel = 0; panel < columns / kColumns; ++panel) {
        for (int64_t row = first; row < last; row += kRows) {
          multiply_block(packed_a + (row - first) * depth, packed_b + panel * kColumns * depth,
                         c + row * columns + panel * kColumns, columns, depth, start != 0);
        }
      }
    });
  }
}

// So few columns that nothing is worth packing: `b` fits the second-level cache, and the rows of
// `a` are read once, in the order of memory. kHigh * kVectors sums of `kVectors` * W columns.
template <int kHigh, int kVectors>
void multiply_narrow(const float* a, const float* b, float* c, int64_t rows, int64_t columns,
                     int64_t inner) {
  parallel(rows, 64, [=](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row += kHigh) {
      for (int64_t column = 0; column < columns; column += kVectors * W) {
        vf sums[kHigh][kVectors] = {};
        for (int64_t k = 0; k < inner; ++k) {
          vf right[kVectors];
#pragma clang loop unroll(full)
          for (int v = 0; v < kVectors; ++v) right[v] = load(b + k * columns + column + v * W);
#pragma clang loop unroll(full)
          for (int r = 0; r < kHigh; ++r) {
            const vf factor = vf(a[(row + r) * inner + k]);
#pragma clang loop unroll(full)
            for (int v = 0; v < kVectors; ++v) sums[r][v] = fma(factor, right[v], sums[r][v]);
          }
        }
#pragma clang loop unroll(full)
        for (int r = 0; r < kHigh; ++r) {
#pragma clang loop unroll(full)
          for (int v = 0; v < kVectors; ++v) {
            store(c + (row + r) * columns + column + v * W, sums[r][v]);
          }
        }
      }
    }
  });
}

}  // namespace

extern "C" void bench_matmul_narrow(const float* a, const float* b, float* out, int64_t rows,
                                    int64_t columns, int64_t inner) {
  if (W == 16 && columns % (4 * W) == 0) {
    multiply_narrow<4, 4>(a, b, out, rows, columns, inner);
  } else {
    multiply_narrow<kRows, 2>(a, b, out, rows, columns, inner);
  }
}

extern "C" void bench_matmul_float32(const float* a, const float* b, float* out, int64_t rows,
                                     int64_t columns, int64_t inner) {
  multiply(a, b, out, rows, columns, inner);
}

extern "C" void bench_matmul_float16(const _Float16* a, const _Float16* b, float* out,
                                     int64_t rows, int64_t columns, int64_t inner) {
  multiply(a, b, out, rows, columns, inner);
}

// The loops of the naive kernel as they stand, vectors of columns as its lanes.
extern "C" void bench_matmul_loops(const float* a, const float* b, float* out, int64_t rows,
                                   int64_t columns, int64_t inner) {
  parallel(rows, 8, [=](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      for (int64_t column = 0; column < columns; column += 2 * W) {
        vf sum0 = vf(0.0f), sum1 = vf(0.0f);
        for (int64_t k = 0; k < inner; ++k) {
          const vf factor = vf(a[row * inner + k]);
          sum0 = fma(factor, load(b + k * columns + column), sum0);
          sum1 = fma(factor, load(b + k * columns + column + W), sum1);
        }
        store(out + row * columns + column, sum0);
        store(out + row * columns + column + W, sum1);
      }
    }
  });
}
