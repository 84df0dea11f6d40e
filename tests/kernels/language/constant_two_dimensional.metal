// A table of two dimensions; its row as a pointer to constant.
// input: x = int32[60] integers(0, 5)
// output: y = int32[60]
// grid: 60
// threadgroup: 32
// where:
//     table = np.array([[1, 2, 3], [40, 50, 60]])
// expect: y = table[x % 2, x // 2] + table[x % 2].sum(axis=1)
// header:
constant int table[2][3] = {{1, 2, 3}, {40, 50, 60}};
int sum(constant int* row) { return row[0] + row[1] + row[2]; }
// body:
uint t = thread_position_in_grid.x;
y[t] = table[x[t] % 2][x[t] / 2] + sum(table[x[t] % 2]);
