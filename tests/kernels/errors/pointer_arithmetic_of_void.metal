// void has no size.
// input: x = float32[8] normal
// output: y = float32[4]
// grid: 4
// error: pointer to 'const void'|arithmetic on a pointer to void at 7:12
const device void* p = x;
y[0] = *(p + 1);
