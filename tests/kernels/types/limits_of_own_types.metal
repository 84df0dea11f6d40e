// Templates that Metal's headers are made of, as kernels use them: numeric_limits has what its base
// has, for types of a kernel, too; components of vectors; which types cross lanes.
// output: y = int32[8]
// grid: 1
// expect: y = [-3, 9, 127, 4, 1, 1, 0, 1]
// header:
struct Indexed {
  int value;
};
namespace metal {
template <>
struct _numeric_limits_impl<Indexed> {
  static constexpr Indexed lowest() { return {-3}; }
  static constexpr Indexed max() { return {9}; }
};
}  // namespace metal
template <typename T>
constexpr constant bool crosses = __is_valid_simdgroup_type<T>::value;
// body:
y[0] = numeric_limits<Indexed>::lowest().value;
y[1] = numeric_limits<const Indexed>::max().value;
y[2] = numeric_limits<char>::max();
y[3] = vec_elements<half4>::value;
y[4] = vec_elements<float>::value;
y[5] = crosses<uint> && crosses<half2>;
y[6] = crosses<long> || crosses<bool>;
y[7] = crosses<float>;
