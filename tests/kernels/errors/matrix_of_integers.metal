// Matrices of integers do not exist.
// output: y = int32[8,8]
// grid: 32
// threadgroup: 32
// error: elements of a simdgroup_matrix are float, half or bfloat
simdgroup_matrix<int, 8, 8> m;
y[0] = m.thread_elements()[0];
