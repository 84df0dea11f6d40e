// A type of another language.
// output: y = int32[4]
// grid: 4
// error: no template named 'vector' at 5:1
vector<int> v;
y[thread_position_in_grid.x] = 1;
