// Assertions about types, sizes, template arguments and constexpr functions.
// input: x = float32[8] normal
// output: y = float32[8]
// grid: 8
// template: N=8 T=float16
// expect: y = x
// header:
constexpr int cube(int v) { return v * v * v; }
// body:
static_assert(N == 8 && sizeof(T) == 2);
static_assert(cube(N / 4) == 8, "two cubed");
static_assert(is_same_v<T, half>, "the dtype");
static_assert(sizeof(float3) == 16 && sizeof(packed_float3) == 12 && alignof(half3) == 8, "sizes");
constexpr int list[] = {1, 2, 3};
static_assert(sizeof(list) / sizeof(list[0]) == 3, "three");
y[thread_position_in_grid.x] = x[thread_position_in_grid.x];
