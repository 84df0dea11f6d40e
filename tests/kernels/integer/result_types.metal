// Results have the type of the argument; absdiff has its unsigned relative.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64
// output: y = bool[1]
// grid: 1
// expect: y = True
T a = 1;
static_assert(is_same_v<decltype(clz(a)), T> && is_same_v<decltype(popcount(a)), T>);
static_assert(is_same_v<decltype(rotate(a, a)), T> && is_same_v<decltype(addsat(a, a)), T>);
static_assert(is_same_v<decltype(absdiff(a, a)), make_unsigned_t<T>>);
static_assert(is_same_v<decltype(mulhi(vec<T, 3>(a), vec<T, 3>(a))), vec<T, 3>>);
static_assert(is_same_v<decltype(min(a, a)), T> && is_same_v<decltype(abs(vec<T, 2>(a))), vec<T, 2>>);
static_assert(is_same_v<decltype(absdiff(vec<T, 4>(a), vec<T, 4>(a))), vec<make_unsigned_t<T>, 4>>);
y[0] = true;
