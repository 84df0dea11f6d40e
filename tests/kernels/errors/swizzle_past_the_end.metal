// A vector of three has no fourth component.
// output: y = float32[4]
// grid: 4
// error: 'xyw' at 6:10
float3 v = 1;
y[0] = v.xyw.x;
