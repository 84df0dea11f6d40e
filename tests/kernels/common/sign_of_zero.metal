// sign keeps the sign of a zero.
// dtypes: float32 float16
// input: x = T[3] [0.0, -0.0, -2.0]
// output: y = bool[3]
// grid: 3
// expect: y = [False, True, True]
uint i = thread_position_in_grid.x;
y[i] = signbit(sign(x[i]));
