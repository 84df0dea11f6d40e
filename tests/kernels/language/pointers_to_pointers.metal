// Pointers of the thread to pointers into buffers, swapped and advanced.
// input: x = float32[64] integers(-9, 9)
// input: z = float32[64] integers(-9, 9)
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// expect: y = z - x + np.roll(z, -1)
// header:
inline void swapped(thread const device float** a, thread const device float** b) {
  const device float* old = *a;
  *a = *b;
  *b = old;
}
// body:
uint t = thread_position_in_grid.x;
const device float* p = x + t;
const device float* q = z + t;
swapped(&p, &q);
thread const device float** where = &p;
float v = **where - *q;
*where = z + (t + 1) % 64;
y[t] = v + *p;
