// Counts how often each of eight numbers occurs in a thread's own stretch: bins[number] is an
// address that every thread computes for itself.
uint i = thread_position_in_grid.x;
int bins[8] = {};
for (uint k = 0; k < 128; ++k) {
    bins[x[k * threads_per_grid.x + i]] += 1;
}
for (uint bin = 0; bin < 8; ++bin) {
    out[bin * threads_per_grid.x + i] = bins[bin];
}
