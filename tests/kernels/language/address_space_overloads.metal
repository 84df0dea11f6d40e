// Functions that differ only in the address space of a parameter.
// input: x = float32[64] integers(-9, 9)
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// expect: y = 3 * x + 2
// header:
constant float one = 1;
float load(const device float* p) { return *p; }
float load(const threadgroup float* p) { return *p; }
float load(const thread float* p) { return *p; }
float load(constant float* p) { return *p; }
template <typename T>
void store(device T* p, T v) {
  *p = v;  // a comment in one of them
}
template <typename T>
void store(threadgroup T* p, T v) {
  *p = v;
}
template <typename T>
void store(thread T* p, T v) { *p = v; }
// body:
uint t = thread_position_in_grid.x;
uint l = thread_index_in_threadgroup;
threadgroup float shared[32];
store(&shared[l], load(x + t));
float mine;
store(&mine, load(&shared[l]) + load(&one));
store(y + t, load(&mine) + load(&shared[l]) + load(&x[t]) + load(&one));
