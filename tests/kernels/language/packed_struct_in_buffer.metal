// Records of odd size read out of a byte buffer.
// input: x = uint8[70] random
// output: y = int32[10]
// grid: 10
// where:
//     r = x.reshape(10, 7).astype(np.int64)
// expect: y = r[:, 0] + (r[:, 1] | r[:, 2] << 8) + (r[:, 3] | r[:, 4] << 8 | r[:, 5] << 16) + r[:, 6]
// header:
struct __attribute__((packed)) Record { uchar tag; ushort size; uchar low; packed_uchar3 rest; };
static_assert(sizeof(Record) == 7, "no padding");
// body:
uint t = thread_position_in_grid.x;
const device Record* r = (const device Record*)x + t;
y[t] = r->tag + r->size + (r->low | r->rest[0] << 8 | r->rest[1] << 16) + r->rest[2];
