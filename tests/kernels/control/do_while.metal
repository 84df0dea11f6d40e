// The sum of decimal digits: the body runs at least once.
// input: x = uint32[60] random
// output: y = uint32[60]
// grid: 60
// threadgroup: 32
// expect: y = [sum(map(int, str(v))) for v in x.tolist()]
uint t = thread_position_in_grid.x;
uint rest = x[t];
uint sum = 0;
do {
  sum += rest % 10;
  rest /= 10;
} while (rest != 0);
y[t] = sum;
