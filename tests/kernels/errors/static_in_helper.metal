// A static variable in a function of the header.
// output: y = int32[4]
// grid: 4
// error: header:7:14: error: static variable 'calls' must reside in constant address space at 7:14
// header:
int count() {
  static int calls = 0;
  return ++calls;
}
// body:
y[thread_position_in_grid.x] = count();
