// References and pointers as parameters of helpers.
// input: x = int32[60] random
// output: q = int32[60]
// output: r = int32[60]
// grid: 60
// threadgroup: 32
// expect: q = x >> 4
// expect: r = x & 15
// header:
void split(int v, thread int& high, thread int* low) {
  high = v >> 4;
  *low = v & 15;
}
// body:
uint t = thread_position_in_grid.x;
int high, low;
split(x[t], high, &low);
q[t] = high;
r[t] = low;
