// A barrier says which memory it is about.
// output: y = float32[4]
// grid: 4
// error: no matching function for call to 'threadgroup_barrier'|too few arguments at 5:1
threadgroup_barrier();
