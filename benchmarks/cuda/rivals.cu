// The kernels of the rows as one writes them in CUDA C++: the same algorithm, launched with the same
// grids and blocks. Inputs come first, numbers among them by value, then outputs, then extents.

#include <cstdint>
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void

namespace {

__device__ unsigned index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ float warp_sum(float v) {
  for (int step = 16; step; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  return v;
}

__device__ float warp_max(float v) {
  for (int step = 16; step; step /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, step));
  return v;
}

constexpr unsigned WARPS = 8;

__device__ float block_sum(float v, float* partial, unsigned lane, unsigned warp) {
  v = warp_sum(v);
  __syncthreads();
  if (lane == 0) partial[warp] = v;
  __syncthreads();
  return warp_sum(lane < WARPS ? partial[lane] : 0.0f);
}

__device__ float2 block_sums(float2 v, float2* partial, unsigned lane, unsigned warp) {
  v = {warp_sum(v.x), warp_sum(v.y)};
  __syncthreads();
  if (lane == 0) partial[warp] = v;
  __syncthreads();
  v = lane < WARPS ? partial[lane] : float2{0, 0};
  return {warp_sum(v.x), warp_sum(v.y)};
}

__device__ float block_max(float v, float* partial, unsigned lane, unsigned warp) {
  v = warp_max(v);
  __syncthreads();
  if (lane == 0) partial[warp] = v;
  __syncthreads();
  return warp_max(lane < WARPS ? partial[lane] : -INFINITY);
}

}  // namespace

// ---- elementwise

KERNEL bench_copy(const float* __restrict__ x, float* __restrict__ out) {
  const unsigned i = index();
  out[i] = x[i];
}

KERNEL bench_saxpy(float a, const float* __restrict__ x, const float* __restrict__ y,
                   float* __restrict__ out) {
  const unsigned i = index();
  out[i] = a * x[i] + y[i];
}

KERNEL bench_exp(const float* __restrict__ x, float* __restrict__ out) {
  const unsigned i = index();
  out[i] = expf(x[i]);
}

KERNEL bench_gelu(const float* __restrict__ x, float* __restrict__ out) {
  const unsigned i = index();
  const float v = x[i];
  out[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
}

KERNEL bench_luminance(const float4* __restrict__ pixels, float* __restrict__ out) {
  const unsigned i = index();
  const float4 p = pixels[i];
  out[i] = (p.x * 0.2126f + p.y * 0.7152f + p.z * 0.0722f) * p.w;
}

KERNEL bench_hash64(const uint64_t* __restrict__ x, uint64_t* __restrict__ out) {
  const unsigned i = index();
  uint64_t v = x[i];
  v ^= v >> 33;
  v *= 0xff51afd7ed558ccdul;
  v ^= v >> 33;
  v *= 0xc4ceb9fe1a85ec53ul;
  out[i] = v ^ v >> 33;
}

// ---- reductions

KERNEL bench_softmax(const float4* __restrict__ x, float4* __restrict__ out) {
  __shared__ float partial[WARPS];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned i = blockIdx.y * 256 + threadIdx.x;
  float4 v = x[i];
  const float largest =
      block_max(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)), partial, lane, warp);
  v = {expf(v.x - largest), expf(v.y - largest), expf(v.z - largest), expf(v.w - largest)};
  const float scale = 1 / block_sum(v.x + v.y + v.z + v.w, partial, lane, warp);
  out[i] = {v.x * scale, v.y * scale, v.z * scale, v.w * scale};
}

KERNEL bench_softmax_simd(const float* __restrict__ x, float* __restrict__ out) {
  const unsigned lane = threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned start = row * 1024 + lane;
  float values[32], largest = -INFINITY, sum = 0;
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    values[k] = x[start + 32 * k];
    largest = fmaxf(largest, values[k]);
  }
  largest = warp_max(largest);
#pragma unroll
  for (int k = 0; k < 32; ++k) sum += values[k] = expf(values[k] - largest);
  const float scale = 1 / warp_sum(sum);
#pragma unroll
  for (int k = 0; k < 32; ++k) out[start + 32 * k] = values[k] * scale;
}

KERNEL bench_rms_norm(const float4* __restrict__ x, const float4* __restrict__ weight, float eps,
                      float4* __restrict__ out) {
  __shared__ float partial[WARPS];
  const unsigned t = threadIdx.x, i = blockIdx.y * 256 + t;
  const float4 v = x[i], w = weight[t];
  const float total =
      block_sum(v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w, partial, t % 32, t / 32);
  const float scale = rsqrtf(total / 1024 + eps);
  out[i] = {v.x * scale * w.x, v.y * scale * w.y, v.z * scale * w.z, v.w * scale * w.w};
}

