// A const member function does not change its object.
// output: y = int32[4]
// grid: 4
// error: (const|read-only) at 8:36
// header:
struct Counter {
  int n;
  int next() const thread { return ++n; }
};
// body:
Counter c = {1};
y[thread_position_in_grid.x] = c.next();
