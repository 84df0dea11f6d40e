// Pointers, differences of pointers and references into an array of the thread.
// input: x = int32[160] integers(0, 99)
// output: y = int32[40]
// grid: 40
// where: r = x.reshape(40, 4)
// expect: y = r.argmax(1) * 1000 + r.max(1) + r[:, 3]
// header:
inline thread int* largest(thread int* first, thread int* last) {
  thread int* best = first;
  for (; first != last; ++first) if (*first > *best) best = first;
  return best;
}
// body:
uint t = thread_position_in_grid.x;
int v[4];
thread int* p = v;
for (int i = 0; i < 4; i++) *p++ = x[4 * t + i];
thread int* best = largest(v, v + 4);
thread int& last = p[-1];
y[t] = int(best - v) * 1000 + *best + last;
