// coherent(device) pointers, every order and scope of a fence; two groups of lanes exchange values.
// input: x = int32[64] integers(-99, 99)
// output: y = int32[64]
// output: z = int32[64]
// grid: 64
// threadgroup: 64
// expect: y = x
// expect: z = np.roll(x, 1)
uint i = thread_position_in_grid.x;
coherent(device) device int* out = y;
out[i] = x[i];
atomic_thread_fence(mem_flags::mem_device, memory_order_relaxed);
atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_thread);
atomic_thread_fence(mem_flags::mem_device, memory_order_release, thread_scope_simdgroup);
atomic_thread_fence(mem_flags::mem_device, memory_order_acq_rel, thread_scope_device);
threadgroup_barrier(mem_flags::mem_device);
atomic_thread_fence(mem_flags::mem_device, memory_order_acquire, thread_scope_threadgroup);
z[i] = out[(i + 63) % 64];
