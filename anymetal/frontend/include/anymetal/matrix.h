// <metal_matrix>: matrix<T, C, R> of C columns with R rows, halfCxR and floatCxR, and the algebra
// that the language gives them.
#pragma once

namespace metal {

template <typename T, int C, int R>
struct matrix {
  static_assert(is_floating_point_v<T> && C >= 2 && C <= 4 && R >= 2 && R <= 4,
                "a matrix has 2 to 4 columns and rows of a floating type");
  using column = vec<T, R>;

  column columns[C];

  constexpr matrix() = default;

  // Copied column by column: a copy of the array would be a loop.
  constexpr matrix(const matrix& other) : columns{other[0], other[1]} { copy_rest(other); }
  constexpr matrix& operator=(const matrix& other) {
    columns[0] = other[0];
    columns[1] = other[1];
    copy_rest(other);
    return *this;
  }

  constexpr explicit matrix(T diagonal)
      : columns{on_diagonal(0, diagonal), on_diagonal(1, diagonal)} {
    if constexpr (C > 2) columns[2] = on_diagonal(2, diagonal);
    if constexpr (C > 3) columns[3] = on_diagonal(3, diagonal);
  }

  template <typename U, __am::require<!is_same_v<T, U>> = 0>
  constexpr explicit matrix(const matrix<U, C, R>& other)
      : columns{column(other[0]), column(other[1])} {
    if constexpr (C > 2) columns[2] = column(other[2]);
    if constexpr (C > 3) columns[3] = column(other[3]);
  }

  // One argument for each column, or one for each component in column order.
  template <typename... A, __am::require<sizeof...(A) == C && (is_same_v<A, column> && ...)> = 0>
  constexpr matrix(const A&... values) : columns{values...} {}
  template <typename... A,
            __am::require<sizeof...(A) == C * R && (is_arithmetic_v<A> && ...)> = 0>
  constexpr matrix(const A&... values) {
    const T all[C * R] = {static_cast<T>(values)...};
    columns[0] = from(all);
    columns[1] = from(all + R);
    if constexpr (C > 2) columns[2] = from(all + 2 * R);
    if constexpr (C > 3) columns[3] = from(all + 3 * R);
  }

  constexpr const column& operator[](int i) const { return columns[i]; }
  constexpr column& operator[](int i) { return columns[i]; }

  // Friends, for the reason in vec_operators.h.
  friend constexpr matrix operator+(const matrix& a, const matrix& b) {
    AM_GATHER(matrix, C, a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3])
  }
  friend constexpr matrix operator-(const matrix& a, const matrix& b) {
    AM_GATHER(matrix, C, a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3])
  }
  friend constexpr matrix operator-(const matrix& a) {
    AM_GATHER(matrix, C, -a[0], -a[1], -a[2], -a[3])
  }
  friend constexpr matrix operator*(const matrix& a, T b) {
    AM_GATHER(matrix, C, a[0] * b, a[1] * b, a[2] * b, a[3] * b)
  }
  friend constexpr matrix operator*(T a, const matrix& b) { return b * a; }
  friend constexpr matrix operator/(const matrix& a, T b) {
    AM_GATHER(matrix, C, a[0] / b, a[1] / b, a[2] / b, a[3] / b)
  }
  friend constexpr column operator*(const matrix& m, const vec<T, C>& v) {
    column sum = m[0] * v.at(0) + m[1] * v.at(1);
    if constexpr (C > 2) sum += m[2] * v.at(2);
    if constexpr (C > 3) sum += m[3] * v.at(3);
    return sum;
  }
  friend constexpr vec<T, C> operator*(const column& v, const matrix& m) {
    using V = vec<T, C>;
    AM_GATHER(V, C, dot(v, m[0]), dot(v, m[1]), dot(v, m[2]), dot(v, m[3]))
  }
  template <int K>
  friend constexpr matrix<T, K, R> operator*(const matrix& a, const matrix<T, K, C>& b) {
    using M = matrix<T, K, R>;
    AM_GATHER(M, K, a * b[0], a * b[1], a * b[2], a * b[3])
  }
  friend constexpr matrix& operator+=(matrix& a, const matrix& b) { return a = a + b; }
  friend constexpr matrix& operator-=(matrix& a, const matrix& b) { return a = a - b; }
  friend constexpr matrix& operator*=(matrix& a, T b) { return a = a * b; }
  friend constexpr matrix& operator*=(matrix& a, const matrix<T, C, C>& b) { return a = a * b; }
  friend constexpr matrix& operator/=(matrix& a, T b) { return a = a / b; }
  friend constexpr bool operator==(const matrix& a, const matrix& b) {
    bool equal = all(a[0] == b[0]) & all(a[1] == b[1]);
    if constexpr (C > 2) equal &= all(a[2] == b[2]);
    if constexpr (C > 3) equal &= all(a[3] == b[3]);
    return equal;
  }
  friend constexpr bool operator!=(const matrix& a, const matrix& b) { return !(a == b); }

 private:
  constexpr void copy_rest(const matrix& other) {
    if constexpr (C > 2) columns[2] = other[2];
    if constexpr (C > 3) columns[3] = other[3];
  }
  static constexpr column from(const T* values) {
    AM_GATHER(column, R, values[0], values[1], values[2], values[3])
  }
  static constexpr column on_diagonal(int row, T value) {
    column result(T(0));
    if (row < R) result.set(row, value);
    return result;
  }
};

