// Smoothing for a number of rounds that an input says, two barriers a round.
// input: x = int32[96] integers(0, 1000)
// input: rounds = int32[2] [3, 5]
// output: y = int32[96]
// grid: 96
// threadgroup: 48
// where:
//     parts = []
//     for part, n in zip(x.reshape(2, 48), rounds):
//         for r in range(n):
//             for s in (1, 2): part = (part + np.roll(part, -s)) // 2
//         parts.append(part)
// expect: y = np.array(parts)
threadgroup int cells[48];
const uint l = thread_index_in_threadgroup, t = thread_position_in_grid.x;
cells[l] = x[t];
for (int r = 0; r < rounds[threadgroup_position_in_grid.x]; r++) {
  for (uint s = 1; s <= 2; s++) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const int v = (cells[l] + cells[(l + s) % 48]) / 2;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    cells[l] = v;
  }
}
y[t] = cells[l];
