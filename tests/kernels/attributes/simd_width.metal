// A SIMD-group has 32 threads, by both names.
// output: y = uint32[2]
// grid: 1
// expect: y = [32, 32]
y[0] = threads_per_simdgroup;
y[1] = thread_execution_width;
