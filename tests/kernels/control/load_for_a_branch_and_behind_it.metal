// One load serves a branch and a selection behind it: it is done where one of the two needs it.
// input: x = int64[512]
// output: y = uint32[64]
// grid: 64
// threadgroup: 32
// expect: y = np.where(np.arange(64) % 8, 5, 9 * np.minimum(x[:64] & 255, 67) + 5 * np.where(np.arange(64) < 17, x[:64], 1)).astype(np.uint32)
uint i = thread_position_in_grid.x + threads_per_grid.x * 1;
i -= 64;
int first = (int)(i & 511u) + (int)(i) * 536870912;
bool few = first >= 0 && first < 17;
long a = 0;
long b = (long)x[first];
a = few ? b : (long)1;
int second = (int)(i & 511u) + (int)(i) * 536870912;
bool there = second >= 0 && second < 512;
long c = there ? (long)(min(((long)x[second]) & 255, (long)67)) : (long)0;
y[i] = (uint)a * 5u + (uint)c * 9u;
