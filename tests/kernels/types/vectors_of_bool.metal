// bool2, bool3, bool4 in buffers, as results of comparisons, and as numbers.
// input: x = bool[12] random
// output: y = bool[12]
// output: n = int32[1]
// grid: 1
// expect: y = np.r_[x[:4], ~x[4:8], x[8:12] & x[:4]]
// expect: n = [x[:4].sum() * 1000 + x[4:7].sum() * 10 + x[7] + x[8]]
const device bool4* in = (const device bool4*)x;
device bool4* out = (device bool4*)y;
out[0] = in[0];
out[1] = in[1] == bool4(false);
out[2] = in[2] && in[0];
int4 counts = int4(in[0]);
bool3 three(x[4], x[5], x[6]);
bool2 two(in[1].w, in[2].x);
int3 more = int3(three);
n[0] = (counts.x + counts.y + counts.z + counts.w) * 1000 + (more.x + more.y + more.z) * 10 + two.x + two.y;
