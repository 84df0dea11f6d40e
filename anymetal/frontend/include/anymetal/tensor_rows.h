// A SIMD-group's part of a matrix row by row, which is how memory and vectors want it: a number of
// the row for each lane, over two blocks side by side.
#pragma once

#include "tensor_layout.h"

#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

namespace __am {

template <typename Sum, typename Layout>
struct held_rows {
  static constexpr int pairs = (Layout::own_columns + 1) / 2;
  static constexpr int rows = Layout::own_rows * block_size;
  static constexpr bool odd = Layout::own_columns % 2;

  using value_type = Sum;

  Sum at[pairs][rows];

  // A lane's column in the matrix; beyond it for lanes that have none.
  static int column(int pair, int lane = static_cast<int>(__am_lane())) {
    if (odd && pair == pairs - 1) {
      return lane < block_size ? Layout::first_column(2 * pair) + lane : Layout::columns;
    }
    if constexpr (Layout::across == 1) return Layout::first_column(2 * pair) + lane;
    return Layout::first_column(2 * pair) + (lane & 15) + (lane >> 4) * block_size * Layout::across;
  }
  // Whether all lanes have a column below `limit`.
  static bool full(int pair, int limit) {
    if (odd && pair == pairs - 1) return false;
    return Layout::first_column(2 * pair + 1) + block_size <= min(limit, Layout::columns);
  }
  static int row(int own) { return Layout::first_row(own / block_size) + own % block_size; }

  void clear() {
    for (int p = 0; p < pairs; ++p) {
      for (int r = 0; r < rows; ++r) at[p][r] = 0;
    }
  }

  template <typename T>
  void from_blocks(const T* elements) {
    each_half([&](int p, int r, int left, int right) {
      Sum l[4], o[4], whole[8];
#pragma clang loop unroll(full)
      for (int j = 0; j < 4; ++j) {
        l[j] = static_cast<Sum>(elements[left + j]);
        o[j] = right < 0 ? 0 : static_cast<Sum>(elements[right + j]);
      }
      blocks_to_rows(l, o, whole);
#pragma clang loop unroll(full)
      for (int i = 0; i < 8; ++i) at[p][r + i] = whole[i];
    });
  }
  template <typename T>
  void to_blocks(T* elements) {
    each_half([&](int p, int r, int left, int right) {
      Sum l[4], o[4], whole[8];
#pragma clang loop unroll(full)
      for (int i = 0; i < 8; ++i) whole[i] = at[p][r + i];
      rows_to_blocks(whole, l, o);
#pragma clang loop unroll(full)
      for (int j = 0; j < 4; ++j) {
        elements[left + j] = static_cast<T>(l[j]);
        if (right >= 0) elements[right + j] = static_cast<T>(o[j]);
      }
    });
  }

  template <typename Tensor>
  void load(const Tensor& from) {
    each_element(from, [](Sum& sum, auto& element) { sum = static_cast<Sum>(element); });
  }
  template <typename Tensor>
  void store(const Tensor& to) {
    using T = typename Tensor::value_type;
    each_element(to, [](Sum& sum, auto& element) { element = static_cast<T>(sum); });
  }

 private:
  // Pairs of half blocks: where they begin in the rows and among the elements. Real loops, because
  // many permutations in a row take LLVM very long.
  template <typename Visit>
  static void each_half(Visit visit) {
#pragma clang loop unroll(disable)
    for (int p = 0; p < pairs; ++p) {
#pragma clang loop unroll(disable)
      for (int half = 0; half < 2 * Layout::own_rows; ++half) {
        const int block = half / 2 * Layout::own_columns + 2 * p;
        const int first = block * block_elements + half % 2 * 4;
        visit(p, 8 * half, first, odd && p == pairs - 1 ? -1 : first + block_elements);
      }
    }
  }

  template <typename Tensor, typename Visit>
  void each_element(const Tensor& tensor, Visit visit) {
    const int width = min(static_cast<int>(tensor.get_extent(0)), Layout::columns);
    const int height = min(static_cast<int>(tensor.get_extent(1)), Layout::rows);
    const long across = tensor.get_stride(0), down = tensor.get_stride(1);
    for (int p = 0; p < pairs; ++p) {
      const int c = column(p);
      auto* first = tensor.data() + c * across;
      if (full(p, width)) {
        for (int r = 0; r < rows && row(r) < height; ++r) visit(at[p][r], first[row(r) * down]);
      } else if (c < width) {
        for (int r = 0; r < rows && row(r) < height; ++r) visit(at[p][r], first[row(r) * down]);
      }
    }
  }
};

}  // namespace __am

#pragma clang attribute pop
#pragma clang attribute pop
