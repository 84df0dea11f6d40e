// MetalPerformancePrimitives: mpp::tensor_ops::matmul2d, products of matrices by one thread or by
// some SIMD-groups together.
#pragma once

#include "tensor_blocks.h"
#include "tensor_matmul.h"
#include "tensor_reduce.h"

#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

namespace metal {

// Who executes an operation.
template <int Count>
struct execution_threads {
  static_assert(Count == 1, "an operation is executed by one thread, or by SIMD-groups");
};
template <int Count>
struct execution_simdgroups {
  static_assert(Count >= 1 && Count <= 32, "a threadgroup has 1 to 32 SIMD-groups");
};
using execution_thread = execution_threads<1>;
using execution_simdgroup = execution_simdgroups<1>;

}  // namespace metal

namespace mpp::tensor_ops {

using namespace metal;

// What is computed. A template argument in C++17 cannot be of class type, hence the number.
struct matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };

  int m, n, k;  // k may be dynamic_length_v<int>: all that the tensors have
  bool transpose_left, transpose_right, relaxed_precision;
  mode matmul_mode;

  constexpr matmul2d_descriptor(int m, int n, int k = dynamic_length_v<int>,
                                bool transpose_left = false, bool transpose_right = false,
                                bool relaxed_precision = false,
                                mode matmul_mode = mode::multiply)
      : m(m), n(n), k(k), transpose_left(transpose_left), transpose_right(transpose_right),
        relaxed_precision(relaxed_precision), matmul_mode(matmul_mode) {}
  constexpr explicit matmul2d_descriptor(__uint128_t packed)
      : m(static_cast<int>(packed)), n(static_cast<int>(packed >> 32)),
        k(static_cast<int>(packed >> 64)), transpose_left(packed >> 96 & 1),
        transpose_right(packed >> 97 & 1), relaxed_precision(packed >> 98 & 1),
        matmul_mode(packed >> 99 & 1 ? mode::multiply_accumulate : mode::multiply) {}

  constexpr operator __uint128_t() const {
    const uint flags = transpose_left | transpose_right << 1 | relaxed_precision << 2 |
                       (matmul_mode == mode::multiply_accumulate) << 3;
    return static_cast<uint>(m) | static_cast<__uint128_t>(static_cast<uint>(n)) << 32 |
           static_cast<__uint128_t>(static_cast<uint>(k)) << 64 |
           static_cast<__uint128_t>(flags) << 96;
  }
};

}  // namespace mpp::tensor_ops

namespace __am {

// The layouts of an operation's matrices, by who executes it.
template <typename Scope, int Rows, int Columns>
struct layout_for;
template <int Rows, int Columns>
struct layout_for<metal::execution_threads<1>, Rows, Columns> {
  using type = thread_layout<Rows, Columns>;
};
template <int Groups, int Rows, int Columns>
struct layout_for<metal::execution_simdgroups<Groups>, Rows, Columns> {
  using type = block_layout<Rows, Columns, Groups>;
};

template <typename Scope, typename T, int Rows, int Columns, typename Coord>
using held_matrix =
    metal::cooperative_tensor<T, metal::extents<Coord, static_cast<size_t>(Columns),
                                                static_cast<size_t>(Rows)>,
                              typename layout_for<Scope, Rows, Columns>::type>;
template <typename T, int Count, typename Layout, typename Coord>
using held_reductions =
    metal::cooperative_tensor<T, metal::extents<Coord, static_cast<size_t>(Count)>, Layout>;

template <typename T>
using plain = remove_cv_t<remove_reference_t<T>>;
template <typename T>
using element_in = remove_cv_t<typename plain<T>::element_type>;

}  // namespace __am

// In the functions that users call, so that the error is at their place.
#define AM_CHECK_HELD(T)                                                                   \
  static_assert(is_same_v<T, T> && !whole_depth,                                           \
                "an operand that threads hold needs a k that is known when compiling");    \
  static_assert(is_same_v<T, T> && (one_thread || is_same_v<Scope, execution_simdgroup>),  \
                "operands can be held by one thread or by one SIMD-group");
#define AM_CHECK_REDUCED(T)                                                \
  static_assert(is_same_v<T, T> && is_same_v<Scope, execution_simdgroup>, \
                "rows and columns are reduced by one SIMD-group");

