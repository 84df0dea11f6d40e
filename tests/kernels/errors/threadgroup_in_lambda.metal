// A lambda is a function, too.
// output: y = float32[4]
// grid: 4
// error: 'slots': variables in the threadgroup address space can only at 6:3
auto sum = [](uint l) {
  threadgroup float slots[32];
  slots[l] = l;
  return slots[0];
};
y[thread_position_in_grid.x] = sum(thread_index_in_threadgroup);
