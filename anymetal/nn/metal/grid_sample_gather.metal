// A SIMD-group per pixel goes through the pixel's list and adds up its channels in registers. Every
// element of the gradient is written once: no atomics on floats, nothing to zero before.
int lane = thread_position_in_grid.x, channels = cotangent_shape[3];
size_t pixel = size_t(thread_position_in_grid.z) * threads_per_grid.y + thread_position_in_grid.y;

for (int done = 0; done < channels; done += CHUNK * 32) {
    int first = lane + done;
    float sum[CHUNK] = {};
    for (int entry = heads[pixel]; entry >= 0; entry = links[2 * size_t(entry)]) {
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
