// A gather whose index comes from a gather, behind a choice.
// input: pick = bool[216] random
// input: at = int32[108] random
// input: x = int8[256] random
// output: y = int8[108]
// grid: 6 6 3
// threadgroup: 2 4 3
// where:
//     chosen = np.where(pick[tid * 2], x[at[tid] & 255], x[tid * 2])
// expect: y = np.clip(x[(x[tid * 2].astype(int)) & 255].astype(int) + 29, -128, 127).astype(np.int8) ^ chosen
uint3 p = thread_position_in_grid;
uint t = p.x + threads_per_grid.x * (p.y + threads_per_grid.y * p.z);
char a = addsat(x[uint(x[t * 2]) & 255u], char(29));
y[t] = a ^ (pick[t * 2] ? x[at[t] & 255] : x[t * 2]);
