// The text of an assertion, and what led to it.
// output: y = float32[4]
// grid: 4
// error: a tile is at least one SIMD-group wide[^\0]*source:12:10 at 8:17
// header:
template <int Width>
struct Tile {
  static_assert(Width >= 32, "a tile is at least one SIMD-group wide");
  float v[Width];
};
// body:
Tile<16> tile;
y[0] = tile.v[0];
