// Counting into a private array.
// input: x = uint8[40, 16] integers(0, 9)
// output: y = int32[40, 10]
// grid: 40
// threadgroup: 32
// expect: y = [np.bincount(row, minlength=10) for row in x]
uint t = thread_position_in_grid.x;
int bins[10] = {0};
for (int i = 0; i < 16; i++) bins[x[t * 16 + i]] += 1;
for (int i = 0; i < 10; i++) y[t * 10 + i] = bins[i];
