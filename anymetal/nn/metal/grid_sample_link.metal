// Who contributes to a pixel: a linked list per pixel, of entries that are one pixel of one sample
// each. `heads` has the first entry of each list, `links` for each entry the next one and the
// weight, side by side because they are read together.
int height = size[0], width = size[1];
size_t image = size_t(thread_position_in_grid.z) * height * width;
size_t sample = size_t(thread_position_in_grid.z) * threads_per_grid.x + thread_position_in_grid.x;

constexpr int TAPS = taps_of(MODE);
auto across = axis_of<MODE, PADDING, CORNERS>(float(points[2 * sample]), width);
auto down = axis_of<MODE, PADDING, CORNERS>(float(points[2 * sample + 1]), height);

for (int j = 0; j < TAPS; ++j) {
    for (int i = 0; i < TAPS; ++i) {
        if (down.pixel[j] == OUTSIDE || across.pixel[i] == OUTSIDE) continue;
        int pixel = down.pixel[j] * width + across.pixel[i];
        size_t entry = (sample * TAPS + j) * TAPS + i;
        int next = atomic_exchange_explicit(&heads[image + pixel], int(entry), memory_order_relaxed);
        atomic_store_explicit(&links[2 * entry], next, memory_order_relaxed);
        atomic_store_explicit(&links[2 * entry + 1],
                              as_type<int>(down.weight[j] * across.weight[i]),
                              memory_order_relaxed);
    }
}
