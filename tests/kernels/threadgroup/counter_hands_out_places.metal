// A scalar atomic gives every thread that passes a place of its own.
// input: x = int32[80] integers(0, 99)
// output: y = int32[2]
// output: z = int32[80]
// grid: 80
// threadgroup: 40
// init: 0
// where:
//     r = x.reshape(2, 40)
//     kept = np.zeros((2, 40), int)
// expect: y = (r % 3 == 0).sum(1)
// expect: z = np.stack([np.sort(np.where(g % 3 == 0, g + 1, 0))[::-1] for g in r])
threadgroup atomic_uint next;
threadgroup int slots[40];
const uint l = thread_index_in_threadgroup, t = thread_position_in_grid.x;
slots[l] = 0;
if (l == 0) atomic_store_explicit(&next, 0, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
if (x[t] % 3 == 0) slots[atomic_fetch_add_explicit(&next, 1, memory_order_relaxed)] = x[t] + 1;
threadgroup_barrier(mem_flags::mem_threadgroup);
int rank = 0;
for (uint i = 0; i < 40; i++) rank += slots[i] > slots[l] || (slots[i] == slots[l] && i < l);
z[t - l + rank] = slots[l];
if (l == 0) y[threadgroup_position_in_grid.x] = atomic_load_explicit(&next, memory_order_relaxed);
