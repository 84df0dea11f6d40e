// Sizes and alignments that Metal promises.
// output: y = int32[1]
// grid: 1
// expect: y = 7
static_assert(sizeof(float3) == 16 && alignof(float3) == 16, "as wide as four");
static_assert(sizeof(packed_float3) == 12 && alignof(packed_float3) == 4);
static_assert(sizeof(bool4) == 4 && sizeof(half) == 2 && sizeof(bfloat) == 2, "small ones");
static_assert(sizeof(long) == 8 && sizeof(size_t) == 8 && sizeof(ptrdiff_t) == 8, "64 bits");
static_assert(is_same_v<decltype(1.0), float> && is_same_v<decltype(1.0h), half>, "literals");
static_assert(metal::is_same_v<decltype(half(1) + 1), half>, "half stays half");
struct alignas(16) Padded { char c; };
static_assert(sizeof(Padded) == 16, "alignas");
y[0] = 7;
