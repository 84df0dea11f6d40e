// float4 elements, chosen at run time.
// input: x = float32[40, 4] integers
// input: pick = int32[40] integers(0, 2)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.stack([x.sum(axis=1), x[:, 0] * 2, x[:, 3] - x[:, 1]])[pick, np.arange(40)]
uint t = thread_position_in_grid.x;
float4 v = float4(x[t * 4], x[t * 4 + 1], x[t * 4 + 2], x[t * 4 + 3]);
float4 rows[3] = {v, float4(v.x, v.x, 0, 0), float4(v.w, -v.y, 0, 0)};
float4 row = rows[pick[t]];
y[t] = row.x + row.y + row.z + row.w;
