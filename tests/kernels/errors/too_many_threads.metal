// 1025 threads do not fit into a threadgroup.
// output: y = int32[2000]
// grid: 2000
// threadgroup: 1025
// error: KernelLaunchError: Thread group size \(1025\) is greater than  the maximum allowed threads per threadgroup \(1024\)
y[thread_position_in_grid.x] = 1;
