// For the kernels of Metal files (`metal_library`): what their parameters are, and how the function
// that the launch calls hands arguments to them. Not a part of what kernels themselves see.
#pragma once

#define AM_PASS inline __attribute__((always_inline, nodebug))

namespace __am::library {

// A scalar type as its place in ELEMENTS of frontend/parameters.py; 0 is anything else.
template <typename T>
constexpr int element = 0;
#define AM_ELEMENT(type, place) \
  template <>                   \
  constexpr int element<type> = place;
AM_ELEMENT(bool, 1)
AM_ELEMENT(char, 2)
AM_ELEMENT(signed char, 2)
AM_ELEMENT(uchar, 3)
AM_ELEMENT(short, 4)
AM_ELEMENT(ushort, 5)
AM_ELEMENT(int, 6)
AM_ELEMENT(uint, 7)
AM_ELEMENT(long, 8)
AM_ELEMENT(long long, 8)
AM_ELEMENT(ulong, 9)
AM_ELEMENT(unsigned long long, 9)
AM_ELEMENT(half, 10)
AM_ELEMENT(bfloat, 11)
AM_ELEMENT(float, 12)
#ifdef AM_MLX
AM_ELEMENT(complex_t<float>, 13)
#endif
#undef AM_ELEMENT

template <typename T, int Lanes = 1>
struct content {
  static constexpr int kind = element<T>, lanes = Lanes;
};
template <typename T, int N>
struct content<vec<T, N>> : content<T, N> {};
template <typename T, int N>
struct content<packed_vec<T, N>> : content<T, N> {};
template <typename T>
struct content<atomic<T>> : content<T> {};

template <typename T>
constexpr int size_of = sizeof(T);
template <>
constexpr int size_of<void> = 0;

// The properties of a parameter: by value, pointer (1) or reference (2); whether it is read only;
// element, components and bytes of what it holds or points to.
template <typename T, int Form = 0>
struct parameter {
  using pointee = remove_cv_t<T>;
  static constexpr int form = Form, readonly = __is_const(T), element = content<pointee>::kind,
                       lanes = content<pointee>::lanes, size = size_of<pointee>;
};
template <typename T>
struct parameter<T*> : parameter<T, 1> {};
template <typename T>
struct parameter<T&> : parameter<T, 2> {};

template <typename F>
constexpr bool returns_void = false;
template <typename... P>
constexpr bool returns_void<void(P...)> = true;
template <typename F>
constexpr bool returns_void<F&> = returns_void<F>;

template <typename F>
struct signature {
  static_assert(__is_same(F, void), "a kernel returns void");
};
template <typename... P>
struct signature<void(P...)> {
  template <int I>
  using at = __type_pack_element<I, P...>;
};
template <typename F>
struct signature<F&> : signature<F> {};

// What Python reads of the parameters of a function of this type; the first row is there for
// functions without parameters.
struct row {
  int form, readonly, element, lanes, size;
};
template <typename F>
struct properties;
template <typename... P>
struct properties<void(P...)> {
  static constexpr row rows[] = {{1, 1, 1, 1, 1},
                                 {parameter<P>::form, parameter<P>::readonly, parameter<P>::element,
                                  parameter<P>::lanes, parameter<P>::size}...};
};
template <typename F>
struct properties<F&> : properties<F> {};

// From the address of a buffer to the parameter, a pointer or a reference.
template <typename P>
struct argument;
template <typename T>
struct argument<T*> {
  static AM_PASS T* at(const void* address) { return (T*)address; }
};
template <typename T>
struct argument<T&> {
  static AM_PASS T& at(const void* address) { return *(T*)address; }
};

// Elements of the array behind a threadgroup parameter: bytes for structs, whose constructors Metal
// does not call either.
template <typename P>
using memory = conditional_t<(parameter<P>::element > 0), remove_pointer_t<remove_reference_t<P>>,
                             unsigned char>;

}  // namespace __am::library

#undef is_function_constant_defined
#define is_function_constant_defined(name) __am_is_defined_##name

// The words `[[kernel]]` and `kernel`: functions that nobody calls shall leave no code behind.
#define __am_k clang::internal_linkage
#define __am_K __attribute__((internal_linkage))

#undef AM_PASS
