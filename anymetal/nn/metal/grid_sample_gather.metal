// A SIMD-group goes through the lists of RUN pixels, one after the other, and adds up each one's
// channels in registers. Every element of the gradient is written once: no atomics on floats, nothing
// to zero before.
int lane = thread_index_in_simdgroup, channels = cotangent_shape[3];
size_t pixels = size_t(heads_shape[1]) * heads_shape[2], image = thread_position_in_grid.z * pixels;
size_t first_pixel = thread_position_in_grid.x / 32 * size_t(RUN);
size_t end = metal::min(first_pixel + RUN, pixels);

for (size_t pixel = image + first_pixel; pixel < image + end; ++pixel) {
    int head = heads[pixel];
    for (int done = 0; done < channels; done += CHUNK * 32) {
        int first = lane + done;
        float sum[CHUNK] = {};
        for (int entry = head; entry >= 0; entry = links[2 * size_t(entry)]) {
            float weight = as_type<float>(links[2 * size_t(entry) + 1]);
            size_t from = size_t(entry / ENTRIES) * channels + first;
            for (int k = 0; k < CHUNK; ++k) {
                if (WHOLE || first + k * 32 < channels) {
                    sum[k] += weight * float(cotangent[from + k * 32]);
                }
            }
        }
        for (int k = 0; k < CHUNK; ++k) {
            if (WHOLE || first + k * 32 < channels) {
                x_grad[pixel * channels + first + k * 32] = T(sum[k]);
            }
        }
    }
}
