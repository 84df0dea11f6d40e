// Declared, called, and defined nowhere.
// output: y = float32[4]
// grid: 4
// error: 'elsewhere' is called, but it is declared only at 8:36
// header:
float elsewhere(float v);
// body:
y[thread_position_in_grid.x] = 1 + elsewhere(2);