KERNEL bench_layer_norm_vjp(const float4* __restrict__ x, const float4* __restrict__ weight,
                            const float* __restrict__ mean, const float* __restrict__ scale,
                            const float4* __restrict__ flow, float4* __restrict__ dx,
                            float* __restrict__ dweight, float* __restrict__ dbias) {
  __shared__ float2 partial[WARPS];
  const unsigned column = threadIdx.x, lane = column % 32, warp = column / 32;
  const float4 w = weight[column];
  float4 sw = {}, sb = {};
  for (unsigned k = 0; k < 32; ++k) {
    const unsigned row = blockIdx.y * 32 + k, i = row * 256 + column;
    const float4 g = flow[i], v = x[i];
    const float m = mean[row], s = scale[row];
    const float4 n = {(v.x - m) * s, (v.y - m) * s, (v.z - m) * s, (v.w - m) * s};
    sw = {sw.x + g.x * n.x, sw.y + g.y * n.y, sw.z + g.z * n.z, sw.w + g.w * n.w};
    sb = {sb.x + g.x, sb.y + g.y, sb.z + g.z, sb.w + g.w};
    const float4 in = {g.x * w.x, g.y * w.y, g.z * w.z, g.w * w.w};
    float2 sums = {in.x + in.y + in.z + in.w, in.x * n.x + in.y * n.y + in.z * n.z + in.w * n.w};
    sums = block_sums(sums, partial, lane, warp);
    const float a = sums.x / 1024, b = sums.y / 1024;
    dx[i] = {(in.x - (a + n.x * b)) * s, (in.y - (a + n.y * b)) * s, (in.z - (a + n.z * b)) * s,
             (in.w - (a + n.w * b)) * s};
  }
  const float ws[] = {sw.x, sw.y, sw.z, sw.w}, bs[] = {sb.x, sb.y, sb.z, sb.w};
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    atomicAdd(dweight + column * 4 + c, ws[c]);
    atomicAdd(dbias + column * 4 + c, bs[c]);
  }
}

// ---- arithmetic

KERNEL bench_philox(unsigned seed, float4* __restrict__ out) {
  const unsigned i = index();
  uint4 c = {i, 0, 0, 0};
  unsigned k0 = seed, k1 = 0;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
    const unsigned h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
    c = {h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  const float unit = 5.9604645e-8f;
  out[i] = {(c.x >> 8) * unit, (c.y >> 8) * unit, (c.z >> 8) * unit, (c.w >> 8) * unit};
}

__device__ float normal(float x) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
  float p = 1.330274429f;
  p = p * k - 1.821255978f;
  p = p * k + 1.781477937f;
  p = p * k - 0.356563782f;
  p = p * k + 0.319381530f;
  const float tail = 0.39894228f * expf(-0.5f * x * x) * p * k;
  return x > 0 ? 1.0f - tail : tail;
}

