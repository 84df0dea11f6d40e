// A kernel of the usual size: residual, RMS norm, rotation of pairs, rounding to 8 bits per row.
// input: x = float16[6,256] normal
// input: residual = float16[6,256] normal
// input: weight = float16[256] uniform(0.5, 1.5)
// input: offset = int32 3
// output: summed = float16[6,256]
// output: codes = int8[6,256]
// output: scales = float32[6]
// grid: 64 6
// threadgroup: 64
// where:
//     f = np.float32
//     s = (x + residual).astype(np.float16).astype(f)
//     n = s / np.sqrt((s * s).mean(1, keepdims=True) + f(1e-5)) * weight
//     low, high = n[:, :128], n[:, 128:]
//     angle = (np.arange(6)[:, None] + 3) * np.exp2(-np.arange(128) / 8.0)
//     r = np.concatenate([low * np.cos(angle) - high * np.sin(angle),
//                         low * np.sin(angle) + high * np.cos(angle)], axis=1)
//     largest = abs(r).max(1)
// expect: summed = s
// expect: codes = np.rint(r / largest[:, None] * 127).astype(int)
// expect: scales = largest / 127
// close: 1e-4
// header:
constant constexpr int simdgroups = 2;

template <typename Op>
inline float across(float v, threadgroup float* partial, uint lane, uint simdgroup, Op op) {
  v = op.lanes(v);
  if (lane == 0) partial[simdgroup] = v;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float result = partial[0];
  for (int i = 1; i < simdgroups; i++) result = op.join(result, partial[i]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return result;
}

struct Sum {
  float lanes(float v) const { return simd_sum(v); }
  float join(float a, float b) const { return a + b; }
};
struct Largest {
  float lanes(float v) const { return simd_max(v); }
  float join(float a, float b) const { return max(a, b); }
};
// body:
constexpr int width = 256, half_width = width / 2, each = 4;
const uint row = threadgroup_position_in_grid.y;
const uint l = thread_position_in_threadgroup.x;
const uint lane = thread_index_in_simdgroup, simdgroup = simdgroup_index_in_threadgroup;
threadgroup float partial[simdgroups];
threadgroup float shared[width];

// Each thread owns two neighbours in the lower half and their partners in the upper one.
const uint first = 2 * l;
const device half2* low = (const device half2*)(x + row * width + first);
const device half2* high = (const device half2*)(x + row * width + half_width + first);
const device half2* more_low = (const device half2*)(residual + row * width + first);
const device half2* more_high = (const device half2*)(residual + row * width + half_width + first);
const half2 a = *low + *more_low, b = *high + *more_high;
*(device half2*)(summed + row * width + first) = a;
*(device half2*)(summed + row * width + half_width + first) = b;

float v[each] = {float(a.x), float(a.y), float(b.x), float(b.y)};
float squares = 0;
for (int i = 0; i < each; i++) squares += v[i] * v[i];
const float mean = across(squares, partial, lane, simdgroup, Sum()) / width;
const float factor = rsqrt(mean + 1e-5f);

float best = 0;
for (uint i = 0; i < 2; i++) {
  const uint at = first + i;
  const float p = v[i] * factor * float(weight[at]);
  const float q = v[i + 2] * factor * float(weight[at + half_width]);
  const float angle = float(int(row) + offset) * exp2(-float(at) / 8);
  const float c = cos(angle), s = sin(angle);
  shared[at] = p * c - q * s;
  shared[at + half_width] = p * s + q * c;
  best = max(best, max(abs(shared[at]), abs(shared[at + half_width])));
}
best = across(best, partial, lane, simdgroup, Largest());
if (l == 0) scales[row] = best / 127;
for (uint i = l; i < width; i += 64) {
  codes[row * width + i] = char(rint(shared[i] / best * 127));
}
