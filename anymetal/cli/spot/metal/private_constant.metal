// The same, but every index is a constant once the inner loop is unrolled: bins become registers.
uint i = thread_position_in_grid.x;
int bins[8] = {};
for (uint k = 0; k < 128; ++k) {
    int number = x[k * threads_per_grid.x + i];
    #pragma unroll
    for (int bin = 0; bin < 8; ++bin) {
        bins[bin] += number == bin;
    }
}
#pragma unroll
for (uint bin = 0; bin < 8; ++bin) {
    out[bin * threads_per_grid.x + i] = bins[bin];
}
