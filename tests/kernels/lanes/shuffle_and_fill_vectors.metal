// Vectors, by default over all 32 lanes: windows that slide over a longer row.
// dtypes: float32 float16 int8
// input: x = T[64, 4] random
// output: y = T[32, 4]
// output: z = T[32, 3]
// grid: 32
// threadgroup: 32
// expect: y = x[7:39]
// expect: z = np.concatenate([x[:32], x[32:]])[25:57, :3]
uint i = thread_position_in_grid.x;
const device vec<T, 4>* rows = (const device vec<T, 4>*)x;
((device vec<T, 4>*)y)[i] = simd_shuffle_and_fill_down(rows[i], rows[32 + i], 7);
((device packed_vec<T, 3>*)z)[i] = simd_shuffle_and_fill_up(rows[32 + i].xyz, rows[i].xyz, 7);