KERNEL bench_black_scholes(const float* __restrict__ price, const float* __restrict__ strike,
                           const float* __restrict__ years, float rate, float volatility,
                           float* __restrict__ call, float* __restrict__ put) {
  const unsigned i = index();
  const float s = price[i], k = strike[i], t = years[i];
  const float spread = volatility * sqrtf(t);
  const float d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / spread;
  const float d2 = d1 - spread;
  const float n1 = normal(d1), n2 = normal(d2), discounted = k * expf(-rate * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}

KERNEL bench_mandelbrot(int steps, int* __restrict__ out) {
  const unsigned x = index(), y = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
  const float cx = x * (2.5f / width) - 2.0f, cy = y * (2.5f / height) - 1.25f;
  float zx = 0, zy = 0;
  int n = 0;
  while (n < steps && zx * zx + zy * zy <= 4.0f) {
    // Rounded before c is added, as in the Metal text, whose sum is one of vectors.
    const float next = __fadd_rn(zx * zx - zy * zy, cx);
    zy = __fadd_rn(2.0f * zx * zy, cy);
    zx = next;
    ++n;
  }
  out[y * width + x] = n;
}

KERNEL bench_stencil(const float* __restrict__ x, const float* __restrict__ weights,
                     float* __restrict__ out, int rows, int columns) {
  const int column = index(), row = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
#pragma unroll
  for (int dy = -1; dy <= 1; ++dy) {
#pragma unroll
    for (int dx = -1; dx <= 1; ++dx) {
      const int r = row + dy, c = column + dx;
      if (r >= 0 && r < rows && c >= 0 && c < columns) {
        sum += weights[(dy + 1) * 3 + dx + 1] * x[r * columns + c];
      }
    }
  }
  out[row * columns + column] = sum;
}

// ---- matrices

KERNEL bench_matmul_naive(const float* __restrict__ a, const float* __restrict__ b,
                          float* __restrict__ out, unsigned inner, unsigned columns) {
  const unsigned column = index(), row = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (unsigned k = 0; k < inner; ++k) sum += a[row * inner + k] * b[k * columns + column];
  out[row * columns + column] = sum;
}

KERNEL bench_matmul_tiled(const float* __restrict__ a, const float* __restrict__ b,
                          float* __restrict__ out, unsigned inner, unsigned columns) {
  constexpr unsigned TILE = 16;
  __shared__ float left[TILE][TILE], right[TILE][TILE];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
  float sum = 0;
  for (unsigned start = 0; start < inner; start += TILE) {
    left[y][x] = a[row * inner + start + x];
    right[y][x] = b[(start + y) * columns + column];
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < TILE; ++k) sum += left[y][k] * right[k][x];
    __syncthreads();
  }
  out[row * columns + column] = sum;
}

// Tiles of 64 x 64, 32 deep, by 128 threads: as the Metal kernel, but a thread has 8 x 4 sums in
// registers where that has matrices of 8 x 8 in SIMD-groups.
template <typename T>
__device__ void tiles(const T* __restrict__ a, const T* __restrict__ b, float* __restrict__ out,
                      unsigned inner, unsigned columns) {
  __shared__ float left[32][64 + 4], right[32][64 + 4];
  const unsigned t = threadIdx.x, row = 64 * blockIdx.y, column = 64 * blockIdx.x;
  const unsigned tx = t % 16 * 4, ty = t / 16 * 8;
  float sums[8][4] = {};
  for (unsigned k = 0; k < inner; k += 32) {
    __syncthreads();
#pragma unroll
    for (unsigned n = 0; n < 16; ++n) {
      const unsigned i = t + 128 * n;
      left[i % 32][i / 32] = float(a[(row + i / 32) * inner + k + i % 32]);
      right[i / 64][i % 64] = float(b[(k + i / 64) * columns + column + i % 64]);
    }
    __syncthreads();
#pragma unroll 8
    for (unsigned kk = 0; kk < 32; ++kk) {
      float p[8], q[4];
#pragma unroll
      for (int i = 0; i < 8; ++i) p[i] = left[kk][ty + i];
#pragma unroll
      for (int j = 0; j < 4; ++j) q[j] = right[kk][tx + j];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] += p[i] * q[j];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    *reinterpret_cast<float4*>(out + (row + ty + i) * columns + column + tx) =
        {sums[i][0], sums[i][1], sums[i][2], sums[i][3]};
  }
}

KERNEL bench_matmul_simdgroup_1024(const float* __restrict__ a, const float* __restrict__ b,
                                   float* __restrict__ out, unsigned inner, unsigned columns) {
  tiles(a, b, out, inner, columns);
}

KERNEL bench_matmul_simdgroup_half_1024(const __half* __restrict__ a, const __half* __restrict__ b,
                                        float* __restrict__ out, unsigned inner,
                                        unsigned columns) {
  tiles(a, b, out, inner, columns);
}

KERNEL bench_transpose(const float* __restrict__ x, float* __restrict__ out, unsigned rows,
                       unsigned columns) {
  __shared__ float tile[32][33];
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  const unsigned column = blockIdx.x * 32, row = blockIdx.y * 32;
#pragma unroll
  for (unsigned k = 0; k < 32; k += 8) {
    tile[ty + k][tx] = x[(row + ty + k) * columns + column + tx];
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < 32; k += 8) {
    out[(column + ty + k) * rows + row + tx] = tile[tx][ty + k];
  }
}