#define AM_ALIASES(T)                                                                  \
  using T##2x2 = matrix<T, 2, 2>;                                                      \
  using T##2x3 = matrix<T, 2, 3>;                                                      \
  using T##2x4 = matrix<T, 2, 4>;                                                      \
  using T##3x2 = matrix<T, 3, 2>;                                                      \
  using T##3x3 = matrix<T, 3, 3>;                                                      \
  using T##3x4 = matrix<T, 3, 4>;                                                      \
  using T##4x2 = matrix<T, 4, 2>;                                                      \
  using T##4x3 = matrix<T, 4, 3>;                                                      \
  using T##4x4 = matrix<T, 4, 4>;
AM_ALIASES(float)
AM_ALIASES(half)
#undef AM_ALIASES

}  // namespace metal

namespace __am {

template <typename T, int C, int R>
constexpr vec<T, C> row(const matrix<T, C, R>& m, int i) {
  using V = vec<T, C>;
  AM_GATHER(V, C, m[0].at(i), m[1].at(i), m[2].at(i), m[3].at(i))
}

// The 2x2 determinant of columns a and b in the first two rows.
template <typename V>
constexpr auto minor(const V& a, const V& b, int row0, int row1) {
  return a.at(row0) * b.at(row1) - b.at(row0) * a.at(row1);
}

}  // namespace __am

namespace metal {

template <typename T, int C, int R>
constexpr matrix<T, R, C> transpose(const matrix<T, C, R>& m) {
  using M = matrix<T, R, C>;
  AM_GATHER(M, R, __am::row(m, 0), __am::row(m, 1), __am::row(m, 2), __am::row(m, 3))
}

template <typename T, int N>
constexpr T determinant(const matrix<T, N, N>& m) {
  using __am::minor;
  if constexpr (N == 2) {
    return minor(m[0], m[1], 0, 1);
  } else if constexpr (N == 3) {
    return dot(m[0], cross(m[1], m[2]));
  } else {
    // Laplace expansion along the first two columns.
    return minor(m[0], m[1], 0, 1) * minor(m[2], m[3], 2, 3) -
           minor(m[0], m[1], 0, 2) * minor(m[2], m[3], 1, 3) +
           minor(m[0], m[1], 0, 3) * minor(m[2], m[3], 1, 2) +
           minor(m[0], m[1], 1, 2) * minor(m[2], m[3], 0, 3) -
           minor(m[0], m[1], 1, 3) * minor(m[2], m[3], 0, 2) +
           minor(m[0], m[1], 2, 3) * minor(m[2], m[3], 0, 1);
  }
}

}  // namespace metal
