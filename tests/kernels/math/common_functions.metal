// clamp, mix, saturate, sign, step, smoothstep, fma, copysign.
// input: x = float32[80] uniform(-2, 2)
// output: y = float32[80, 8]
// grid: 80
// threadgroup: 32
// where:
//     d = x.astype(np.float64)
//     s = np.clip((d + 1) / 2, 0, 1)
// expect: y = np.stack([np.clip(d, -0.5, 0.75), 1 + (5 - 1) * np.clip(d, 0, 1), np.clip(d, 0, 1), np.sign(d), d >= 0.25, s * s * (3 - 2 * s), d * d + 3, np.copysign(7, d)], axis=1)
// close: 1e-6
uint t = thread_position_in_grid.x;
float v = x[t];
device float* row = y + 8 * t;
row[0] = clamp(v, -0.5f, 0.75f);
row[1] = mix(1.0f, 5.0f, saturate(v));
row[2] = saturate(v);
row[3] = sign(v);
row[4] = step(0.25f, v);
row[5] = smoothstep(-1.0f, 1.0f, v);
row[6] = fma(v, v, 3.0f);
row[7] = copysign(7.0f, v);
