// Range-based loops over arrays and array_ref.
// input: x = int32[33, 5] integers(-50, 50)
// output: y = int32[33, 2]
// grid: 33
// threadgroup: 33
// expect: y = np.stack([x.sum(1), x.max(1)], axis=1)
uint i = thread_position_in_grid.x;
array<int, 5> values;
for (int k = 0; k < 5; ++k) values[k] = x[5 * i + k];
int sum = 0, largest = values[0];
for (int v : values) sum += v;
array_ref<int> view(values);
for (size_t k = 0; k < view.size(); ++k) largest = max(largest, view[k]);
y[2 * i] = sum;
y[2 * i + 1] = largest;
