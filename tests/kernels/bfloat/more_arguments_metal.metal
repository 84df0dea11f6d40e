// bfloat functions of several arguments; nextafter steps in float and so stays.
// input: x = bfloat16[40] uniform(-3, 3)
// input: z = bfloat16[40] uniform(0.2, 3)
// input: t = bfloat16[40] uniform(-3, 3)
// output: y = bfloat16[40, 20]
// output: k = int32[40]
// grid: 40
// threadgroup: 32
// where:
//     u, v, w = x.astype('d'), z.astype('d'), t.astype('d')
// expect: y = np.stack([np.arctan2(u, v), u / v, np.maximum(u - v, 0), u * v + w,
//         np.maximum(u, v), np.max([u, v, w], axis=0), np.median([u, v, w], axis=0), np.minimum(u, v),
//         np.min([u, v, w], axis=0), np.fmod(u, v), np.maximum(u, v), np.max([u, v, w], axis=0),
//         np.median([u, v, w], axis=0), np.minimum(u, v), np.min([u, v, w], axis=0), np.abs(u) ** v,
//         np.abs(u) ** v, u * 8, u, np.frexp(u)[0]], axis=1)
// expect: k = np.frexp(u)[1]
// close: 0
uint i = thread_position_in_grid.x;
bfloat u = x[i], v = z[i], w = t[i];
int e;
device bfloat* row = y + 20 * i;
row[0] = atan2(u, v);
row[1] = divide(u, v);
row[2] = fdim(u, v);
row[3] = fma(u, v, w);
row[4] = fmax(u, v);
row[5] = fmax3(u, v, w);
row[6] = fmedian3(u, v, w);
row[7] = fmin(u, v);
row[8] = fmin3(u, v, w);
row[9] = fmod(u, v);
row[10] = max(u, v);
row[11] = max3(u, v, w);
row[12] = median3(u, v, w);
row[13] = min(u, v);
row[14] = min3(u, v, w);
row[15] = pow(abs(u), v);
row[16] = powr(abs(u), v);
row[17] = ldexp(u, 3);
row[18] = nextafter(u, v);
row[19] = frexp(u, e);
k[i] = e;
