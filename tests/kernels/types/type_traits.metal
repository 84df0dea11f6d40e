// The type traits of namespace metal, as constants and as types.
// output: y = bool[1]
// grid: 1
// expect: y = True
// header:
template <typename T, typename = void>
struct has_real : false_type {};
template <typename T>
struct has_real<T, void_t<decltype(declval<T>().real)>> : true_type {};
template <typename T>
enable_if_t<is_integral_v<T>, int> kind(T) { return 1; }
template <typename T>
enable_if_t<is_floating_point<T>::value, int> kind(T) { return 2; }
// body:
static_assert(metal::is_same<uint, uint32_t>::value && is_same_v<long, int64_t>);
static_assert(is_same_v<conditional_t<true, int, float>, int>);
static_assert(is_same_v<conditional<false, int, float>::type, float>);
static_assert(is_integral_v<char> && !is_integral_v<half> && is_floating_point_v<bfloat>);
static_assert(is_scalar<float>::value && is_arithmetic_v<half> && is_signed_v<short> && is_unsigned_v<uchar>);
static_assert(is_convertible_v<int, float> && is_convertible<half, float>::value);
static_assert(is_same_v<remove_cv_t<const volatile int>, int> && is_same_v<remove_cv<const int>::type, int>);
static_assert(is_same_v<remove_reference_t<thread int&>, int> && is_same_v<make_unsigned_t<short>, ushort>);
static_assert(is_same_v<make_signed_t<ulong>, long> && is_same_v<make_unsigned<char>::type, uchar>);
static_assert(integral_constant<int, 7>::value == 7 && true_type::value && !false_type::value);
static_assert(is_void_v<void> && is_pointer_v<thread int*> && is_array_v<int[3]> && is_enum_v<mem_flags>);
static_assert(has_real<complex64_t>::value && !has_real<float>::value);
static_assert(is_same_v<decltype(declval<float>() + declval<int>()), float>);
y[0] = kind(3u) == 1 && kind(2.0h) == 2;