KERNEL bench_cholesky_small(const float* __restrict__ a, float* __restrict__ out) {
  const unsigned lane = threadIdx.x;
  const unsigned start = ((blockIdx.y * blockDim.y + threadIdx.y) * 32 + lane) * 32;
  float row[32];
#pragma unroll
  for (int j = 0; j < 32; ++j) row[j] = a[start + j];
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    const float pivot = sqrtf(__shfl_sync(~0u, row[k], k));
    row[k] = lane == k ? pivot : row[k] / pivot;
#pragma unroll
    for (int j = k + 1; j < 32; ++j) row[j] -= row[k] * __shfl_sync(~0u, row[k], j);
  }
#pragma unroll
  for (int j = 0; j < 32; ++j) out[start + j] = j <= lane ? row[j] : 0.0f;
}

// ---- transformers

KERNEL bench_quantised(const unsigned* __restrict__ words, const float* __restrict__ scales,
                       const float* __restrict__ biases, const float* __restrict__ x,
                       float* __restrict__ out) {
  constexpr unsigned WORDS = 4096 / 8, GROUPS = 4096 / 64, ROWS = 64;
  __shared__ float planes[8 * WORDS], totals[GROUPS];
  const unsigned lane = threadIdx.x, warp = threadIdx.y, threads = 256;
  for (unsigned at = warp * 32 + lane; at < WORDS; at += threads) {
    float total = 0;
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      const float v = x[at * 8 + k];
      total += v;
      planes[k * WORDS + at] = v / float(1 << (k % 4 * 4));
    }
    for (unsigned other = 1; other < 8; other *= 2) total += __shfl_xor_sync(~0u, total, other);
    if (at % 8 == 0) totals[at / 8] = total;
  }
  __syncthreads();
  const unsigned first = blockIdx.y * ROWS + warp;
  for (unsigned r = 0; r < ROWS; r += 8) {
    const unsigned row = first + r;
    float sum = 0;
    for (unsigned g = lane; g < GROUPS; g += 32) sum += biases[row * GROUPS + g] * totals[g];
    for (unsigned at = lane; at < WORDS; at += 32) {
      const unsigned packed = words[row * WORDS + at];
      float product = 0;
#pragma unroll
      for (unsigned k = 0; k < 8; ++k) {
        const unsigned weight = packed >> (k / 4 * 16) & (15 << (k % 4 * 4));
        product += planes[k * WORDS + at] * float(weight);
      }
      sum += scales[row * GROUPS + at / 8] * product;
    }
    sum = warp_sum(sum);
    if (lane == 0) out[row] = sum;
  }
}

KERNEL bench_attention(const float* __restrict__ q, const float* __restrict__ k,
                       const float* __restrict__ v, float* __restrict__ out, unsigned count) {
  constexpr unsigned SIZE = 64, TILE = 32;
  __shared__ float keys[TILE * SIZE], values[TILE * SIZE];
  const unsigned t = threadIdx.x, head = blockIdx.y, threads = blockDim.x;
  const float* query = q + (head * threads + t) * SIZE;
  float mine[SIZE], sum[SIZE] = {};
#pragma unroll
  for (unsigned d = 0; d < SIZE; ++d) mine[d] = query[d] * 0.125f;
  float top = -INFINITY, total = 0;
  for (unsigned start = 0; start < count; start += TILE) {
    __syncthreads();
    for (unsigned i = t; i < TILE * SIZE; i += threads) {
      keys[i] = k[(head * count + start) * SIZE + i];
      values[i] = v[(head * count + start) * SIZE + i];
    }
    __syncthreads();
    float scores[TILE], best = top;
#pragma unroll
    for (unsigned j = 0; j < TILE; ++j) {
      float score = 0;
#pragma unroll
      for (unsigned d = 0; d < SIZE; ++d) score += mine[d] * keys[j * SIZE + d];
      scores[j] = score;
      best = fmaxf(best, score);
    }
    const float shrink = expf(top - best);
    top = best;
    total *= shrink;
#pragma unroll
    for (unsigned d = 0; d < SIZE; ++d) sum[d] *= shrink;
#pragma unroll
    for (unsigned j = 0; j < TILE; ++j) {
      const float weight = expf(scores[j] - top);
      total += weight;
#pragma unroll
      for (unsigned d = 0; d < SIZE; ++d) sum[d] += weight * values[j * SIZE + d];
    }
  }
#pragma unroll
  for (unsigned d = 0; d < SIZE; ++d) out[(head * threads + t) * SIZE + d] = sum[d] / total;
}

// ---- irregular

