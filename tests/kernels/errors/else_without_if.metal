// A semicolon that ends the `if` too early.
// output: y = int32[4]
// grid: 4
// error: expected expression at 6:1
if (y[0] > 1) y[0] = 1;; 
else y[0] = 2;
