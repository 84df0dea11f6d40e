// There is no stage-in region: it begins at zero and counts as the whole grid.
// output: y = uint32[9]
// grid: 7 3 2
// threadgroup: 7 3 2
// expect: y = [0, 0, 0, 7, 3, 2, 7, 3, 2]
device packed_uint3* row = (device packed_uint3*)y;
row[0] = grid_origin;
row[1] = grid_size;
row[2] = threads_per_grid;
