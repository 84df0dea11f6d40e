// A 3-D threadgroup at a ragged corner of the grid.
// output: y = int32[7, 6, 5]
// grid: 5 6 7
// threadgroup: 4 4 2
// where:
//     count = np.zeros((7, 6, 5), int)
//     for z in range(7):
//         for yy in range(6):
//             for xx in range(5):
//                 sizes = [min(g, n - c // g * g) for g, n, c in zip((4, 4, 2), (5, 6, 7), (xx, yy, z))]
//                 count[z, yy, xx] = np.prod(sizes)
// expect: y = count
threadgroup atomic_int members;
uint3 at = thread_position_in_grid;
if (thread_index_in_threadgroup == 0) atomic_store_explicit(&members, 0, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
atomic_fetch_add_explicit(&members, 1, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
y[(at.z * 6 + at.y) * 5 + at.x] = atomic_load_explicit(&members, memory_order_relaxed);
