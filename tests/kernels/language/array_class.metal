// metal::array as a value: in structs, returned, copied, iterated over.
// input: x = float32[32] integers(-9, 9)
// output: y = float32[32]
// grid: 32
// threadgroup: 32
// expect: y = x * 6 + 3
// header:
array<float, 3> weights(float v) { return {v, 2 * v, 3 * v}; }
// body:
uint t = thread_position_in_grid.x;
array<float, 3> w = weights(x[t]);
auto copy = w;
copy[0] += 3;
float sum = 0;
for (uint i = 0; i < copy.size(); i++) sum += copy[i];
float more[3] = {0, 0, 0};
for (float v : more) sum += v;
y[t] = sum;
