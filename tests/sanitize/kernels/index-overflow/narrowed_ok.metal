// A hash table: wrapping is what the product is for.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint hash = (i + 77) * 2654435761u;
hash = hash * 1664525u + 1013904223u;
y[i] = x[hash >> 26] + x[hash % 64] + x[hash & 63] + x[uchar(hash) / 4];
