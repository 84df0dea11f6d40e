// Metal has no virtual functions.
// output: y = int32[4]
// grid: 4
// error: 'virtual' is not supported in Metal at 7:3
// header:
struct Base {
  virtual int f() const { return 1; }
};
// body:
Base b;
y[thread_position_in_grid.x] = b.f();
