// A struct that begins inside and ends outside.
// input: x = float32[32]
// output: y = float32[8]
// grid: 8
// threadgroup: 8
// header:
struct Quad { float a, b, c, d; };
// body:
uint i = thread_position_in_grid.x;
Quad q = ((const device Quad*)x)[i];
y[i] = q.a + q.b + q.c + q.d;
