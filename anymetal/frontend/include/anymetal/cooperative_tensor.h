// <metal_cooperative_tensor>: matrices that the threads of an operation hold together, some
// elements each.
#pragma once

#include "tensor.h"
#include "tensor_rows.h"

#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

namespace metal {

template <typename T, typename Extents, typename Layout>
class cooperative_tensor {
 public:
  using element_type = T;
  using value_type = T;
  using extents_type = Extents;
  using index_type = typename Extents::index_type;
  using layout = Layout;

  // An element with its place.
  template <typename Element>
  class place_iterator {
   public:
    using layout = Layout;

    place_iterator(Element* element, uint16_t number) : element(element), number(number) {}

    Element& operator*() const { return *element; }
    Element* operator->() const { return element; }
    place_iterator& operator++() {
      ++element, ++number;
      return *this;
    }
    place_iterator operator++(int) {
      place_iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const place_iterator& other) const { return number == other.number; }
    bool operator!=(const place_iterator& other) const { return number != other.number; }

    int index() const { return number; }
    bool is_valid_element() const { return Layout::valid(number); }
    auto get_multidimensional_index() const { return place(number); }

   private:
    Element* element;
    uint16_t number;
  };
  using iterator = place_iterator<T>;
  using const_iterator = place_iterator<const T>;

  static constexpr size_t get_rank() { return Extents::rank(); }
  static constexpr uint16_t get_capacity() { return Layout::capacity; }
  static constexpr uint16_t capacity() { return Layout::capacity; }
  static constexpr uint16_t size() { return Layout::capacity; }

  T& operator[](size_t i) { return elements[i]; }
  const T& operator[](size_t i) const { return elements[i]; }
  iterator begin() { return {elements, 0}; }
  iterator end() { return {elements + Layout::capacity, Layout::capacity}; }
  const_iterator begin() const { return {elements, 0}; }
  const_iterator end() const { return {elements + Layout::capacity, Layout::capacity}; }

  // Not every element of every thread is one of the matrix.
  static bool is_valid_element(size_t i) { return Layout::valid(static_cast<int>(i)); }
  static bool get_mask(size_t i) { return is_valid_element(i); }
  // Column and row, or the number in a row or column of reductions.
  static auto get_multidimensional_index(size_t i) { return place(static_cast<int>(i)); }

  // The element here that belongs to one of another matrix (see is_iterator_compatible).
  template <typename Other>
  iterator map_iterator(const Other& other) {
    const int i = Layout::template element_for<typename Other::layout>(other.index());
    return {elements + i, static_cast<uint16_t>(i)};
  }

  // What is outside of a tensor reads as zero, and is not written.
  template <typename Source>
  void load(const Source& from) {
    static_assert(Source::rank() == Extents::rank(), "load: a tensor of the same rank");
    if constexpr (by_rows) {
      __am::held_rows<number, Layout> rows;
      rows.clear();
      rows.load(from);
      rows.to_blocks(elements);
    } else {
      for (int i = 0; i < Layout::capacity; ++i) {
        elements[i] = inside(from, i) ? static_cast<T>(from[place(i)]) : T(0);
      }
    }
  }
  template <typename Target>
  void store(const Target& to) const {
    static_assert(Target::rank() == Extents::rank(), "store: a tensor of the same rank");
    if constexpr (by_rows) {
      __am::held_rows<number, Layout> rows;
      rows.from_blocks(elements);
      rows.store(to);
    } else {
      for (int i = 0; i < Layout::capacity; ++i) {
        if (inside(to, i)) to[place(i)] = static_cast<typename Target::value_type>(elements[i]);
      }
    }
  }

 private:
  static constexpr bool by_rows = Layout::shared && sizeof(T) <= 4;
  using number = conditional_t<is_floating_point_v<T>, float, int>;

  static array<index_type, Extents::rank()> place(int i) {
    const auto at = Layout::place(i);
    array<index_type, Extents::rank()> result;
    for (size_t d = 0; d < Extents::rank(); ++d) result[d] = static_cast<index_type>(at[d]);
    return result;
  }
  template <typename Tensor>
  static bool inside(const Tensor& tensor, int i) {
    const auto at = Layout::place(i);
    bool within = Layout::valid(i);
    for (size_t d = 0; d < Extents::rank(); ++d) within = within && at[d] < tensor.get_extent(d);
    return within;
  }

  T elements[Layout::capacity];
};

}  // namespace metal

namespace __am {

template <typename T>
constexpr bool is_cooperative = false;
template <typename T, typename Extents, typename Layout>
constexpr bool is_cooperative<metal::cooperative_tensor<T, Extents, Layout>> = true;

}  // namespace __am

#pragma clang attribute pop
#pragma clang attribute pop
