// Inside of valid memory, but of another array: the index of the output is used for the mask.
// input: x = float32[64]
// input: mask = bool[16]
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
y[i] = mask[i / 4] ? x[i] : 0;
