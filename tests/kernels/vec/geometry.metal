// dot, cross, length, normalize, distance.
// input: a = float32[40, 3] normal
// input: b = float32[40, 3] normal
// output: d = float32[40]
// output: c = float32[40, 3]
// output: l = float32[40]
// output: n = float32[40, 3]
// grid: 40
// threadgroup: 32
// expect: d = (a.astype(float) * b).sum(axis=1)
// expect: c = np.cross(a.astype(float), b)
// expect: l = np.linalg.norm(a.astype(float) - b, axis=1)
// expect: n = a / np.linalg.norm(a.astype(float), axis=1, keepdims=True)
// close: 1e-5 1e-6
uint i = thread_position_in_grid.x;
float3 p = float3(a[3 * i], a[3 * i + 1], a[3 * i + 2]);
float3 q = float3(b[3 * i], b[3 * i + 1], b[3 * i + 2]);
d[i] = dot(p, q);
l[i] = distance(p, q);
float3 r = cross(p, q);
float3 u = normalize(p);
for (int k = 0; k < 3; k++) {
  c[3 * i + k] = r[k];
  n[3 * i + k] = u[k];
}
