// `and`, `or`, `not` and digraphs are C++.
// input: x = int32[32] integers(-9, 9)
// output: y = int32[32]
// grid: 32
// expect: y = np.where((x > 0) & ~(x == 5) | (x < -7), 1, 0)
uint t = thread_position_in_grid.x;
y<:t:> = (x[t] > 0 and not (x[t] == 5)) or x[t] < -7 ? 1 : 0;
