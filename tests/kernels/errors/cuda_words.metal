// The hint translates CUDA's words.
// output: y = float32[4]
// grid: 4
// error: undeclared identifier 'threadIdx'[^\0]*hint: in Metal, use thread_position_in_threadgroup at 5:3
y[threadIdx.x] = 1;
