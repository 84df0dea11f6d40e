// Copies of a struct of a short and an int without padding between lanes.
// input: x = int16[99] random
// output: y = int16[99]
// grid: 33
// threadgroup: 33
// expect: y = np.roll(x.reshape(33, 3), 1, axis=1).reshape(99)
uint i = thread_position_in_grid.x;
struct S { short a, b, c; } s, r;
s = ((const device S*)x)[i];
r = S{s.c, s.a, s.b};
((device S*)y)[i] = r;
