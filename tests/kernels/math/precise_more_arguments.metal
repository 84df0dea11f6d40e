// Functions of several arguments in metal::precise, clamp, saturate and the geometric ones included.
// input: x = float32[40] uniform(0.6, 4)
// input: z = float32[40] uniform(0.2, 3)
// output: y = float32[40, 24]
// grid: 40
// threadgroup: 40
// where:
//     u = x.astype('d')
//     v = z.astype('d')
// expect: y = np.stack([np.arctan2(u, v), -u, u / v,
//         np.maximum(u - v, 0), u * v + u, np.maximum(u, v),
//         np.minimum(u, v), np.maximum(np.maximum(u, v), 1), np.minimum(np.minimum(u, v), 1),
//         np.median([u, v, u * 0 + 1], axis=0), np.fmod(v, u), u ** v,
//         u ** v, np.maximum(u, v), np.minimum(u, v),
//         8 * u, np.clip(v, 0.5, u), np.clip(v, 0, 1),
//         np.sin(u) + np.cos(u), u, np.frexp(u)[0] * np.frexp(u)[1],
//         np.hypot(u - 1, v - 2), np.sqrt(u * u + v * v + 4), u / np.hypot(u, v)], axis=1)
// close: 1e-6
float u = x[thread_position_in_grid.x], v = z[thread_position_in_grid.x], w;
int e;
device float* row = y + 24 * thread_position_in_grid.x;
row[0] = precise::atan2(u, v);
row[1] = precise::copysign(u, -v);
row[2] = precise::divide(u, v);
row[3] = precise::fdim(u, v);
row[4] = precise::fma(u, v, u);
row[5] = precise::fmax(u, v);
row[6] = precise::fmin(u, v);
row[7] = precise::fmax3(u, v, 1.0f);
row[8] = precise::fmin3(u, v, 1.0f);
row[9] = precise::fmedian3(u, v, 1.0f);
row[10] = precise::fmod(v, u);
row[11] = precise::pow(u, v);
row[12] = precise::powr(u, v);
row[13] = precise::max(u, v);
row[14] = precise::min(u, v);
row[15] = precise::ldexp(u, 3);
row[16] = precise::clamp(v, 0.5f, u);
row[17] = precise::saturate(v);
row[18] = precise::sincos(u, w) + w;
row[19] = precise::modf(u, w) + w;
row[20] = precise::frexp(u, e) * e;
row[21] = precise::distance(float2(u, v), float2(1, 2));
row[22] = precise::length(float3(u, v, 2));
row[23] = precise::normalize(float2(u, v)).x;
