// Members that differ in nothing but their address space.
// input: x = float32[64] integers(-9, 9)
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// expect: y = 2 * x
// header:
struct Cell {
  float v;
  float get() const thread { return v; }
  float get() const threadgroup { return v; }
  float get() const device { return v; }
  void put(float n) thread { v = n; }
  void put(float n) threadgroup { v = n; }
};
// body:
uint t = thread_position_in_grid.x;
uint l = thread_index_in_threadgroup;
threadgroup Cell cells[32];
cells[l].put(x[t]);
Cell mine;
mine.put(cells[l].get());
y[t] = mine.get() + ((const device Cell*)x)[t].get();
