// not, a function for vectors and a word for `!` of a scalar.
// input: x = int32[20, 3] integers(-1, 1)
// output: y = bool[20, 4]
// grid: 20
// threadgroup: 8
// expect: y = np.concatenate([x != 0, x[:, :1] == 0], axis=1)
uint i = thread_position_in_grid.x;
int3 v(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
bool3 zero = v == 0;
bool3 other = not(zero);
for (int k = 0; k < 3; ++k) y[4 * i + k] = other[k];
y[4 * i + 3] = not(v.x != 0);
