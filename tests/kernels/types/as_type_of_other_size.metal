// as_type keeps the bits, so the sizes must be the same.
// output: y = uint32[1]
// grid: 1
// error: same size
y[0] = as_type<uint>(half(1));