KERNEL bench_histogram_small(const uint8_t* __restrict__ x, unsigned* __restrict__ out) {
  __shared__ unsigned bins[256];
  const unsigned t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  const uint8_t* from = x + blockIdx.x * 16384;
  for (unsigned i = t; i < 16384; i += 256) atomicAdd(&bins[from[i]], 1);
  __syncthreads();
  atomicAdd(&out[t], bins[t]);
}

KERNEL bench_histogram_large(const uint16_t* __restrict__ x, unsigned* __restrict__ out) {
  atomicAdd(&out[x[index()]], 1);
}

KERNEL bench_gather(const float* __restrict__ x, const unsigned* __restrict__ places,
                    float* __restrict__ out) {
  const unsigned i = index();
  out[i] = x[places[i]];
}

KERNEL bench_scatter(const float* __restrict__ x, const unsigned* __restrict__ places,
                     float* __restrict__ out) {
  const unsigned i = index();
  out[places[i]] = x[i];
}

KERNEL bench_rnn(const float* __restrict__ x, const float* __restrict__ weights,
                 float* __restrict__ out, unsigned steps) {
  const unsigned lane = threadIdx.x, sequence = blockIdx.y * blockDim.y + threadIdx.y;
  float mine[32], state = 0;
#pragma unroll
  for (int j = 0; j < 32; ++j) mine[j] = weights[lane * 32 + j];
  for (unsigned step = 0; step < steps; ++step) {
    const unsigned i = (sequence * steps + step) * 32 + lane;
    float next = x[i];
#pragma unroll
    for (int j = 0; j < 32; ++j) next += mine[j] * __shfl_sync(~0u, state, j);
    state = tanhf(next);
    out[i] = state;
  }
}

// ---- samples

struct Place {
  int x, y;
  float right, below;
};

__device__ Place place_of(const float* points, unsigned sample, int height, int width) {
  const float px = points[2 * sample], py = points[2 * sample + 1];
  const float x = (px + 1.0f) * (0.5f * width) - 0.5f, y = (py + 1.0f) * (0.5f * height) - 0.5f;
  const float left = floorf(x), top = floorf(y);
  return {int(left), int(top), x - left, y - top};
}

KERNEL bench_grid_sample(const float* __restrict__ image, const float* __restrict__ points,
                         unsigned samples, float* __restrict__ out, int height, int width,
                         int channels) {
  const unsigned channel = index(), sample = blockIdx.y * blockDim.y + threadIdx.y;
  const Place p = place_of(points, sample, height, width);
  float sum = 0;
#pragma unroll
  for (int dy = 0; dy < 2; ++dy) {
#pragma unroll
    for (int dx = 0; dx < 2; ++dx) {
      const int x = p.x + dx, y = p.y + dy;
      if (x >= 0 && y >= 0 && x < width && y < height) {
        const float weight = (dx ? p.right : 1 - p.right) * (dy ? p.below : 1 - p.below);
        const unsigned at = ((sample / samples * height + y) * width + x) * channels;
        sum += weight * image[at + channel];
      }
    }
  }
  out[sample * channels + channel] = sum;
}

KERNEL bench_grid_sample_vjp(const float* __restrict__ image, const float* __restrict__ points,
                             unsigned samples, const float* __restrict__ flow,
                             float* __restrict__ image_grad, float* __restrict__ points_grad,
                             int height, int width, unsigned channels) {
  const unsigned lane = threadIdx.x, sample = blockIdx.y * blockDim.y + threadIdx.y;
  const Place p = place_of(points, sample, height, width);
  float sx = 0, sy = 0;
#pragma unroll
  for (int dy = 0; dy < 2; ++dy) {
#pragma unroll
    for (int dx = 0; dx < 2; ++dx) {
      const int x = p.x + dx, y = p.y + dy;
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      const float nx = dx ? p.right : 1 - p.right, ny = dy ? p.below : 1 - p.below;
      const float tx = dx ? ny : -ny, ty = dy ? nx : -nx;
      const unsigned start = ((sample / samples * height + y) * width + x) * channels;
      for (unsigned channel = lane; channel < channels; channel += 32) {
        const float part = flow[sample * channels + channel];
        const float value = part * image[start + channel];
        sx += tx * value;
        sy += ty * value;
        atomicAdd(&image_grad[start + channel], nx * ny * part);
      }
    }
  }
  sx = warp_sum(sx) * 0.5f * width;
  sy = warp_sum(sy) * 0.5f * height;
  if (lane == 0) {
    points_grad[2 * sample] = sx;
    points_grad[2 * sample + 1] = sy;
  }
}
