// Bit fields keep their low bits; signed ones extend.
// input: x = uint32[64] random
// output: y = int32[64]
// grid: 64
// threadgroup: 32
// where:
//     low, middle = x & 7, (x >> 3) & 31
//     signed = np.where(middle >= 16, middle.astype(np.int64) - 32, middle)
// expect: y = low * 100 + signed
// header:
struct Fields { uint low : 3; int middle : 5; uint rest : 24; };
// body:
uint t = thread_position_in_grid.x;
Fields fields;
fields.low = x[t];
fields.middle = x[t] >> 3;
fields.rest = 0xffffffu;
y[t] = int(fields.low) * 100 + fields.middle;
