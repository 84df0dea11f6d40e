// Threadgroup memory in a member function.
// output: y = float32[4]
// grid: 4
// error: variables in the threadgroup address space can only be declared in a kernel function at 8:5
// header:
struct Reducer {
  float run(float v) {
    threadgroup float slot;
    slot = v;
    return slot;
  }
};
// body:
y[thread_position_in_grid.x] = Reducer().run(1);
