// Takes the place of MLX's own file, which specialises a class for pointers into each address
// space. Those are all one type here.
#pragma once

namespace metal {

template <typename T>
struct is_static : bool_constant<is_empty_v<remove_cv_t<T>>> {};

template <typename P>
struct pointer_element {};
template <typename T>
struct pointer_element<T*> {
  using type = remove_cv_t<T>;
};
template <typename P>
using pointer_element_t = typename pointer_element<remove_cv_t<P>>::type;

}  // namespace metal
