// Lanes that only the data tell: of all lanes, of some of them, and out of another gang's order.
// dtypes: float32 int32 uint16 int8
// input: x = T[96] random
// input: k = uint32[96] (np.arange(96) * 11 + 5) // 3 % 32
// output: y = T[3, 96]
// grid: 96
// threadgroup: 96
// where:
//     v, p = x.reshape(3, 32), k.reshape(3, 32).astype(int)
//     w = np.take_along_axis(v, p, 1)
//     odd = np.arange(32) % 2 == 1
// expect: y = np.stack([w, np.where(odd, np.take_along_axis(v, p | 1, 1), v), np.take_along_axis(w, p[:, ::-1], 1)]).reshape(3, 96)
uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup;
T w = simd_shuffle(x[i], ushort(k[i]));
y[i] = w;
T v = x[i];
if (lane & 1) v = simd_shuffle(v, ushort(k[i] | 1));
y[96 + i] = v;
y[192 + i] = simd_shuffle(w, ushort(k[i - lane + 31 - lane]));
