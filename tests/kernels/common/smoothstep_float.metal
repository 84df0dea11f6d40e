// Smooth steps of width 0.5 and of reversed edges.
// input: x = float32[90] uniform(0, 2)
// output: y = float32[90, 2]
// grid: 90
// threadgroup: 32
// where:
//     t = np.clip((x - 0.5) / 0.5, 0, 1)
//     s = np.clip((x - 2) / (1 - 2), 0, 1)
// expect: y = np.stack([t * t * (3 - 2 * t), s * s * (3 - 2 * s)], axis=1)
// close: 1e-6
uint i = thread_position_in_grid.x;
y[2 * i] = smoothstep(0.5f, 1.0f, x[i]);
y[2 * i + 1] = smoothstep(2.0f, 1.0f, x[i]);
