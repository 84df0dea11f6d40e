// Arrays of the heap.
// input: x = float32[16] normal
// output: y = int32[4]
// grid: 4
// error: 'delete' is not supported in Metal at 7:1
thread int* p = nullptr;
delete[] p;
