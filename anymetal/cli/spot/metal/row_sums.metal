// A SIMD-group adds up a row. Sums are float whatever the type of the numbers.
uint lane = thread_position_in_grid.x, row = thread_position_in_grid.y;
uint width = x_shape[1];
float sum = 0;
for (uint column = lane; column < width; column += 32) {
    sum += float(x[row * width + column]);
}
sum = simd_sum(sum);
if (lane == 0) {
    out[row] = sum;
}
