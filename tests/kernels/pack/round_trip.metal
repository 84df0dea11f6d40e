// What unpacking gives packs into the same word, in every format.
// input: x = uint32[200] random
// output: y = bool[200, 6]
// grid: 200
// threadgroup: 128
// expect: y = True
uint i = thread_position_in_grid.x, v = x[i];
device bool* row = y + 6 * i;
row[0] = pack_float_to_unorm4x8(unpack_unorm4x8_to_float(v)) == v;
row[1] = pack_half_to_unorm4x8(unpack_unorm4x8_to_half(v)) == v;
row[2] = pack_float_to_unorm2x16(unpack_unorm2x16_to_float(v)) == v;
row[3] = pack_float_to_unorm10a2(unpack_unorm10a2_to_float(v)) == v;
row[4] = pack_float_to_unorm565(unpack_unorm565_to_float(ushort(v))) == ushort(v);
uint inside = v | 0x01010101;  // -128 and -127 are both -1
row[5] = pack_float_to_snorm4x8(unpack_snorm4x8_to_float(inside)) == inside;
