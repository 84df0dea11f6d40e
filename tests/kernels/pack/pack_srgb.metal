// Linear light to sRGB: every byte survives the way there and back.
// input: x = uint32[256] np.arange(256) * 0x01010101
// output: y = uint32[256]
// output: z = uint32[2]
// grid: 256
// threadgroup: 64
// expect: y = x
// expect: z = [0xff00ff00, 0x80bc0000]
uint i = thread_position_in_grid.x;
y[i] = pack_float_to_srgb_unorm4x8(unpack_unorm4x8_srgb_to_float(x[i]));
if (i == 0) z[0] = pack_float_to_srgb_unorm4x8(float4(-1, 2, NAN, 1));
if (i == 1) z[1] = pack_half_to_srgb_unorm4x8(half4(0, 0, 0.5, 0.5));
