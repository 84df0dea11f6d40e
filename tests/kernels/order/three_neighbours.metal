// Three neighbours a lane: each part of the run begins with another component.
// input: x = float32[128, 3] integers(-20, 20)
// input: n = float32 5
// output: y = float32[128, 3]
// grid: 128
// threadgroup: 32
// expect: y = x * [1, 5, 25] - 5
uint i = thread_position_in_grid.x;
y[3 * i] = x[3 * i] * 1 - n;
y[3 * i + 1] = x[3 * i + 1] * n - n;
y[3 * i + 2] = x[3 * i + 2] * (n * n) - n;
