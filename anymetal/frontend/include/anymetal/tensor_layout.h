// How the threads of an operation share a matrix: blocks of 16 x 16 elements, each held by the
// lanes of one SIMD-group, 8 elements a lane. The language leaves this open, but kernels that fill
// operands element by element rely on what Apple's GPUs do.
//
// Lane bits 4, 2, 1 are the row of an element (of 8) and bits 3, 0 the first of four columns, in
// which elements 0 to 3 stand; elements 4 to 7 are 8 rows further down.
#pragma once

#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

namespace __am {

constexpr int block_size = 16;
constexpr int block_elements = 8;  // that one lane holds

constexpr int blocks_in(int size) { return (size + block_size - 1) / block_size; }

// SIMD-groups stand in a grid over the blocks: how many below each other, how many side by side.
struct group_grid {
  int down = 1, across = 1;

  constexpr group_grid(int block_rows, int block_columns, int groups) {
    while (2 * down * across <= groups) {
      if (block_rows > down && block_rows * across >= block_columns * down) down *= 2;
      else if (block_columns > across) across *= 2;
      else break;
    }
  }
};

// The first place of a lane in a block.
inline int lane_row() { return (__am_lane() >> 2 & 4) | (__am_lane() >> 1 & 3); }
inline int lane_column() { return (__am_lane() & 8) | (__am_lane() << 2 & 4); }

// A layout says how many elements of a matrix a thread holds, where each of them stands (a column
// and a row), and whether it is there at all.

// A matrix in the lanes of `Groups` SIMD-groups. Neighbouring blocks belong to different ones.
template <int Rows, int Columns, int Groups>
struct block_layout {
  static constexpr bool shared = true;
  static constexpr int rows = Rows, columns = Columns;
  static constexpr int down = group_grid(blocks_in(Rows), blocks_in(Columns), Groups).down;
  static constexpr int across = group_grid(blocks_in(Rows), blocks_in(Columns), Groups).across;
  // Blocks that a SIMD-group has.
  static constexpr int own_rows = (blocks_in(Rows) + down - 1) / down;
  static constexpr int own_columns = (blocks_in(Columns) + across - 1) / across;
  static constexpr int capacity = own_rows * own_columns * block_elements;

  static int group() { return Groups == 1 ? 0 : static_cast<int>(__am_gang()) % Groups; }
  // Where a block of this SIMD-group begins in the matrix; below it for SIMD-groups that are left
  // over.
  static int first_row(int own) {
    if (group() >= down * across) return block_size * blocks_in(Rows);
    return block_size * (own * down + group() / across);
  }
  static int first_column(int own) { return block_size * (own * across + group() % across); }

  static int row(int element) {
    return first_row(element / block_elements / own_columns) + 2 * (element & 4) + lane_row();
  }
  static int column(int element) {
    return first_column(element / block_elements % own_columns) + (element & 3) + lane_column();
  }
  static array<int, 2> place(int element) { return {{column(element), row(element)}}; }
  static bool valid(int element) { return row(element) < Rows && column(element) < Columns; }
};

// A matrix that one thread has for itself, row by row.
template <int Rows, int Columns>
struct thread_layout {
  static constexpr bool shared = false;
  static constexpr int rows = Rows, columns = Columns;
  static constexpr int capacity = Rows * Columns;

  static constexpr int row(int element) { return element / Columns; }
  static constexpr int column(int element) { return element % Columns; }
  static array<int, 2> place(int element) { return {{column(element), row(element)}}; }
  static constexpr bool valid(int) { return true; }
};

// ---- Moving elements between lanes: all lane numbers are known when compiling, so each of these
// becomes a permutation of vectors.

inline uint lane_bit(uint bit) { return __am_lane() >> bit & 1; }

inline float from_lane(float value, uint lane) {
  return as_type<float>(__am_shuffle(as_type<uint>(value), lane));
}
inline int from_lane(int value, uint lane) {
  return static_cast<int>(__am_shuffle(static_cast<uint>(value), lane));
}

// The lane's choice between two values of another lane.
template <typename T>
inline T from_lane(bool second, T zero, T one, uint lane) {
  const T a = from_lane(zero, lane), b = from_lane(one, lane);
  return second ? b : a;
}

// Exchanges the number of a vector, of `Count`, with as many values of the lane number's bits from
// `low_bit` up: a transposition of Count x Count elements in each group of lanes.
template <int Count, typename T>
inline void transpose(T* v, uint low_bit) {
#pragma clang loop unroll(full)
  for (uint step = 1; step < Count; step *= 2) {
    const uint bit = step << low_bit;
    const bool upper = __am_lane() & bit;
#pragma clang loop unroll(full)
    for (uint pair = 0; pair < Count / 2; ++pair) {
      T& x = v[(pair & ~(step - 1)) * 2 + (pair & (step - 1))];
      T& y = v[(pair & ~(step - 1)) * 2 + (pair & (step - 1)) + step];
      const T x_other = from_lane(x, __am_lane() ^ bit), y_other = from_lane(y, __am_lane() ^ bit);
      const T new_x = upper ? y_other : x;
      y = upper ? y : x_other;
      x = new_x;
    }
  }
}

// 8 rows of 32 columns, lane = column, become one half (4 elements) of two blocks side by side.
template <typename T>
inline void rows_to_blocks(T* rows, T* left, T* right) {
  transpose<4>(rows, 0);
  transpose<4>(rows + 4, 0);
  const uint source = lane_bit(3) << 3 | lane_bit(0) << 2 | (__am_lane() >> 1 & 3);
#pragma clang loop unroll(full)
  for (int j = 0; j < 4; ++j) {
    left[j] = from_lane(lane_bit(4), rows[j], rows[4 + j], source);
    right[j] = from_lane(lane_bit(4), rows[j], rows[4 + j], 16 | source);
  }
}

// And back.
template <typename T>
inline void blocks_to_rows(const T* left, const T* right, T* rows) {
  const uint source = lane_bit(3) << 3 | (__am_lane() & 3) << 1 | lane_bit(2);
#pragma clang loop unroll(full)
  for (int j = 0; j < 4; ++j) {
    rows[j] = from_lane(lane_bit(4), left[j], right[j], source);
    rows[4 + j] = from_lane(lane_bit(4), left[j], right[j], 16 | source);
  }
  transpose<4>(rows, 0);
  transpose<4>(rows + 4, 0);
}

// The 8 elements of a block, rows and columns exchanged.
template <typename T>
inline void transpose_block(T* e) {
  transpose<4>(e, 1);
  transpose<4>(e + 4, 1);
  T result[block_elements];
  const uint source = lane_bit(0) << 4 | (__am_lane() & 6) | lane_bit(4);
#pragma clang loop unroll(full)
  for (int i = 0; i < block_elements; ++i) {
    result[i] = from_lane(lane_bit(3), e[i & 3], e[4 + (i & 3)], source | (i & 4) << 1);
  }
  for (int i = 0; i < block_elements; ++i) e[i] = result[i];
}

}  // namespace __am

#pragma clang attribute pop
#pragma clang attribute pop
