// One scalar for all, parts of any widths, conversions between all element types.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float16 bfloat16
// input: x = float32[4] [1.75, 100.25, 3, 60]
// output: y = T[4, 4]
// grid: 1
// where:
//     whole = dtype.startswith("int") or dtype.startswith("uint")
//     v = np.trunc(x) if whole else x
//     rows = [v, v[[0, 0, 0, 0]], v[[1, 2, 3, 0]], v[[3, 3, 1, 2]]]
// expect: y = np.stack(rows).astype(np.int64 if whole else np.float32)
float4 f = *(const constant float4*)x;
vec<T, 4> rows[4] = {vec<T, 4>(f), vec<T, 4>(T(f.x)), vec<T, 4>(vec<T, 3>(f.yzw), T(f.x)),
                     vec<T, 4>(T(f.w), vec<T, 2>(float2(f.w, f.y)), T(f.z))};
for (int i = 0; i < 16; ++i) y[i] = rows[i / 4][i % 4];
