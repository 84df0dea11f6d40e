// `for` over arrays, by value and by reference.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = 2 * (x + 6) + 30
// header:
constant int tens[] = {10, 20};
// body:
uint t = thread_position_in_grid.x;
int list[4] = {x[t], 1, 2, 3};
for (thread int& v : list) v *= 2;
int sum = 0;
for (int v : list) sum += v;
for (constant const int& v : tens) sum += v;
y[t] = sum;
