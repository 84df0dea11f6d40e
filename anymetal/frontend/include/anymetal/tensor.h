// <metal_tensor>: extents, and tensors, which are views of memory with a size in each dimension.
// Dimension 0 is the innermost one: of a matrix it counts columns.
//
// Kernels include this by name: it is no part of metal.h, whose attributes it repeats.
#pragma once

#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

#define __HAVE_TENSOR__ 1

namespace metal {

constexpr size_t dynamic_extent = ~size_t{0};
template <typename T>
constexpr T dynamic_length_v = static_cast<T>(dynamic_extent);

// Sizes, each known when compiling or `dynamic_extent`.
template <typename Index, size_t... Sizes>
struct extents {
  using index_type = Index;
  using size_type = make_unsigned_t<Index>;
  using rank_type = size_t;

  static constexpr size_t rank() { return sizeof...(Sizes); }
  static constexpr size_t rank_dynamic() { return (0 + ... + (Sizes == dynamic_extent)); }
  static constexpr size_t static_extent(size_t dimension) {
    constexpr size_t all[] = {Sizes...};
    return all[dimension];
  }

  constexpr extents() = default;
  // All sizes, or those that are dynamic.
  template <typename... Given, typename = enable_if_t<(sizeof...(Given) == sizeof...(Sizes)) ||
                                                      (sizeof...(Given) == rank_dynamic())>>
  constexpr extents(Given... given) {
    const Index values[] = {static_cast<Index>(given)...};
    set(values, sizeof...(Given) == rank());
  }
  template <typename T, size_t N>
  constexpr extents(const array<T, N>& given) {
    static_assert(N == rank() || N == rank_dynamic(), "one size for each dimension");
    set(given.elements, N == rank());
  }
  template <size_t... Others>
  constexpr extents(const extents<Index, Others...>& other) {
    static_assert(sizeof...(Others) == rank(), "extents of one rank");
    for (size_t i = 0; i < rank(); ++i) sizes[i] = other.extent(i);
  }

  constexpr Index extent(size_t dimension) const { return sizes[dimension]; }
  constexpr Index operator[](size_t dimension) const { return sizes[dimension]; }

 private:
  template <typename T>
  constexpr void set(const T* values, bool all) {
    for (size_t i = 0; i < rank(); ++i) {
      const bool dynamic = static_extent(i) == dynamic_extent;
      if (dynamic) sizes[i] = static_cast<Index>(*values);
      if (dynamic || all) ++values;
    }
  }

  Index sizes[sizeof...(Sizes)] = {(Sizes == dynamic_extent ? Index(0) : Index(Sizes))...};
};

}  // namespace metal

namespace __am {

template <typename Index, size_t Rank, size_t... Sizes>
struct all_dynamic : all_dynamic<Index, Rank - 1, Sizes..., metal::dynamic_extent> {};
template <typename Index, size_t... Sizes>
struct all_dynamic<Index, 0, Sizes...> {
  using type = metal::extents<Index, Sizes...>;
};

}  // namespace __am

namespace metal {

template <typename Index, size_t Rank>
using dextents = typename __am::all_dynamic<Index, Rank>::type;

// How a tensor came to be: bound by the host, made in the kernel, or a part of another.
struct tensor_handle {};
struct tensor_inline {};
struct tensor_offset {};

template <typename T, typename Extents, typename Kind = tensor_handle, typename... Tags>
class tensor {
 public:
  using element_type = T;
  using value_type = remove_cv_t<T>;
  using data_handle_type = T*;
  using extents_type = Extents;
  using index_type = typename Extents::index_type;
  using size_type = typename Extents::size_type;
  using rank_type = typename Extents::rank_type;

  static constexpr size_t get_rank() { return Extents::rank(); }
  static constexpr size_t rank() { return Extents::rank(); }
  static constexpr size_t get_static_extent(size_t i) { return Extents::static_extent(i); }
  static constexpr size_t static_extent(size_t i) { return Extents::static_extent(i); }

