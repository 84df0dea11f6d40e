// Any and all components, of 2, 3 and 4: every combination.
// output: y = bool[16, 6]
// grid: 16
// threadgroup: 16
// where:
//     bits = (np.arange(16)[:, None] >> np.arange(4)) % 2 == 1
//     columns = [f(bits[:, :n], axis=1) for n in (2, 3, 4) for f in (np.any, np.all)]
// expect: y = np.stack(columns, axis=1)
uint i = thread_position_in_grid.x;
bool4 b(i & 1, i & 2, i & 4, i & 8);
device bool* row = y + 6 * i;
row[0] = any(b.xy), row[1] = all(b.xy);
row[2] = any(b.xyz), row[3] = all(b.xyz);
row[4] = any(b), row[5] = all(b);
