// <metal_simdgroup_matrix>: 8 x 8 matrices spread over the lanes of a SIMD-group, two elements each.
//
// On NVIDIA GPUs a lane that loads a matrix also loads what it needs of it as a factor: the row of
// its elements, and their two columns. To fetch these numbers from other lanes (__am_matrix_fma)
// takes an instruction for each, where a load brings up to four. What no product asks for is dead
// code.
#pragma once

namespace __am {

#ifdef __NVPTX__
template <typename T>
struct matrix_factor {
  T row[8];
  metal::vec<T, 2> columns[8];
  bool loaded = false;  // nothing has changed the matrix since it was
};
#endif

// Where a lane's two elements stand: in one row, in neighbouring columns. The language leaves this
// open, but kernels that use thread_elements() rely on what Apple's GPUs do.
inline uint matrix_row() { return (__am_lane() >> 2 & 4) | (__am_lane() >> 1 & 3); }
inline uint matrix_column() { return (__am_lane() >> 1 & 4) | (__am_lane() << 1 & 2); }

}  // namespace __am

namespace metal {

template <typename T, int Cols, int Rows>
struct simdgroup_matrix {
  static_assert(Cols == 8 && Rows == 8, "a simdgroup_matrix has 8 columns and 8 rows");
  static_assert(is_same_v<T, float> || is_same_v<T, half> || is_same_v<T, bfloat>,
                "elements of a simdgroup_matrix are float, half or bfloat");
  using element_type = T;
  using storage_type = vec<T, 2>;

  simdgroup_matrix() = default;
  explicit simdgroup_matrix(T diagonal) {
    const uint row = __am::matrix_row(), column = __am::matrix_column();
    elements = storage_type(row == column ? diagonal : T(0), row == column + 1 ? diagonal : T(0));
  }

  // The lane's own two elements.
  storage_type& thread_elements() {
#ifdef __NVPTX__
    factor.loaded = false;
#endif
    return elements;
  }
  const storage_type& thread_elements() const { return elements; }

  // A friend: next to an operator at namespace scope Clang no longer finds those of vectors for a
  // swizzle in a template.
  friend simdgroup_matrix operator*(simdgroup_matrix a, simdgroup_matrix b) {
    simdgroup_matrix d;
    simdgroup_multiply(d, a, b);
    return d;
  }

#ifdef __NVPTX__
  __am::matrix_factor<T> factor;
#endif

 private:
  storage_type elements;
};

using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<bfloat, 8, 8>;

template <typename T, int Cols, int Rows = Cols>
inline simdgroup_matrix<T, Cols, Rows> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, Cols, Rows> result;
  result.thread_elements() = vec<T, 2>(value);
  return result;
}

}  // namespace metal

namespace __am {

// Places of the lane's two elements in memory, counted from the matrix's first one. The vectorizer
// knows such addresses (simd/access/tiles.py): they become 8 accesses to whole rows.
struct matrix_places {
  ulong corner, down, right;  // steps from row to row and from column to column
  ulong first, second;

  matrix_places(ulong elements_per_row, ulong2 origin, bool transpose)
      : corner(origin[1] * elements_per_row + origin[0]),
        down(transpose ? 1 : elements_per_row),
        right(transpose ? elements_per_row : 1),
        first(at(matrix_row(), matrix_column())),
        second(first + right) {}

  ulong at(ulong row, ulong column) const { return corner + row * down + column * right; }
};

#ifdef __NVPTX__
template <typename T>
inline matrix_factor<T> load_factor(const T* source, matrix_places places) {
  matrix_factor<T> result;
  for (uint k = 0; k < 8; ++k) {
    result.row[k] = source[places.at(matrix_row(), k)];
    const ulong first = places.at(k, matrix_column());
    result.columns[k] = metal::vec<T, 2>(source[first], source[first + places.right]);
  }
  result.loaded = true;
  return result;
}
#endif

// a * b + c, one rounding of each element to the type of d: sums are kept in float.
template <typename D, typename A, typename B>
inline void matrix_fma(D& d, A a, B b, float c0, float c1) {
  using T = typename D::element_type;
#ifdef __NVPTX__
  if (a.factor.loaded && b.factor.loaded) {
    for (uint k = 0; k < 8; ++k) {
      const float left = a.factor.row[k];
      c0 = metal::fma(left, static_cast<float>(b.factor.columns[k][0]), c0);
      c1 = metal::fma(left, static_cast<float>(b.factor.columns[k][1]), c1);
    }
    d.thread_elements() = vec<T, 2>(static_cast<T>(c0), static_cast<T>(c1));
    return;
  }
#endif
  const float a0 = a.thread_elements()[0], a1 = a.thread_elements()[1];
  const float b0 = b.thread_elements()[0], b1 = b.thread_elements()[1];
  d.thread_elements() = vec<T, 2>(static_cast<T>(__am_matrix_fma(a0, a1, b0, c0)),
                                  static_cast<T>(__am_matrix_fma(a0, a1, b1, c1)));
}

}  // namespace __am

namespace metal {

template <typename T, int Cols, int Rows>
inline void simdgroup_load(simdgroup_matrix<T, Cols, Rows>& d, const T* source,
                           ulong elements_per_row = Cols, ulong2 matrix_origin = ulong2(0),
                           bool transpose_matrix = false) {
  const __am::matrix_places at(elements_per_row, matrix_origin, transpose_matrix);
  d.thread_elements() = vec<T, 2>(source[at.first], source[at.second]);
#ifdef __NVPTX__
  d.factor = __am::load_factor(source, at);
#endif
}

template <typename T, int Cols, int Rows>
inline void simdgroup_store(simdgroup_matrix<T, Cols, Rows> a, T* destination,
                            ulong elements_per_row = Cols, ulong2 matrix_origin = ulong2(0),
                            bool transpose_matrix = false) {
  const __am::matrix_places at(elements_per_row, matrix_origin, transpose_matrix);
  destination[at.first] = a.thread_elements()[0];
  destination[at.second] = a.thread_elements()[1];
}

// The operands may have other element types than the result, as on Apple's GPUs: half matrices
// with a float accumulator.
template <typename D, typename A, typename B, typename C>
inline void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8>& d,
                                          simdgroup_matrix<A, 8, 8> a, simdgroup_matrix<B, 8, 8> b,
                                          simdgroup_matrix<C, 8, 8> c) {
  __am::matrix_fma(d, a, b, c.thread_elements()[0], c.thread_elements()[1]);
}

template <typename D, typename A, typename B>
inline void simdgroup_multiply(simdgroup_matrix<D, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                               simdgroup_matrix<B, 8, 8> b) {
  __am::matrix_fma(d, a, b, 0, 0);
}

}  // namespace metal
