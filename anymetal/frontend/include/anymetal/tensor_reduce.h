// Reductions of a matrix in the lanes of one SIMD-group: a number for each of its rows or columns,
// in those lanes that have elements of the row or column.
#pragma once

#include "cooperative_tensor.h"

#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

namespace __am {

// A number for each row of matrices that are laid out as `Block`: two for each row of blocks.
template <typename Block>
struct row_layout {
  static constexpr bool shared = false;
  static constexpr int capacity = 2 * Block::own_rows;

  static int row(int element) {
    return Block::first_row(element / 2) + 8 * (element & 1) + lane_row();
  }
  static array<int, 1> place(int element) { return {{row(element)}}; }
  static bool valid(int element) { return row(element) < Block::rows; }

  // Matrices with the same rows in the same lanes; the number for one of their elements.
  template <typename Other>
  static constexpr bool fits() {
    return Other::rows == Block::rows && Other::down == 1 && Other::across == 1;
  }
  template <typename Other>
  static constexpr int element_for(int element) {
    return element / block_elements / Other::own_columns * 2 + (element >> 2 & 1);
  }
};

// A number for each column: four for each column of blocks.
template <typename Block>
struct column_layout {
  static constexpr bool shared = false;
  static constexpr int capacity = 4 * Block::own_columns;

  static int column(int element) {
    return Block::first_column(element / 4) + (element & 3) + lane_column();
  }
  static array<int, 1> place(int element) { return {{column(element)}}; }
  static bool valid(int element) { return column(element) < Block::columns; }

  template <typename Other>
  static constexpr bool fits() {
    return Other::columns == Block::columns && Other::down == 1 && Other::across == 1;
  }
  template <typename Other>
  static constexpr int element_for(int element) {
    return element / block_elements % Other::own_columns * 4 + (element & 3);
  }
};

}  // namespace __am

namespace mpp::tensor_ops {

using namespace metal;

enum class reduction_operation { sum, max, min };

template <typename T>
struct reduction_operation_identity {
  static constexpr T sum_identity = T(0);
  static constexpr T max_identity = numeric_limits<T>::lowest();
  static constexpr T min_identity = numeric_limits<T>::max();
};

}  // namespace mpp::tensor_ops

namespace __am {

template <typename T>
inline T reduced(mpp::tensor_ops::reduction_operation op, T a, T b) {
  using mpp::tensor_ops::reduction_operation;
  if (op == reduction_operation::sum) return a + b;
  return op == reduction_operation::max ? max(a, b) : min(a, b);
}

// Reduces to the layout of the result, then over lanes that differ in these bits.
template <typename Source, typename Result, typename T>
inline void reduce(const Source& source, Result& result, mpp::tensor_ops::reduction_operation op,
                   T identity, uint lane_bits) {
  using Number = conditional_t<is_floating_point_v<T>, float, int>;
  using To = typename Result::layout;
  using From = typename Source::layout;
  Number sums[To::capacity];
  for (int i = 0; i < To::capacity; ++i) sums[i] = static_cast<Number>(identity);
#pragma clang loop unroll(full)
  for (int i = 0; i < From::capacity; ++i) {
    Number& sum = sums[To::template element_for<From>(i)];
    sum = From::valid(i) ? reduced(op, sum, static_cast<Number>(source[i])) : sum;
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < To::capacity; ++i) {
#pragma clang loop unroll(full)
    for (uint bit = 1; bit < 32; bit *= 2) {
      if (lane_bits & bit) sums[i] = reduced(op, sums[i], from_lane(sums[i], __am_lane() ^ bit));
    }
    result[i] = static_cast<T>(sums[i]);
  }
}

}  // namespace __am

namespace mpp::tensor_ops {

// Each row, or column, in one number; also max and min start from `identity`.
template <typename T, typename SourceExtents, typename ResultExtents, typename SourceLayout,
          typename Block>
inline void reduce_rows(
    const cooperative_tensor<T, SourceExtents, SourceLayout>& source,
    cooperative_tensor<T, ResultExtents, __am::row_layout<Block>>& result,
    reduction_operation op = reduction_operation::sum,
    remove_cv_t<T> identity = reduction_operation_identity<T>::sum_identity) {
  static_assert(__am::row_layout<Block>::template fits<SourceLayout>(),
                "reduce_rows: the result has other rows than the matrix");
  __am::reduce(source, result, op, identity, 0b01001);
}
template <typename T, typename SourceExtents, typename ResultExtents, typename SourceLayout,
          typename Block>
inline void reduce_columns(
    const cooperative_tensor<T, SourceExtents, SourceLayout>& source,
    cooperative_tensor<T, ResultExtents, __am::column_layout<Block>>& result,
    reduction_operation op = reduction_operation::sum,
    remove_cv_t<T> identity = reduction_operation_identity<T>::sum_identity) {
  static_assert(__am::column_layout<Block>::template fits<SourceLayout>(),
                "reduce_columns: the result has other columns than the matrix");
  __am::reduce(source, result, op, identity, 0b10110);
}

// Whether `result.map_iterator` finds the number for an element of `source`.
template <typename T, typename U, typename SourceExtents, typename ResultExtents,
          typename SourceLayout, typename ResultLayout>
inline constexpr bool is_iterator_compatible(
    const cooperative_tensor<T, SourceExtents, SourceLayout>&,
    const cooperative_tensor<U, ResultExtents, ResultLayout>&) {
  return ResultLayout::template fits<SourceLayout>();
}

}  // namespace mpp::tensor_ops

#pragma clang attribute pop
#pragma clang attribute pop