  constexpr tensor() = default;
  // Without strides, elements are packed.
  constexpr tensor(T* data, const Extents& sizes) : first(data), sizes(sizes) {
    long step = 1;
    for (size_t i = 0; i < rank(); ++i) {
      steps[i] = step;
      step *= sizes.extent(i);
    }
  }
  template <typename Step>
  constexpr tensor(T* data, const Extents& sizes, const array<Step, Extents::rank()>& strides)
      : first(data), sizes(sizes) {
    for (size_t i = 0; i < rank(); ++i) steps[i] = static_cast<long>(strides[i]);
  }
  template <typename Step>
  constexpr tensor(T* data, const Extents& sizes, const Step (&strides)[Extents::rank()])
      : first(data), sizes(sizes) {
    for (size_t i = 0; i < rank(); ++i) steps[i] = static_cast<long>(strides[i]);
  }

  constexpr T* data() const { return first; }
  constexpr T* get_data() const { return first; }
  constexpr Extents extents() const { return sizes; }
  constexpr Extents get_extents() const { return sizes; }
  constexpr index_type get_extent(size_t dimension) const { return sizes.extent(dimension); }
  constexpr index_type extent(size_t dimension) const { return sizes.extent(dimension); }
  constexpr index_type get_stride(size_t dimension) const {
    return static_cast<index_type>(steps[dimension]);
  }
  constexpr index_type stride(size_t dimension) const { return get_stride(dimension); }

  template <typename Place>
  T& operator[](const array<Place, Extents::rank()>& place) const {
    return first[offset(place.elements)];
  }
  // t[{column, row}], and t[column, row], which becomes that before it is compiled.
  T& operator[](const index_type (&place)[Extents::rank()]) const { return first[offset(place)]; }
  template <typename Place, typename = enable_if_t<is_integral_v<Place> && Extents::rank() == 1>>
  T& operator[](Place place) const {
    return first[static_cast<long>(place) * steps[0]];
  }
  template <typename... Place>
  T& operator()(Place... place) const {
    const index_type all[] = {static_cast<index_type>(place)...};
    return first[offset(all)];
  }

  // What lies behind an origin. With sizes, it is known when compiling that all of it is there.
  template <size_t... Sizes, typename... Place>
  constexpr auto slice(Place... origin) const {
    static_assert(sizeof...(Place) == rank(), "slice takes an origin in each dimension");
    static_assert(sizeof...(Sizes) == 0 || sizeof...(Sizes) == rank(),
                  "slice takes a size for each dimension, or none");
    const index_type at[] = {static_cast<index_type>(origin)...};
    if constexpr (sizeof...(Sizes) == 0) {
      return part<dextents<index_type, Extents::rank()>>(at);
    } else {
      return part<metal::extents<index_type, Sizes...>>(at);
    }
  }
  template <size_t... Sizes, typename... Place>
  constexpr auto static_slice(Place... origin) const {
    return slice<Sizes...>(origin...);
  }

 private:
  template <typename Place>
  constexpr long offset(const Place* place) const {
    long total = 0;
    for (size_t i = 0; i < rank(); ++i) total += static_cast<long>(place[i]) * steps[i];
    return total;
  }

  template <typename Part>
  constexpr auto part(const index_type* origin) const {
    array<long, Extents::rank()> left{}, strides{};
    for (size_t i = 0; i < rank(); ++i) {
      const long rest = static_cast<long>(sizes.extent(i)) - static_cast<long>(origin[i]);
      const bool known = Part::static_extent(i) != dynamic_extent;
      left[i] = known ? static_cast<long>(Part::static_extent(i)) : rest < 0 ? 0 : rest;
      strides[i] = steps[i];
    }
    return tensor<T, Part, tensor_offset>(first + offset(origin), Part(left), strides);
  }

  T* first = nullptr;
  Extents sizes;
  long steps[Extents::rank()] = {};
};

template <typename T, typename Index, size_t... Sizes>
tensor(T*, extents<Index, Sizes...>) -> tensor<T, extents<Index, Sizes...>, tensor_inline>;
template <typename T, typename Index, size_t... Sizes, typename Step, size_t N>
tensor(T*, extents<Index, Sizes...>, array<Step, N>)
    -> tensor<T, extents<Index, Sizes...>, tensor_inline>;

}  // namespace metal

#pragma clang attribute pop
#pragma clang attribute pop
