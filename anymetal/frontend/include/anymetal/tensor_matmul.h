// Products of matrices in memory, for one SIMD-group: its lanes are neighbouring columns of the
// result, as vectors want it. Rows of the left operand are scalars for them.
#pragma once

#include "cooperative_tensor.h"

#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

namespace __am {

// Products are summed up in int if both operands are integers, else in float.
template <typename A, typename B>
using sum_of = conditional_t<is_integral_v<A> && is_integral_v<B>, int, float>;

// An operand in memory: `outer` counts rows of the left one, columns of the right one.
template <typename T>
struct matrix_view {
  const T* first;
  long outer_step, depth_step;
  int outer, depth;

  template <typename Tensor>
  matrix_view(const Tensor& tensor, bool outer_is_innermost)
      : first(tensor.data()),
        outer_step(tensor.get_stride(!outer_is_innermost)),
        depth_step(tensor.get_stride(outer_is_innermost)),
        outer(tensor.get_extent(!outer_is_innermost)),
        depth(tensor.get_extent(outer_is_innermost)) {
    static_assert(Tensor::rank() == 2, "the operands of a matmul2d have two dimensions");
  }

  const T& at(int o, int k) const { return first[o * outer_step + k * depth_step]; }
};

constexpr int rows_at_once = 4;    // sums that stay in registers
constexpr int depth_at_once = 64;  // so much of the right operand stays in the nearest cache
constexpr int panel_depth = 32;    // as there are lanes

// sums += products of `rows_at_once` rows with what each lane has at a depth.
template <typename Sum, typename A, typename Column>
inline void add_products(Sum* sums, const matrix_view<A>& left, int row, int from, int to,
                         Column column) {
  int rows[rows_at_once];
  Sum sum[rows_at_once];
#pragma clang loop unroll(full)
  for (int i = 0; i < rows_at_once; ++i) {
    rows[i] = min(row + i, left.outer - 1);  // of rows too many the sums are dropped
    sum[i] = sums[i];
  }
#pragma clang loop unroll(disable)
  for (int k = from; k < to; ++k) {
    const Sum y = column(k);
#pragma clang loop unroll(full)
    for (int i = 0; i < rows_at_once; ++i) sum[i] += static_cast<Sum>(left.at(rows[i], k)) * y;
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < rows_at_once; ++i) sums[i] = row + i < left.outer ? sum[i] : sums[i];
}

template <typename Sums, typename A, typename Column>
inline void add_rows(Sums& sums, int pair, const matrix_view<A>& left, int height, int from, int to,
                     Column column) {
  for (int r = 0; r < Sums::rows; r += rows_at_once) {
    const int row = Sums::row(r);
    if (row < height) add_products(&sums.at[pair][r], left, row, from, to, column);
  }
}

// Columns that are consecutive in memory: lanes read side by side.
template <typename Sums, typename A, typename B>
inline void add_product(Sums& sums, const matrix_view<A>& left, const matrix_view<B>& right,
                        int height, int width, int depth) {
  using Sum = typename Sums::value_type;
  for (int from = 0; from < depth; from += depth_at_once) {
    const int to = min(from + depth_at_once, depth);
    for (int p = 0; p < Sums::pairs; ++p) {
      const int column = Sums::column(p);
      if (Sums::full(p, width)) {
        add_rows(sums, p, left, height, from, to,
                 [&](int k) { return static_cast<Sum>(right.at(column, k)); });
      } else {
        const bool some = column < width;
        add_rows(sums, p, left, height, from, to,
                 [&](int k) { return some ? static_cast<Sum>(right.at(column, k)) : Sum(0); });
      }
    }
  }
}

// Each column is consecutive in memory: lanes read along the depth, then exchange what they have.
template <typename Sums, typename A, typename B>
inline void add_product_transposed(Sums& sums, const matrix_view<A>& left,
                                   const matrix_view<B>& right, int height, int width, int depth) {
  using Sum = typename Sums::value_type;
  for (int from = 0; from < depth; from += panel_depth) {
    const int to = min(from + panel_depth, depth);
    const int lane_depth = from + static_cast<int>(__am_lane());
    for (int p = 0; p < Sums::pairs; ++p) {
      Sum panel[panel_depth];
      if (to == from + panel_depth && Sums::full(p, width)) {
        for (int i = 0; i < panel_depth; ++i) {
          panel[i] = static_cast<Sum>(right.at(Sums::column(p, i), lane_depth));
        }
      } else {
        for (int i = 0; i < panel_depth; ++i) {
          const int column = Sums::column(p, i);
          const bool there = column < width && lane_depth < to;
          panel[i] = there ? static_cast<Sum>(right.at(column, lane_depth)) : Sum(0);
        }
      }
      Sum exchanged[panel_depth];
#pragma clang loop unroll(full)
      for (int i = 0; i < panel_depth; ++i) exchanged[i] = panel[i];
      transpose<panel_depth>(exchanged, 0);
#pragma clang loop unroll(full)
      for (int i = 0; i < panel_depth; ++i) panel[i] = exchanged[i];
      add_rows(sums, p, left, height, from, to, [&](int k) { return panel[k - from]; });
    }
  }
}

}  // namespace __am

#pragma clang attribute pop
#pragma clang attribute pop