namespace mpp::tensor_ops {

template <__uint128_t Descriptor, typename Scope>
class matmul2d {
  static constexpr matmul2d_descriptor what{Descriptor};
  static_assert(what.m > 0 && what.n > 0, "m and n of a matmul2d are positive");
  static constexpr bool one_thread = is_same_v<Scope, execution_thread>;
  static constexpr bool whole_depth = what.k <= 0;
  static constexpr int left_rows = what.transpose_left ? what.k : what.m;
  static constexpr int left_columns = what.transpose_left ? what.m : what.k;
  static constexpr int right_rows = what.transpose_right ? what.n : what.k;
  static constexpr int right_columns = what.transpose_right ? what.k : what.n;

 public:
  template <typename A, typename B, typename C, typename Coord = int>
  using cooperative_tensor_left_input_t =
      __am::held_matrix<Scope, A, left_rows, left_columns, Coord>;
  template <typename A, typename B, typename C, typename Coord = int>
  using cooperative_tensor_right_input_t =
      __am::held_matrix<Scope, B, right_rows, right_columns, Coord>;
  template <typename Left, typename Right, typename C, typename Coord = int>
  using cooperative_tensor_destination_t = __am::held_matrix<Scope, C, what.m, what.n, Coord>;

  template <typename A, typename B, typename C, typename Coord = int>
  auto get_left_input_cooperative_tensor() const {
    AM_CHECK_HELD(A)
    return cooperative_tensor_left_input_t<A, B, C, Coord>();
  }
  template <typename A, typename B, typename C, typename Coord = int>
  auto get_right_input_cooperative_tensor() const {
    AM_CHECK_HELD(B)
    return cooperative_tensor_right_input_t<A, B, C, Coord>();
  }
  template <typename Left, typename Right, typename C, typename Coord = int>
  auto get_destination_cooperative_tensor() const {
    return cooperative_tensor_destination_t<Left, Right, C, Coord>();
  }
  template <typename Left, typename Right, typename C, typename Coord = int>
  auto get_row_reduction_destination_cooperative_tensor() const {
    AM_CHECK_REDUCED(C)
    using Block = typename __am::layout_for<Scope, what.m, what.n>::type;
    return __am::held_reductions<C, what.m, __am::row_layout<Block>, Coord>();
  }
  template <typename Left, typename Right, typename C, typename Coord = int>
  auto get_column_reduction_destination_cooperative_tensor() const {
    AM_CHECK_REDUCED(C)
    using Block = typename __am::layout_for<Scope, what.m, what.n>::type;
    return __am::held_reductions<C, what.n, __am::column_layout<Block>, Coord>();
  }

  // The result of another product as an operand of this one, if it has the right size.
  template <typename A, typename B, typename C, typename Source>
  static constexpr bool is_compatible_as_left_input(const Source&) {
    return is_same_v<typename Source::layout,
                     typename cooperative_tensor_left_input_t<A, B, C>::layout>;
  }
  template <typename A, typename B, typename C, typename Source>
  static constexpr bool is_compatible_as_right_input(const Source&) {
    return is_same_v<typename Source::layout,
                     typename cooperative_tensor_right_input_t<A, B, C>::layout>;
  }
  template <typename A, typename B, typename C, typename Coord = int, typename Source>
  auto get_left_input_cooperative_tensor(const Source& source) const {
    return converted(source, get_left_input_cooperative_tensor<A, B, C, Coord>());
  }
  template <typename A, typename B, typename C, typename Coord = int, typename Source>
  auto get_right_input_cooperative_tensor(const Source& source) const {
    return converted(source, get_right_input_cooperative_tensor<A, B, C, Coord>());
  }

  // result = left * right, or, by the mode, result += left * right. Every operand is in memory or
  // held by the threads.
  template <typename Left, typename Right, typename Result>
  void run(const Left& left, const Right& right, Result&& result) const {
    constexpr bool held_left = __am::is_cooperative<Left>;
    constexpr bool held_right = __am::is_cooperative<Right>;
    if constexpr (held_left && !held_right) {
      auto copy = get_right_input_cooperative_tensor<element<Left>, element<Right>, float>();
      copy.load(right);
      run(left, copy, result);
    } else if constexpr (held_right && !held_left) {
      auto copy = get_left_input_cooperative_tensor<element<Left>, element<Right>, float>();
      copy.load(left);
      run(copy, right, result);
    } else if constexpr (one_thread) {
      run_in_thread(left, right, result);
    } else if constexpr (held_left) {
      run_on_blocks(left, right, result);
    } else {
      run_on_rows(left, right, result);
    }
  }

