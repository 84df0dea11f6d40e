// The same among member functions.
// output: y = int32[4]
// grid: 4
// error: these overloads differ in address spaces and in their bodies at 8:7
// header:
struct S {
  int where() thread { return 1; }
  int where() threadgroup { return 2; }
};
// body:
S s;
y[thread_position_in_grid.x] = s.where();
