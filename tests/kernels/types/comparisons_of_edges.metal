// Comparisons at the ends of each type, signed and unsigned.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64
// input: x = T[64] np.repeat([0, 1, -1, 2**63 - 1, -2**63, 127, -128, 2**31], 8)
// input: z = T[64] np.tile([0, 1, -1, 2**63 - 1, -2**63, 127, -128, 2**31], 8)
// output: y = bool[64, 6]
// grid: 64
// threadgroup: 64
// expect: y = np.stack([x < z, x <= z, x > z, x >= z, x == z, x != z], axis=1)
uint i = thread_position_in_grid.x;
device bool* row = y + 6 * i;
row[0] = x[i] < z[i], row[1] = x[i] <= z[i], row[2] = x[i] > z[i];
row[3] = x[i] >= z[i], row[4] = x[i] == z[i], row[5] = x[i] != z[i];
