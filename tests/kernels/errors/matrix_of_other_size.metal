// Only 8 x 8.
// output: y = float32[16,16]
// grid: 32
// threadgroup: 32
// error: a simdgroup_matrix has 8 columns and 8 rows
simdgroup_matrix<float, 16, 16> m;
y[0] = m.thread_elements()[0];
