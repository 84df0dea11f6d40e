// Bilinear sampling: a sample's channels are vectors, its four pixels contiguous.

#include "vec.h"

using namespace bench;

namespace {

struct Place {
  int64_t x, y;
  float right, below;  // how far the point is from that pixel
};

Place place_of(const float* point, int64_t height, int64_t width) {
  const float x = (point[0] + 1.0f) * (0.5f * float(width)) - 0.5f;
  const float y = (point[1] + 1.0f) * (0.5f * float(height)) - 0.5f;
  const float left = __builtin_floorf(x), top = __builtin_floorf(y);
  return {int64_t(left), int64_t(top), x - left, y - top};
}

// Points are anywhere: the pixels of a later one are on their way while this one is worked on.
constexpr int64_t kAhead = 6;
void prefetch(const float* image, const Place& place, int64_t height, int64_t width,
              int64_t channels) {
  for (int64_t y = place.y; y < place.y + 2; ++y) {
    if (y < 0 || y >= height || place.x < 0 || place.x + 1 >= width) continue;
    const float* from = image + (y * width + place.x) * channels;
    for (int64_t c = 0; c < 2 * channels; c += 16) __builtin_prefetch(from + c);
  }
}

constexpr int kTogether = 4;  // vectors of channels: 64 channels with AVX-512

}  // namespace

extern "C" void bench_grid_sample(const float* image, const float* points, float* out,
                                  int64_t batches, int64_t height, int64_t width, int64_t channels,
                                  int64_t samples) {
  parallel(batches * samples, 512, [=](int64_t first, int64_t last) {
    for (int64_t sample = first; sample < last; ++sample) {
      const Place place = place_of(points + 2 * sample, height, width);
      const float* base = image + sample / samples * height * width * channels;
      if (sample + kAhead < last) {
        prefetch(base, place_of(points + 2 * (sample + kAhead), height, width), height, width,
                 channels);
      }
      for (int64_t c = 0; c < channels; c += kTogether * W) {
        vf sums[kTogether] = {};
        for (int corner = 0; corner < 4; ++corner) {
          const int64_t x = place.x + corner % 2, y = place.y + corner / 2;
          if (x < 0 || y < 0 || x >= width || y >= height) continue;
          const vf weight = vf((corner % 2 ? place.right : 1 - place.right) *
                               (corner / 2 ? place.below : 1 - place.below));
          const float* from = base + (y * width + x) * channels + c;
          for (int v = 0; v < kTogether; ++v) {
            sums[v] = fma(weight, load(from + v * W), sums[v]);
          }
        }
        for (int v = 0; v < kTogether; ++v) stream(out + sample * channels + c + v * W, sums[v]);
      }
    }
    fence();
  });
}

// Samples of one image are one thread's, so nobody else writes its gradient.
extern "C" void bench_grid_sample_vjp(const float* image, const float* points, const float* flow,
                                      float* image_grad, float* points_grad, int64_t batches,
                                      int64_t height, int64_t width, int64_t channels,
                                      int64_t samples) {
  parallel(batches, 1, [=](int64_t first, int64_t last) {
    for (int64_t batch = first; batch < last; ++batch) {
      const int64_t size = height * width * channels;
      const float* base = image + batch * size;
      float* grad = image_grad + batch * size;
      std::memset(grad, 0, size * sizeof(float));
      for (int64_t sample = batch * samples; sample < (batch + 1) * samples; ++sample) {
        const Place place = place_of(points + 2 * sample, height, width);
        const float* part = flow + sample * channels;
        vf slope_x = vf(0.0f), slope_y = vf(0.0f);
        for (int corner = 0; corner < 4; ++corner) {
          const int64_t x = place.x + corner % 2, y = place.y + corner / 2;
          if (x < 0 || y < 0 || x >= width || y >= height) continue;
          const float near_x = corner % 2 ? place.right : 1 - place.right;
          const float near_y = corner / 2 ? place.below : 1 - place.below;
          const float *from = base + (y * width + x) * channels;
          float* to = grad + (y * width + x) * channels;
          vf product = vf(0.0f);
#pragma clang loop unroll_count(4)
          for (int64_t c = 0; c < channels; c += W) {
            const vf f = load(part + c);
            product = fma(f, load(from + c), product);
            store(to + c, fma(f, vf(near_x * near_y), load(to + c)));
          }
          slope_x = fma(product, vf(corner % 2 ? near_y : -near_y), slope_x);
          slope_y = fma(product, vf(corner / 2 ? near_x : -near_x), slope_y);
        }
        points_grad[2 * sample] = sum(slope_x) * 0.5f * float(width);
        points_grad[2 * sample + 1] = sum(slope_y) * 0.5f * float(height);
      }
    }
  });
}
