// Bounds checks of places that are data: a thread per channel and sample, some of them outside.
// input: image = float32[6, 5, 8] normal
// input: places = int32[50, 2] integers(-2, 7)
// output: out = float32[50, 8]
// grid: 400
// threadgroup: 64
// where: at = lambda p, c: image[p[0], p[1], c] if 0 <= p[0] < 6 and 0 <= p[1] < 5 else 0
// where: values = [sum(at(p + d, c) for d in (0, 1)) for p in places for c in range(8)]
// expect: out = np.array(values).reshape(50, 8)
// close: 1e-6 1e-6
uint i = thread_position_in_grid.x, sample = i / 8, channel = i % 8;
float sum = 0;
for (int d = 0; d < 2; ++d) {
    int y = places[2 * sample] + d, x = places[2 * sample + 1] + d;
    if (y >= 0 && x >= 0 && y < image_shape[0] && x < image_shape[1]) {
        sum += image[(y * image_shape[1] + x) * 8 + channel];
    }
}
out[i] = sum;
