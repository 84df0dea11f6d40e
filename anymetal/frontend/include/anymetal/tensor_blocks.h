// Products of matrices that a SIMD-group holds in its lanes, block by block, as products of 8 x 8
// matrices (see simdgroup_matrix.h): a lane holds the same row of both, and four columns of a block
// where it has two of a matrix.
#pragma once

#include "tensor_layout.h"

#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

namespace __am {

// One block of an operand as numbers; `transposed`: it is stored with rows and columns exchanged.
template <typename T>
inline void read_block(const T* elements, bool transposed, float* block) {
#pragma clang loop unroll(full)
  for (int i = 0; i < block_elements; ++i) block[i] = static_cast<float>(elements[i]);
  if (transposed) transpose_block(block);
}

// The right operand's rows in the order in which the left one's columns stand in 8 x 8 matrices:
// columns 4 g and 4 g + 1 of a block are columns 2 g and 2 g + 1 of the first matrix, the next two
// are those of the second one.
inline void order_rows(float* block) {
  float ordered[block_elements];
  const uint source = lane_bit(2) << 4 | (__am_lane() & 0b01011);
#pragma clang loop unroll(full)
  for (int i = 0; i < block_elements; ++i) {
    ordered[i] = from_lane(lane_bit(4), block[i & 3], block[4 + (i & 3)], source | (i & 4));
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < block_elements; ++i) block[i] = ordered[i];
}

// Few products of blocks are one piece of code, whose operands stay in registers; many are loops,
// because LLVM takes long for a long piece.
constexpr int products_in_a_piece = 2;

template <bool OnePiece, int Count, typename Body>
inline void for_each_block(Body body) {
  if constexpr (OnePiece) {
#pragma clang loop unroll(full)
    for (int i = 0; i < Count; ++i) body(i);
  } else {
#pragma clang loop unroll(disable)
    for (int i = 0; i < Count; ++i) body(i);
  }
}

// sums += a * b in one block. Integers stay exact: float has room for a block's depth of 16.
template <typename Sum>
inline void add_block_product(const float* a, const float* b, Sum* sums) {
  float c[block_elements];
#pragma clang loop unroll(full)
  for (int i = 0; i < block_elements; ++i) c[i] = is_integral_v<Sum> ? 0 : sums[i];
#pragma clang loop unroll(full)
  for (int i = 0; i < block_elements; ++i) {
    const float* row = a + (i & 4);
    c[i] = __am_matrix_fma(row[0], row[1], b[i & 3], c[i]);
    c[i] = __am_matrix_fma(row[2], row[3], b[4 + (i & 3)], c[i]);
    sums[i] = is_integral_v<Sum> ? sums[i] + static_cast<Sum>(c[i]) : static_cast<Sum>(c[i]);
  }
}

// result += left * right, all in lanes.
template <typename Sum, bool TransposeLeft, bool TransposeRight, typename Left, typename Right,
          typename Result>
inline void add_product(const Left& left, const Right& right, Result& result) {
  using L = typename Left::layout;
  using R = typename Right::layout;
  using D = typename Result::layout;
  using T = typename Result::element_type;
  constexpr int depth = TransposeLeft ? L::own_rows : L::own_columns;
  constexpr bool one_piece = D::own_rows * D::own_columns * depth <= products_in_a_piece;
  for_each_block<one_piece, D::own_columns>([&](int n) {
    float columns[depth][block_elements];
    for_each_block<one_piece, depth>([&](int k) {
      const int at = TransposeRight ? n * R::own_columns + k : k * R::own_columns + n;
      float b[block_elements];
      read_block(&right[at * block_elements], TransposeRight, b);
      order_rows(b);
#pragma clang loop unroll(full)
      for (int i = 0; i < block_elements; ++i) columns[k][i] = b[i];
    });
    for_each_block<one_piece, D::own_rows>([&](int m) {
      T* to = &result[(m * D::own_columns + n) * block_elements];
      Sum sums[block_elements];
#pragma clang loop unroll(full)
      for (int i = 0; i < block_elements; ++i) sums[i] = static_cast<Sum>(to[i]);
      for_each_block<one_piece, depth>([&](int k) {
        const int at = TransposeLeft ? k * L::own_columns + m : m * L::own_columns + k;
        float a[block_elements], b[block_elements];
        read_block(&left[at * block_elements], TransposeLeft, a);
#pragma clang loop unroll(full)
        for (int i = 0; i < block_elements; ++i) b[i] = columns[k][i];
        add_block_product(a, b, sums);
      });
#pragma clang loop unroll(full)
      for (int i = 0; i < block_elements; ++i) to[i] = static_cast<T>(sums[i]);
    });
  });
}

}  // namespace __am

#pragma clang attribute pop
#pragma clang attribute pop
