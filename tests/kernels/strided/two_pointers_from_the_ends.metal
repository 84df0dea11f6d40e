// One pointer walks up, another down, until they meet.
// input: x = int32[320] integers(-9, 9)
// output: y = int32[32]
// grid: 32
// where: r = x.reshape(32, 10)
// expect: y = (r[:, :5] * r[:, ::-1][:, :5]).sum(1)
uint t = thread_position_in_grid.x;
const device int* low = x + 10 * t;
const device int* high = low + 9;
int sum = 0;
while (low < high) sum += *low++ * *high--;
y[t] = sum;
