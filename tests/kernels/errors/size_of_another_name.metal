// An input's size under a name that is near.
// input: x = float32[9] normal
// output: y = float32[4]
// grid: 4
// error: undeclared identifier 'inp0_size' at 6:8
y[0] = inp0_size;
