// v - (q . v) q by one SIMD-group: a reduction, then an update.
// input: q = float32[96] normal
// input: v = float32[96] normal
// output: y = float32[96]
// grid: 32
// threadgroup: 32
// expect: y = v.astype(float) - (q.astype(float) @ v.astype(float)) * q
// close: 1e-5
uint lane = thread_position_in_grid.x;
float dot_ = 0;
for (uint i = lane; i < 96; i += 32) dot_ += q[i] * v[i];
dot_ = simd_sum(dot_);
for (uint i = lane; i < 96; i += 32) y[i] = v[i] - dot_ * q[i];
