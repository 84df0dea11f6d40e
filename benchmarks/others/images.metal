// kernel: conv2d_nhwc
// input: x = float32[1, 130, 130, 16] normal
// input: w = float32[3, 3, 16, 32] normal
// output: out = float32[1, 128, 128, 32]
// grid: 32 128 128
// threadgroup: 32 4 1
uint c = thread_position_in_grid.x, px = thread_position_in_grid.y, py = thread_position_in_grid.z;
float sum = 0;
for (uint dy = 0; dy < 3; ++dy)
  for (uint dx = 0; dx < 3; ++dx)
    for (uint i = 0; i < 16; ++i)
      sum += x[((py + dy) * 130 + px + dx) * 16 + i] * w[((dy * 3 + dx) * 16 + i) * 32 + c];
out[(py * 128 + px) * 32 + c] = sum;

// kernel: conv2d_nchw_padded
// input: x = float32[8, 256, 256] normal
// input: w = float32[8, 8, 3, 3] normal
// output: out = float32[8, 256, 256]
// grid: 256 256 8
// threadgroup: 16 16 1
int x0 = thread_position_in_grid.x, y0 = thread_position_in_grid.y, o = thread_position_in_grid.z;
float sum = 0;
for (int c = 0; c < 8; ++c)
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      int px = x0 + dx, py = y0 + dy;
      if (px >= 0 && px < 256 && py >= 0 && py < 256)
        sum += x[(c * 256 + py) * 256 + px] * w[((o * 8 + c) * 3 + dy + 1) * 3 + dx + 1];
    }
out[(o * 256 + y0) * 256 + x0] = sum;

// kernel: depthwise_3x3
// input: x = float32[256, 256, 64] normal
// input: w = float32[3, 3, 64] normal
// output: out = float32[256, 256, 64]
// grid: 64 256 256
// threadgroup: 64 4 1
int c = thread_position_in_grid.x, px = thread_position_in_grid.y, py = thread_position_in_grid.z;
float sum = 0;
for (int dy = 0; dy < 3; ++dy)
  for (int dx = 0; dx < 3; ++dx) {
    int sx = px + dx - 1, sy = py + dy - 1;
    if (sx < 0 || sy < 0 || sx >= 256 || sy >= 256) continue;
    sum += x[(sy * 256 + sx) * 64 + c] * w[(dy * 3 + dx) * 64 + c];
  }
out[(py * 256 + px) * 64 + c] = sum;

// kernel: conv1d_causal
// input: x = float32[64, 256, 128] normal
// input: w = float32[128, 4] normal
// input: bias = float32[128] normal
// output: out = float32[64, 256, 128]
// grid: 128 256 64
// threadgroup: 128 1 1
uint c = thread_position_in_grid.x, t = thread_position_in_grid.y, n = thread_position_in_grid.z;
float sum = bias[c];
for (uint k = 0; k < 4; ++k)
  if (t + k >= 3) sum += w[c * 4 + k] * x[(n * 256 + t + k - 3) * 128 + c];
out[(n * 256 + t) * 128 + c] = sum / (1.0f + metal::exp(-sum));

// kernel: gaussian_blur_rows
// input: x = float32[8192, 256] uniform(0.0, 1.0)
// input: taps = float32[9] uniform(0.0, 0.2)
// output: out = float32[8192, 256]
// grid: 256 8192
// threadgroup: 32 8
int px = thread_position_in_grid.x, py = thread_position_in_grid.y;
float sum = 0;
for (int k = -4; k <= 4; ++k) sum += taps[k + 4] * x[py * 256 + metal::clamp(px + k, 0, 255)];
out[py * 256 + px] = sum;

// kernel: blur_threadgroup_tile
// input: x = float32[272, 272] uniform(0.0, 1.0)
// output: out = float32[256, 256]
// grid: 256 256
// threadgroup: 16 16
threadgroup float tile[20][20];
uint2 t = thread_position_in_threadgroup.xy, g = threadgroup_position_in_grid.xy * 16;
uint flat = t.y * 16 + t.x;
for (uint i = flat; i < 400; i += 256) tile[i / 20][i % 20] = x[(g.y + i / 20) * 272 + g.x + i % 20];
threadgroup_barrier(mem_flags::mem_threadgroup);
float sum = 0;
for (uint dy = 0; dy < 5; ++dy)
  for (uint dx = 0; dx < 5; ++dx) sum += tile[t.y + dy][t.x + dx];
out[(g.y + t.y) * 256 + g.x + t.x] = sum / 25.0f;

