// N was not passed.
// output: y = float32[4]
// grid: 4
// error: 'GROUP_SIZE'[^\0]*hint: if GROUP_SIZE is a template parameter at 5:21
for (int i = 0; i < GROUP_SIZE; i++) y[i] = 1;
