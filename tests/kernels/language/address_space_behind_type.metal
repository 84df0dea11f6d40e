// The address space may stand behind the type.
// input: x = float32[32] integers(-9, 9)
// output: y = float32[32]
// grid: 32
// threadgroup: 32
// expect: y = x * 2
// header:
float twice(float const device* p, float thread& last) { return last = *p + *p; }
void keep(float threadgroup* slots, uint i, const float thread& v) { slots[i] = v; }
// body:
uint t = thread_position_in_grid.x;
float threadgroup slots[32];
float last;
keep(slots, t, twice(x + t, last));
float device* out = y;
out[t] = slots[t] + last - slots[t];
