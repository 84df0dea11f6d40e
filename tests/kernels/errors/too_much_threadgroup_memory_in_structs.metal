// 33 KiB in two arrays, one of them of structs.
// output: y = float32[4]
// grid: 4
// error: KernelLoadError: Threadgroup memory size \(33792\) exceeds the maximum threadgroup memory allowed \(32768\)
struct Item { float4 v[4]; };
threadgroup Item items[512];
threadgroup uchar bytes[32][32];
items[thread_index_in_threadgroup].v[0] = 1;
bytes[thread_index_in_threadgroup][0] = 1;
threadgroup_barrier(mem_flags::mem_threadgroup);
y[thread_position_in_grid.x] = items[0].v[0].x + bytes[3][0];
