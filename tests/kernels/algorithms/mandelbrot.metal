// Escape times on integers: an exact image.
// output: y = int32[24, 32]
// where:
//     def escape(x, yy):
//         a = b = n = 0
//         ca, cb = x * 24 - 512, yy * 24 - 288
//         while n < 40 and a * a + b * b < 4 * 256 * 256:
//             a, b = ((a * a - b * b) >> 8) + ca, ((2 * a * b) >> 8) + cb
//             n += 1
//         return n
// grid: 32 24
// threadgroup: 16 8
// expect: y = [[escape(i, j) for i in range(32)] for j in range(24)]
uint2 at = thread_position_in_grid.xy;
int ca = int(at.x) * 24 - 512;
int cb = int(at.y) * 24 - 288;
int a = 0, b = 0, n = 0;
while (n < 40 && a * a + b * b < 4 * 256 * 256) {
  int next = ((a * a - b * b) >> 8) + ca;
  b = ((2 * a * b) >> 8) + cb;
  a = next;
  n++;
}
y[at.y * 32 + at.x] = n;
