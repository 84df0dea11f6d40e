// The gradient of a point belongs to one SIMD-group (or thread): each lane adds up its channels,
// simd_sum the lanes, and a plain store ends it.
int height = x_shape[1], width = x_shape[2], channels = x_shape[3];
Work work = work_of<WIDE>(thread_position_in_grid, threads_per_grid);
size_t image = size_t(work.image) * height * width * channels;

constexpr int TAPS = taps_of(MODE), STEP = WIDE ? 32 : 1;
auto across = axis_of<MODE, PADDING, CORNERS>(float(points[2 * work.sample]), width);
auto down = axis_of<MODE, PADDING, CORNERS>(float(points[2 * work.sample + 1]), height);

float2 slope = 0.0f;
for (int done = 0; done < channels; done += CHUNK * STEP) {
    int first = work.first + done;
    float flow[CHUNK] = {};
    for (int k = 0; k < CHUNK; ++k) {
        if (WHOLE || first + k * STEP < channels) {
            flow[k] = float(cotangent[work.sample * channels + first + k * STEP]);
        }
    }
    for (int j = 0; j < TAPS; ++j) {
        for (int i = 0; i < TAPS; ++i) {
            if (down.pixel[j] == OUTSIDE || across.pixel[i] == OUTSIDE) continue;
            Index from = (Index(down.pixel[j]) * width + across.pixel[i]) * channels + first;
            float product = 0.0f;
            for (int k = 0; k < CHUNK; ++k) {
                if (WHOLE || first + k * STEP < channels) {
                    product += flow[k] * float(x[image + from + k * STEP]);
                }
            }
            slope += product * float2(down.weight[j] * across.slope[i],
                                      down.slope[j] * across.weight[i]);
        }
    }
}
if (WIDE) {
    slope.x = metal::simd_sum(slope.x);
    slope.y = metal::simd_sum(slope.y);
}
if (work.first == 0) {
    points_grad[2 * work.sample] = T(slope.x);
    points_grad[2 * work.sample + 1] = T(slope.y);
}
