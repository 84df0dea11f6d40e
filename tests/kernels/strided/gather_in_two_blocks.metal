// An index of addresses in two blocks of a loop: the second gets it from the first.
// input: x = float32[100] normal
// input: z = float16[100] normal
// input: index = int32[77] integers(-500, 500)
// output: y = float32[77]
// output: steps = int32[77]
// grid: 77
// threadgroup: 32
// expect: y = sum(z[index + k & 63].astype(np.float32) for k in range(3))
// expect: steps = sum(np.maximum(np.ceil(x[index + k & 63]), 0) for k in range(3)).astype(np.int32)
uint i = thread_position_in_grid.x;
int total = 0;
y[i] = 0;
for (int k = 0; k < 3; ++k) {
    int at = index[i] + k & 63, count = 0;
    while (count < x[at]) steps[i] = ++count;
    total += count;
    y[i] += z[at];
}
steps[i] = total;
