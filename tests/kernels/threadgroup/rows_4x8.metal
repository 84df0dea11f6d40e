// A matrix product with bounds checks in threadgroups of 4 x 8, whose gangs are several rows.
// input: a = float32[19, 23] integers(-5, 5)
// input: b = float32[23, 24] integers(-5, 5)
// output: y = float32[19, 24]
// grid: 24 24
// threadgroup: 4 8
// expect: y = a @ b
uint2 at = thread_position_in_grid.xy;
threadgroup float part[64];
float sum = 0;
uint here = thread_index_in_threadgroup;
for (uint k = 0; k < 23; k++) {
    float left = at.y < 19 ? a[at.y * 23 + k] : 0.0f;
    part[here] = at.x < 24 ? b[k * 24 + at.x] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += left * part[here];
    threadgroup_barrier(mem_flags::mem_threadgroup);
}
if (at.y < 19) y[at.y * 24 + at.x] = sum;
