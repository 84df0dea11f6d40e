// select(a, b, c) is b where c is true, component by component.
// dtypes: float32 float16 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool
// input: a = T[9, 10] random
// input: b = T[9, 10] random
// input: c = bool[9, 10] random
// output: y = T[9, 10]
// grid: 9
// threadgroup: 4
// expect: y = np.where(c, b, a)
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> u(a[i], a[i + 1], a[i + 2], a[i + 3]), v(b[i], b[i + 1], b[i + 2], b[i + 3]);
vec<T, 3> p(a[i + 4], a[i + 5], a[i + 6]), q(b[i + 4], b[i + 5], b[i + 6]);
vec<T, 2> r(a[i + 7], a[i + 8]), s(b[i + 7], b[i + 8]);
u = select(u, v, bool4(c[i], c[i + 1], c[i + 2], c[i + 3]));
p = select(p, q, bool3(c[i + 4], c[i + 5], c[i + 6]));
r = select(r, s, bool2(c[i + 7], c[i + 8]));
for (int k = 0; k < 4; ++k) y[i + k] = u[k];
for (int k = 0; k < 3; ++k) y[i + 4 + k] = p[k];
for (int k = 0; k < 2; ++k) y[i + 7 + k] = r[k];
y[i + 9] = select(a[i + 9], b[i + 9], c[i + 9]);
