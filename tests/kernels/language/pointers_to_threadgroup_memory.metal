// Pointers to threadgroup memory are each thread's own: in arrays, in structs, swapped in loops.
// input: x = int32[64] random
// output: y = int32[64]
// grid: 64
// threadgroup: 32
// expect: y = x ^ 3
// header:
struct View {
  threadgroup int* at;
  uint step;
  threadgroup int& operator[](uint i) const { return at[i * step]; }
};
// body:
uint t = thread_position_in_grid.x;
uint l = thread_index_in_threadgroup;
threadgroup int slots[2][32];
threadgroup int* both[2] = {slots[l & 1], slots[1 - (l & 1)]};
threadgroup int *from = both[0], *to = both[1];
from[l] = x[t];
for (int i = 0; i < 2; i++) {
  to[l] = from[l] ^ (i + 1);
  threadgroup int* old = from;
  from = to;
  to = old;
}
View view = {from, 1};
y[t] = view[l];
