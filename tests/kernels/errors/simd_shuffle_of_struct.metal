// Structs do not travel between lanes.
// output: y = float32[4]
// grid: 4
// error: simd_shuffle at 6:10
struct Pair { float a, b; } p = {1, 2};
Pair q = simd_shuffle(p, 0);
y[0] = q.a;
