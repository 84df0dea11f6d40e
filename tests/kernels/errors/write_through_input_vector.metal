// A vector view of an input.
// input: x = float32[16] normal
// output: y = float32[4]
// grid: 4
// error: cannot assign to component 'x'[^\0]*hint: inputs cannot be written at 7:6
const device float4* v = (const device float4*)x;
v[0].x = 1;
