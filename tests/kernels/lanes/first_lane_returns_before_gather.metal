// Lanes gather 16-bit numbers after the first one has returned. LLVM 22 left the upper half of a
// 64-bit register in an address, with AVX-512 (-x86-and-imm-shrink in targets/cpu/assemble.py).
// input: x = uint16[8] integers(0, 3)
// input: place = int32[64, 2] integers(-100, 100)
// output: out = int8[64]
// grid: 64
// threadgroup: 32
// init: 1
// where:
//     larger = x[place[:, 1] & 7] > 0
// expect: out = np.where(np.arange(64) % 32 == 0, 1, 1 << larger.astype(int))
    uint i = thread_position_in_grid.x;
    if (simd_is_first()) return;
    out[i] <<= char(x[((const device int2*)place)[i].y & 7] > ushort(0));
