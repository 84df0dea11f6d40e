// Eight neighbours on a torus; several generations by the caller would follow.
// input: cells = bool[20, 30] random
// output: next = bool[20, 30]
// grid: 30 20
// threadgroup: 8 8
// where:
//     around = sum(np.roll(cells.astype(int), (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b)
// expect: next = (around == 3) | (cells & (around == 2))
int2 at = int2(thread_position_in_grid.xy);
int2 size = int2(threads_per_grid.xy);
int around = 0;
for (int dy = -1; dy <= 1; dy++)
  for (int dx = -1; dx <= 1; dx++) {
    if (dx == 0 && dy == 0) continue;
    int2 p = (at + int2(dx, dy) + size) % size;
    around += cells[p.y * size.x + p.x];
  }
bool alive = cells[at.y * size.x + at.x];
next[at.y * size.x + at.x] = around == 3 || (alive && around == 2);
