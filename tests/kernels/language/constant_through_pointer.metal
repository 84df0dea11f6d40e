// Constant data handed to functions by pointer and by reference.
// input: x = int32[48] integers(0, 3)
// output: y = float32[48]
// grid: 48
// threadgroup: 32
// expect: y = np.array([0.5, 1.5, 2.5, 3.5])[x] * 10
// header:
constant float halves[4] = {0.5, 1.5, 2.5, 3.5};
constant float ten = 10;
float pick(const constant float* table, int i, constant float& scale) { return table[i] * scale; }
// body:
uint t = thread_position_in_grid.x;
constant float* start = halves + 1;
y[t] = pick(start - 1, x[t], ten);
