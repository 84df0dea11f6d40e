// An array of structs with vectors, filled by some threads and read by all.
// input: x = float32[72] integers(-9, 9)
// output: y = float32[36]
// grid: 36
// threadgroup: 18
// expect: y = np.repeat(x.reshape(2, 36).sum(1) + 9 * 18, 18)
struct Item { float2 value; int count; };
threadgroup Item items[18];
const uint l = thread_index_in_threadgroup, t = thread_position_in_grid.x;
items[l] = {((const device float2*)x)[t], 9};
threadgroup_barrier(mem_flags::mem_threadgroup);
float sum = 0;
for (int i = 0; i < 18; i++) {
  threadgroup Item& item = items[(i + l) % 18];
  sum += item.value.x + item.value.y + item.count;
}
y[t] = sum;
