// A variable in constant memory between the cases of a `switch`, which jumps over it.
// input: x = int32[70] integers(0, 4)
// output: y = int32[70]
// grid: 70
// threadgroup: 32
// expect: y = np.where(x == 1, 10, np.where(x == 2, 31, 0))
uint i = thread_position_in_grid.x;
int v = 0;
switch (x[i]) {
  case 1:
    v = 10;
    break;
  constant int table[2] = {30, 31};
  case 2:
    v = table[x[i] - 1];
}
y[i] = v;
