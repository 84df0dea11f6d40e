// <metal_array>: array<T, N>, an aggregate with the interface of a C++ array; array_ref<T>, a view.
#pragma once

namespace metal {

template <typename T, size_t N>
struct array {
  using value_type = T;
  using size_type = size_t;

  T elements[N];

  constexpr size_t size() const { return N; }
  constexpr size_t max_size() const { return N; }
  constexpr bool empty() const { return N == 0; }
  constexpr const T& operator[](size_t i) const { return elements[i]; }
  constexpr T& operator[](size_t i) { return elements[i]; }
  constexpr const T& at(size_t i) const { return elements[i]; }
  constexpr T& at(size_t i) { return elements[i]; }
  constexpr const T& front() const { return elements[0]; }
  constexpr T& front() { return elements[0]; }
  constexpr const T& back() const { return elements[N - 1]; }
  constexpr T& back() { return elements[N - 1]; }
  constexpr const T* data() const { return elements; }
  constexpr T* data() { return elements; }
  constexpr const T* begin() const { return elements; }
  constexpr T* begin() { return elements; }
  constexpr const T* end() const { return elements + N; }
  constexpr T* end() { return elements + N; }
  constexpr void fill(const T& value) {
    for (size_t i = 0; i < N; ++i) elements[i] = value;
  }
};

template <typename T>
struct array_ref {
  const T* first = nullptr;
  size_t count = 0;

  constexpr array_ref() = default;
  constexpr array_ref(const T* data, size_t length) : first(data), count(length) {}
  template <size_t N>
  constexpr array_ref(const T (&data)[N]) : first(data), count(N) {}
  template <size_t N>
  constexpr array_ref(const array<T, N>& data) : first(data.elements), count(N) {}

  constexpr size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr const T& operator[](size_t i) const { return first[i]; }
  constexpr const T* data() const { return first; }
  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + count; }
};

// A value that is the same in every thread: the shape analysis finds that out by itself.
template <typename T>
using uniform = T;
template <typename T>
constexpr T make_uniform(T value) {
  return value;
}

}  // namespace metal
