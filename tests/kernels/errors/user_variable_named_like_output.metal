// A name that MLX has given away.
// output: out = float32[4]
// grid: 4
// error: redefinition of 'out'[^\0]*hint: MLX declares out as a buffer at 5:7
float out[4];
