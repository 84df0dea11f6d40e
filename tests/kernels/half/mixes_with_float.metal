// half and float make float; half and int make half.
// input: h = float16[64] normal
// output: wide = float32[64]
// output: thin = float16[64]
// grid: 64
// threadgroup: 32
// expect: wide = h * np.float32(1 / 3) + np.float32(0)
// expect: thin = (h.astype(np.float16) * np.float16(3)).astype(np.float16)
uint t = thread_position_in_grid.x;
wide[t] = h[t] * (1.0f / 3.0f);
thin[t] = h[t] * 3;
