// Lanes that are elsewhere vote for nothing.
// output: y = uint32[40]
// output: z = uint32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.resize([13, 2, 13, 13], 40)
// expect: z = np.resize([3, 1, 2, 2], 40)
uint i = thread_position_in_grid.x;
if (thread_index_in_quadgroup != 1) {
  y[i] = (uint)(ulong)quad_active_threads_mask();
  z[i] = quad_is_first() + 2 * quad_all(thread_index_in_quadgroup != 1);
} else {
  y[i] = (uint)(ulong)quad_ballot(true);
  z[i] = quad_is_first();
}
