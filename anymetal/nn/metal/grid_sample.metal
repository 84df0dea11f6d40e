int height = x_shape[1], width = x_shape[2], channels = x_shape[3];
Work work = work_of<WIDE>(thread_position_in_grid, threads_per_grid);
size_t image = size_t(work.image) * height * width * channels;

constexpr int TAPS = taps_of(MODE), STEP = WIDE ? 32 : 1;
auto across = axis_of<MODE, PADDING, CORNERS>(float(points[2 * work.sample]), width);
auto down = axis_of<MODE, PADDING, CORNERS>(float(points[2 * work.sample + 1]), height);

for (int done = 0; done < channels; done += CHUNK * STEP) {
    int first = work.first + done;
    float sum[CHUNK] = {};
    for (int j = 0; j < TAPS; ++j) {
        for (int i = 0; i < TAPS; ++i) {
            if (down.pixel[j] == OUTSIDE || across.pixel[i] == OUTSIDE) continue;
            Index from = (Index(down.pixel[j]) * width + across.pixel[i]) * channels + first;
            float weight = down.weight[j] * across.weight[i];
            for (int k = 0; k < CHUNK; ++k) {
                if (WHOLE || first + k * STEP < channels) {
                    sum[k] += weight * float(x[image + from + k * STEP]);
                }
            }
        }
    }
    for (int k = 0; k < CHUNK; ++k) {
        if (WHOLE || first + k * STEP < channels) {
            out[work.sample * channels + first + k * STEP] = T(sum[k]);
        }
    }
}
