// Fields of several sizes, of elements that are the same in all threads and of others, under conditions.
// input: x = int32[70] integers(0, 1000)
// output: y = int64[70]
// output: z = float32[70]
// grid: 70
// threadgroup: 40
// where: v = x.astype(np.int64)
// where: k = np.arange(5)[:, None]
// where: a = (v % 100 + k).astype(np.int8)
// where: b = (v * 7 - k).astype(np.int16)
// where: c = (v * 1000 * k).astype(np.int32)
// where: d = v * (1 << 40) + k
// where: h = (v % 50 + k).astype(np.float32)
// where: f = (v + k) % 3 == 0
// where: n = np.arange(70)
// where: i, j = v % 5, v // 5 % 5
// where: odd = v % 2 == 1
// where: c[i, n] += 3
// where: b[j, n] = np.where(odd, (v + 1).astype(np.int16), b[j, n])
// where: h[2] = np.where(odd, h[2] * 2, h[2])
// where: f[3] = np.where(odd, ~f[3], f[3])
// where: a[i, n] = np.where(odd, a[i, n], -5)
// where: d[1] = np.where(v > 500, -v, d[1])
// where: copied = [q.copy() for q in (a, b, c, d, h, f)]
// where: for q, old in zip((a, b, c, d, h, f), copied): q[4] = old[j, n]
// expect: y = (a.astype(np.int64) + b + c + d + f).sum(axis=0) + 10 * b[i, n].astype(int) + a[j, n]
// expect: z = h.sum(axis=0) + 100 * h[j, n]
// header:
struct Mixed {
    char a;
    short b;
    int c;
    long d;
    half h;
    bool f;
};
// body:
uint t = thread_position_in_grid.x;
int v = x[t];
Mixed s[5];
for (int k = 0; k < 5; ++k) {
    s[k].a = char(v % 100 + k);
    s[k].b = short(v * 7 - k);
    s[k].c = v * 1000 * k;
    s[k].d = long(v) * (1L << 40) + k;
    s[k].h = half(v % 50 + k);
    s[k].f = (v + k) % 3 == 0;
}
int i = v % 5, j = v / 5 % 5;
s[i].c += 3;
if (v % 2 == 1) {
    s[j].b = short(v + 1);
    s[2].h *= 2.0h;
    s[3].f = !s[3].f;
} else {
    s[i].a = -5;
}
if (v > 500) {
    s[1].d = -v;
}
s[4] = s[j];
long sum = 0;
float halves = 0;
for (int k = 0; k < 5; ++k) {
    sum += s[k].a + s[k].b + s[k].c + s[k].d + s[k].f;
    halves += s[k].h;
}
y[t] = sum + 10 * s[i].b + s[j].a;
z[t] = halves + 100 * float(s[j].h);
