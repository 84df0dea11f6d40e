// Rows that an array names; not all of them are there.
// input: table = float32[999, 64] normal
// input: index = int32[32771] integers(-5, 1010)
// output: out = float32[32771, 64]
// grid: 64 32771
// threadgroup: 32 1
// where: inside = (index >= 0) & (index < 999)
// expect: out = np.where(inside[:, None], table[np.clip(index, 0, 998)], 0)
uint column = thread_position_in_grid.x, row = thread_position_in_grid.y;
int from = index[row];
float value = 0;
if (from >= 0 && from < table_shape[0]) value = table[from * 64 + column];
out[row * 64 + column] = value;
