// An index array; negative indices count from the end.
// input: x = float32[100] normal
// input: index = int32[77] integers(-100, 99)
// output: y = float32[77]
// grid: 77
// threadgroup: 32
// expect: y = x[index]
uint i = thread_position_in_grid.x;
int at = index[i];
y[i] = x[at < 0 ? at + 100 : at];
