// Textures cannot be passed.
// output: y = float32[4]
// grid: 4
// error: 'texture2d'[^\0]*hint: kernels of MLX take buffers only at 5:1
texture2d<float> image;
y[0] = 1;