// kernel: bilinear_resize
// input: x = float32[400, 400, 3] uniform(0.0, 1.0)
// output: out = float32[896, 896, 3]
// grid: 896 896
// threadgroup: 32 8
uint2 p = thread_position_in_grid.xy;
if (p.x >= 896 || p.y >= 896) return;
float fx = (float(p.x) + 0.5f) * (400.0f / 896.0f) - 0.5f;
float fy = (float(p.y) + 0.5f) * (400.0f / 896.0f) - 0.5f;
int x0 = metal::clamp(int(metal::floor(fx)), 0, 399), y0 = metal::clamp(int(metal::floor(fy)), 0, 399);
int x1 = metal::min(x0 + 1, 399), y1 = metal::min(y0 + 1, 399);
float ax = metal::clamp(fx - float(x0), 0.0f, 1.0f), ay = metal::clamp(fy - float(y0), 0.0f, 1.0f);
for (int c = 0; c < 3; ++c) {
  float top = metal::mix(x[(y0 * 400 + x0) * 3 + c], x[(y0 * 400 + x1) * 3 + c], ax);
  float low = metal::mix(x[(y1 * 400 + x0) * 3 + c], x[(y1 * 400 + x1) * 3 + c], ax);
  out[(p.y * 896 + p.x) * 3 + c] = metal::mix(top, low, ay);
}

// kernel: upsample_nearest
// input: x = float32[8, 128, 128] normal
// output: out = float32[8, 384, 384]
// grid: 384 384 8
// threadgroup: 32 8 1
uint3 p = thread_position_in_grid;
out[(p.z * 384 + p.y) * 384 + p.x] = x[(p.z * 128 + p.y / 3) * 128 + p.x / 3];

// kernel: bicubic_uint8
// input: x = uint8[512, 512, 3] integers(0, 255)
// output: out = uint8[768, 768, 3]
// grid: 768 768
// threadgroup: 16 16
uint2 p = thread_position_in_grid.xy;
float2 at = (float2(p) + 0.5f) * (512.0f / 768.0f) - 0.5f;
int2 first = int2(metal::floor(at));
float2 f = at - float2(first);
float wx[4], wy[4];
for (int i = 0; i < 4; ++i) {
  float2 d = metal::abs(f - float(i - 1));
  float2 near = ((1.25f * d - 2.25f) * d) * d + 1.0f;
  float2 far = ((-0.75f * d + 3.75f) * d - 6.0f) * d + 3.0f;
  wx[i] = d.x < 1 ? near.x : far.x;
  wy[i] = d.y < 1 ? near.y : far.y;
}
for (int c = 0; c < 3; ++c) {
  float sum = 0;
  for (int j = 0; j < 4; ++j) {
    int y = metal::clamp(first.y + j - 1, 0, 511);
    for (int i = 0; i < 4; ++i) {
      int column = metal::clamp(first.x + i - 1, 0, 511);
      sum += wx[i] * wy[j] * float(x[(y * 512 + column) * 3 + c]);
    }
  }
  out[(p.y * 768 + p.x) * 3 + c] = uint8_t(metal::clamp(sum + 0.5f, 0.0f, 255.0f));
}

// kernel: max_pool_2x2
// input: x = float32[64, 512, 512] normal
// output: out = float32[64, 256, 256]
// grid: 256 256 64
// threadgroup: 64 4 1
uint3 p = thread_position_in_grid;
const device float* in = x + (p.z * 512 + 2 * p.y) * 512 + 2 * p.x;
out[(p.z * 256 + p.y) * 256 + p.x] =
    metal::max(metal::max(in[0], in[1]), metal::max(in[512], in[513]));

// kernel: sobel_uint8
// input: x = uint8[514, 514] integers(0, 255)
// output: out = uint8[512, 512]
// grid: 512 512
// threadgroup: 16 16
uint2 p = thread_position_in_grid.xy;
const device uint8_t* in = x + p.y * 514 + p.x;
int gx = in[2] - in[0] + 2 * (in[516] - in[514]) + in[518] - in[516];
int gy = in[516] - in[0] + 2 * (in[517] - in[1]) + in[518] - in[2];
out[p.y * 512 + p.x] = uint8_t(metal::min(255.0f, metal::sqrt(float(gx * gx + gy * gy))));

// kernel: bilateral_5x5
// input: x = float32[128, 128] uniform(0.0, 1.0)
// output: out = float32[128, 128]
// grid: 128 128
// threadgroup: 16 16
int px = thread_position_in_grid.x, py = thread_position_in_grid.y;
float centre = x[py * 128 + px], sum = 0, weights = 0;
for (int dy = -2; dy <= 2; ++dy)
  for (int dx = -2; dx <= 2; ++dx) {
    int sx = px + dx, sy = py + dy;
    if (sx < 0 || sy < 0 || sx >= 128 || sy >= 128) continue;
    float v = x[sy * 128 + sx], d = v - centre;
    float w = metal::fast::exp(-float(dx * dx + dy * dy) * 0.125f - d * d * 50.0f);
    sum += w * v;
    weights += w;
  }
out[py * 128 + px] = sum / weights;

