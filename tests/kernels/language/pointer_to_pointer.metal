// Pointers to pointers in thread space, and an array of pointers.
// input: a = int32[40] random
// input: b = int32[40] random
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.where(np.arange(40) % 2 == 0, a, b)
// header:
void choose(const device int* thread* which, const device int* other, bool swap) {
  if (swap) *which = other;
}
// body:
uint t = thread_position_in_grid.x;
const device int* p = a;
choose(&p, b, t & 1);
const device int* both[2] = {a, b};
y[t] = p[t] == both[t & 1][t] ? p[t] : -1;
