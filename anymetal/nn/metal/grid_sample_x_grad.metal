// Samples share pixels: their parts of the gradient are added up atomically.
int height = size[0], width = size[1], channels = cotangent_shape[3];
Work work = work_of<WIDE>(thread_position_in_grid, threads_per_grid);
size_t image = size_t(work.image) * height * width * channels;

constexpr int TAPS = taps_of(MODE), STEP = WIDE ? 32 : 1;
auto across = axis_of<MODE, PADDING, CORNERS>(float(points[2 * work.sample]), width);
auto down = axis_of<MODE, PADDING, CORNERS>(float(points[2 * work.sample + 1]), height);

for (int channel = work.first; channel < channels; channel += STEP) {
    float flow = float(cotangent[work.sample * channels + channel]);
    for (int j = 0; j < TAPS; ++j) {
        for (int i = 0; i < TAPS; ++i) {
            if (down.pixel[j] == OUTSIDE || across.pixel[i] == OUTSIDE) continue;
            Index to = (Index(down.pixel[j]) * width + across.pixel[i]) * channels + channel;
            atomic_fetch_add_explicit(&x_grad[image + to],
                                      down.weight[j] * across.weight[i] * flow,
                                      memory_order_relaxed);
        }
    }
}
