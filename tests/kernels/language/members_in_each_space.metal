// Member functions for each address space, called on an object of each.
// input: x = float32[64] integers(-9, 9)
// output: y = float32[64]
// grid: 32
// threadgroup: 32
// expect: y = np.repeat(x.reshape(32, 2).sum(1) * 3 + 9, 2)
// header:
struct Pair {
  float a, b;
  float sum() const thread { return a + b; }
  float total() const device { return a + b; }
  float all() const threadgroup { return a + b; }
  float fixed() const constant { return a + b; }
  void store(float v) device { a = b = v; }
  void both(float v) volatile threadgroup { a = v; b = v; }
};
constant Pair nine = {4, 5};
// body:
uint t = thread_position_in_grid.x;
threadgroup Pair shared[32];
const device Pair* pairs = (const device Pair*)x;
shared[t].a = pairs[t].a;
shared[t].b = pairs[t].b;
threadgroup_barrier(mem_flags::mem_threadgroup);
Pair own = {pairs[t].a, pairs[t].b};
const float result = own.sum() + pairs[t].total() + shared[t].all() + nine.fixed();
shared[t].both(result);
((device Pair*)y)[t].store(shared[t].b);
