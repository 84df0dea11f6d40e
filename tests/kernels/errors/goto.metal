// Metal has no goto.
// output: y = float32[4]
// grid: 4
// error: 'goto' is not supported in Metal: use loops at 6:19
uint t = thread_position_in_grid.x;
y[t] = 1; if (t) {goto end;}
y[t] = 2;
end: ;
