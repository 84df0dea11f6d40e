// <metal_geometric>: functions of vectors as points and directions. Sums run in float.
#pragma once

namespace __am {

// Only vectors of floating type have a length.
template <typename T>
using geometric = require<is_floating_point_v<T>>;

template <typename... A>
using unify_points =
    conditional_t<is_vector<unify<A...>> && is_floating_point_v<element_of<unify<A...>>>,
                  unify<A...>, void>;

// Metal does not say in which order the products are added.
template <typename T, int N>
inline float inner_product(const vec<T, N>& a, const vec<T, N>& b) {
#pragma clang fp reassociate(on)
  const float first = float(a.at(0)) * float(b.at(0));
  const float two = __builtin_fmaf(float(a.at(1)), float(b.at(1)), first);
  if constexpr (N == 2) return two;
  const float three = __builtin_fmaf(float(a.at(2)), float(b.at(2)), two);
  if constexpr (N == 3) return three;
  return __builtin_fmaf(float(a.at(N - 1)), float(b.at(N - 1)), three);
}

template <typename T, int N>
inline float norm(const vec<T, N>& a) {
  return __builtin_sqrtf(inner_product(a, a));
}

}  // namespace __am

namespace metal {

template <typename T, int N, __am::geometric<T> = 0>
constexpr T dot(vec<T, N> a, vec<T, N> b) {
  return static_cast<T>(__am::inner_product(a, b));
}
template <typename T, int N, __am::geometric<T> = 0>
constexpr T length_squared(vec<T, N> a) {
  return static_cast<T>(__am::inner_product(a, a));
}
template <typename T, int N, __am::geometric<T> = 0>
constexpr T length(vec<T, N> a) {
  return static_cast<T>(__am::norm(a));
}
template <typename T, int N, __am::geometric<T> = 0>
constexpr T distance_squared(vec<T, N> a, vec<T, N> b) {
  return length_squared(b - a);
}
template <typename T, int N, __am::geometric<T> = 0>
constexpr T distance(vec<T, N> a, vec<T, N> b) {
  return length(b - a);
}
template <typename T, int N, __am::geometric<T> = 0>
constexpr vec<T, N> normalize(vec<T, N> a) {
  return vec<T, N>(vec<float, N>(a) / __am::norm(a));
}
template <typename T, __am::geometric<T> = 0>
constexpr vec<T, 3> cross(vec<T, 3> a, vec<T, 3> b) {
  return a.get_yzx() * b.get_zxy() - a.get_zxy() * b.get_yzx();
}
template <typename T, int N, __am::geometric<T> = 0>
constexpr vec<T, N> faceforward(vec<T, N> normal, vec<T, N> incident, vec<T, N> reference) {
  return __am::inner_product(reference, incident) < 0 ? normal : -normal;
}
template <typename T, int N, __am::geometric<T> = 0>
constexpr vec<T, N> reflect(vec<T, N> incident, vec<T, N> normal) {
  return incident - static_cast<T>(2 * __am::inner_product(normal, incident)) * normal;
}
template <typename T, int N, __am::geometric<T> = 0>
constexpr vec<T, N> refract(vec<T, N> incident, vec<T, N> normal, T eta) {
  const float ratio = eta;
  const float cosine = __am::inner_product(normal, incident);
  const float k = 1 - ratio * ratio * (1 - cosine * cosine);
  const T along = static_cast<T>(ratio * cosine + __builtin_sqrtf(k));
  return k < 0 ? vec<T, N>(T(0)) : eta * incident - along * normal;
}

// A scalar or a packed vector may stand for a vector in the functions of two vectors.
AM_MIXED2(unify_points, dot)
AM_MIXED2(unify_points, distance)
AM_MIXED2(unify_points, distance_squared)
AM_MIXED2(unify_points, cross)
AM_MIXED2(unify_points, reflect)
AM_MIXED1(unify_points, length)
AM_MIXED1(unify_points, length_squared)
AM_MIXED1(unify_points, normalize)

namespace precise {
using metal::distance, metal::length, metal::normalize;
}
namespace fast {
using metal::distance, metal::length, metal::normalize;
}

}  // namespace metal