 private:
  template <typename T>
  using element = __am::element_in<T>;
  template <typename Left, typename Right>
  using Sum = __am::sum_of<element<Left>, element<Right>>;
  static constexpr bool accumulates =
      what.matmul_mode == matmul2d_descriptor::mode::multiply_accumulate;

  // Sizes that do not match are no error: kernels ask is_compatible_as_..._input in an `if` whose
  // body is compiled all the same.
  template <typename Source, typename Result>
  static Result converted(const Source& source, Result result) {
    constexpr int both = min(Source::layout::capacity, Result::layout::capacity);
    for (int i = 0; i < both; ++i) {
      result[i] = static_cast<typename Result::element_type>(source[i]);
    }
    return result;
  }

  static int depth(int left, int right) {
    const int both = min(left, right);
    return whole_depth ? both : min(both, what.k);
  }

  template <typename Left, typename Right, typename Result>
  static void run_on_rows(const Left& left, const Right& right, Result& result) {
    using Layout = typename __am::layout_for<Scope, what.m, what.n>::type;
    const __am::matrix_view<element<Left>> a(left, what.transpose_left);
    const __am::matrix_view<element<Right>> b(right, !what.transpose_right);
    __am::held_rows<Sum<Left, Right>, Layout> sums;
    sums.clear();
    constexpr bool held = __am::is_cooperative<Result>;
    if constexpr (accumulates && held) sums.from_blocks(&result[0]);
    if constexpr (accumulates && !held) sums.load(result);
    const int height = min(a.outer, what.m), width = min(b.outer, what.n);
    if constexpr (what.transpose_right) {
      __am::add_product_transposed(sums, a, b, height, width, depth(a.depth, b.depth));
    } else {
      __am::add_product(sums, a, b, height, width, depth(a.depth, b.depth));
    }
    if constexpr (held) sums.to_blocks(&result[0]);
    else sums.store(result);
  }

  template <typename Left, typename Right, typename Result>
  static void run_on_blocks(const Left& left, const Right& right, Result& result) {
    if constexpr (__am::is_cooperative<Result>) {
      if (!accumulates) {
        for (int i = 0; i < Result::get_capacity(); ++i) result[i] = 0;
      }
      __am::add_product<Sum<Left, Right>, what.transpose_left, what.transpose_right>(left, right,
                                                                                   result);
    } else {
      cooperative_tensor_destination_t<Left, Right, Sum<Left, Right>> sums;
      if (accumulates) sums.load(result);
      run_on_blocks(left, right, sums);
      sums.store(result);
    }
  }

  template <typename Left, typename Right, typename Result>
  static void run_in_thread(const Left& left, const Right& right, Result& result) {
    using S = Sum<Left, Right>;
    const int rows = extent(left, what.transpose_left);
    const int columns = extent(right, !what.transpose_right);
    const int end = depth(extent(left, !what.transpose_left), extent(right, what.transpose_right));
    for (int row = 0; row < min(what.m, extent(result, false)); ++row) {
      for (int column = 0; column < min(what.n, extent(result, true)); ++column) {
        auto& to = at(result, row, column, false);
        S sum = accumulates ? static_cast<S>(to) : 0;
        for (int k = 0; k < (row < rows && column < columns ? end : 0); ++k) {
          sum += static_cast<S>(at(left, row, k, what.transpose_left)) *
                 static_cast<S>(at(right, k, column, what.transpose_right));
        }
        to = static_cast<element<Result>>(sum);
      }
    }
  }

  // Size in columns, or in rows, as it is stored.
  template <typename Tensor>
  static int extent(const Tensor& tensor, bool of_columns) {
    if constexpr (__am::is_cooperative<Tensor>) {
      return of_columns ? Tensor::layout::columns : Tensor::layout::rows;
    } else {
      return tensor.get_extent(!of_columns);
    }
  }
  template <typename Tensor>
  static auto& at(Tensor& tensor, int row, int column, bool transposed) {
    const int r = transposed ? column : row, c = transposed ? row : column;
    if constexpr (__am::is_cooperative<remove_cv_t<Tensor>>) {
      return tensor[r * Tensor::layout::columns + c];
    } else {
      return tensor(c, r);
    }
  }
};

}  // namespace mpp::tensor_ops

#undef AM_CHECK_HELD
#undef AM_CHECK_REDUCED

#pragma clang attribute pop
#pragma clang attribute pop
