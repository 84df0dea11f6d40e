// Member functions with an address space behind the parameter list.
// input: x = float32[64] integers(-9, 9)
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// expect: y = 2 * x + 1 + 7
// header:
struct Tile {
  float v[4];
  thread float& at(int i) thread { return v[i]; }
  float first() const thread { return v[0]; }
  float last() const threadgroup { return v[3]; }
  void set(int i, float value) threadgroup { v[i] = value; }
};
struct Row {
  float a;
  float b;
  float sum() const device { return a + b; }
  float scaled(float s) const constant { return (a + b) * s; }
  auto both() threadgroup const -> float { return a + b; }
};
constant Row row = {3, 4};
// body:
uint t = thread_position_in_grid.x;
uint l = thread_index_in_threadgroup;
Tile mine = {{0, 0, 0, 0}};
mine.at(0) = x[t];
threadgroup Tile shared[32];
shared[l].set(3, mine.first());
threadgroup_barrier(mem_flags::mem_threadgroup);
const device Row* rows = (const device Row*)x;
float pair = rows[t / 2].sum() - (t % 2 ? x[t - 1] + x[t] : x[t] + x[t + 1]);
y[t] = mine.first() + shared[l].last() + 1 + row.scaled(1) + pair;