// kernel: im2col
// input: x = float32[64, 130, 130] normal
// output: out = float32[576, 16384]
// grid: 16384 576
// threadgroup: 256 1
uint p = thread_position_in_grid.x, r = thread_position_in_grid.y;
uint c = r / 9, k = r % 9;
out[r * 16384 + p] = x[(c * 130 + p / 128 + k / 3) * 130 + p % 128 + k % 3];

// kernel: median_3x3
// input: x = float32[1026, 1026] normal
// output: out = float32[1024, 1024]
// header:
#define SWAP(a, b) { float lo = metal::min(v[a], v[b]); v[b] = metal::max(v[a], v[b]); v[a] = lo; }
// body:
// grid: 1024 1024
// threadgroup: 32 8
uint2 p = thread_position_in_grid.xy;
float v[9];
for (uint k = 0; k < 9; ++k) v[k] = x[(p.y + k / 3) * 1026 + p.x + k % 3];
SWAP(1, 2) SWAP(4, 5) SWAP(7, 8) SWAP(0, 1) SWAP(3, 4) SWAP(6, 7) SWAP(1, 2) SWAP(4, 5) SWAP(7, 8)
SWAP(0, 3) SWAP(5, 8) SWAP(4, 7) SWAP(3, 6) SWAP(1, 4) SWAP(2, 5) SWAP(4, 7) SWAP(4, 2) SWAP(6, 4)
SWAP(4, 2)
out[p.y * 1024 + p.x] = v[4];

// kernel: game_of_life
// input: x = uint8[512, 512] integers(0, 1)
// output: out = uint8[512, 512]
// grid: 512 512
// threadgroup: 32 8
int px = thread_position_in_grid.x, py = thread_position_in_grid.y, alive = 0;
for (int dy = -1; dy <= 1; ++dy)
  for (int dx = -1; dx <= 1; ++dx)
    if (dx != 0 || dy != 0) alive += x[((py + dy + 512) % 512) * 512 + (px + dx + 512) % 512];
out[py * 512 + px] = alive == 3 || (alive == 2 && x[py * 512 + px]);

// kernel: heat_3d
// input: u = float32[64, 64, 64] normal
// output: out = float32[64, 64, 64]
// grid: 64 64 64
// threadgroup: 64 4 1
int x = thread_position_in_grid.x, y = thread_position_in_grid.y, z = thread_position_in_grid.z;
int i = (z * 64 + y) * 64 + x;
if (x == 0 || y == 0 || z == 0 || x == 63 || y == 63 || z == 63) {
  out[i] = u[i];
  return;
}
out[i] = u[i] + 0.1f * (u[i - 1] + u[i + 1] + u[i - 64] + u[i + 64] + u[i - 4096] + u[i + 4096] - 6 * u[i]);

// kernel: splat_gaussians
// input: means = float32[64, 2] uniform(0.0, 64.0)
// input: colours = float32[64, 4] uniform(0.0, 1.0)
// output: out = float32[64, 64, 3]
// grid: 64 64
// threadgroup: 16 16
float2 p = float2(thread_position_in_grid.xy);
float3 colour = 0;
float through = 1;
for (uint g = 0; g < 64; ++g) {
  float2 d = p - float2(means[2 * g], means[2 * g + 1]);
  float alpha = metal::min(0.99f, colours[4 * g + 3] * metal::exp(-0.02f * metal::dot(d, d)));
  if (alpha < 0.004f) continue;
  colour += through * alpha * float3(colours[4 * g], colours[4 * g + 1], colours[4 * g + 2]);
  through *= 1 - alpha;
  if (through < 0.001f) break;
}
uint at = (thread_position_in_grid.y * 64 + thread_position_in_grid.x) * 3;
out[at] = colour.x;
out[at + 1] = colour.y;
out[at + 2] = colour.z;

// kernel: oriented_gradients
// input: x = float32[1026, 1026] uniform(0.0, 1.0)
// output: cells = float32[128, 128, 9]
// grid: 1024 1024
// threadgroup: 8 8
threadgroup metal::atomic_uint bins[9];
uint2 p = thread_position_in_grid.xy, cell = threadgroup_position_in_grid.xy;
uint t = thread_index_in_threadgroup;
if (t < 9) atomic_store_explicit(&bins[t], 0u, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
const device float* in = x + (p.y + 1) * 1026 + p.x + 1;
float gx = in[1] - in[-1], gy = in[1026] - in[-1026];
float angle = metal::atan2(gy, gx) / M_PI_F + (gy < 0 ? 1.0f : 0.0f);
uint strength = uint(metal::sqrt(gx * gx + gy * gy) * 65536.0f);
atomic_fetch_add_explicit(&bins[uint(angle * 9) % 9], strength, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
if (t < 9)
  cells[(cell.y * 128 + cell.x) * 9 + t] =
      float(atomic_load_explicit(&bins[t], memory_order_relaxed)) / 65536.0f;
