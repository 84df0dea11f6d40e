// Truncation, saturation, and NaN as 0.
// input: x = float32[20] [0.9, -0.9, 1e10, -1e10, np.nan, np.inf, -np.inf, 2**31, -(2.0**31), 2.0**32, 254.7, -1.5, 3e9, 70000, -70000, 300, -300, 127.9, 2.0**63, -1e30]
// output: i = int32[20]
// output: u = uint32[20]
// output: l = int64[20]
// output: ul = uint64[20]
// grid: 20
// threadgroup: 32
// where:
//     def cast(low, high):
//         return [0 if v != v else low if v <= low else high if v >= high else int(v) for v in x.tolist()]
// expect: i = np.array(cast(-2**31, 2**31 - 1))
// expect: u = np.array(cast(0, 2**32 - 1))
// expect: l = np.array(cast(-2**63, 2**63 - 1))
// expect: ul = np.array(cast(0, 2**64 - 1), dtype=np.uint64)
uint t = thread_position_in_grid.x;
i[t] = int(x[t]);
u[t] = static_cast<uint>(x[t]);
l[t] = (long)x[t];
ul[t] = ulong(x[t]);
