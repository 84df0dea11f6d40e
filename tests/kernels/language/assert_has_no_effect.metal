// Apple's library has assert, and it does nothing, whatever its condition.
// output: y = uint32[70]
// grid: 70
// threadgroup: 32
// expect: y = np.arange(70)
// header:
template <int N>
uint checked(uint i) {
  assert(i % N == 0);
  return i;
}
// body:
uint i = thread_position_in_grid.x;
assert(i > 1000 && "not so");
y[i] = checked<4>(i);
