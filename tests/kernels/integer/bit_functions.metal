// popcount, clz, ctz, reverse_bits, rotate, extract_bits, insert_bits.
// input: x = uint32[100] random
// output: y = uint32[100, 7]
// grid: 100
// threadgroup: 32
// where:
//     words = [format(v, "032b") for v in (x >> (np.arange(100) % 32)).tolist()]
//     v = np.array([int(w, 2) for w in words], np.int64)
//     ones = [w.count("1") for w in words]
//     leading = [32 - len(w.lstrip("0")) for w in words]
//     trailing = [32 - len(w.rstrip("0")) if "1" in w else 32 for w in words]
//     backwards = [int(w[::-1], 2) for w in words]
//     rotated = [int(w[5:] + w[:5], 2) for w in words]
// expect: y = np.stack([ones, leading, trailing, backwards, rotated, (v >> 7) & 0x1ff, (v & ~0xff0) | ((v & 0xff) << 4)], axis=1)
uint t = thread_position_in_grid.x;
uint v = x[t] >> (t % 32);
y[7 * t] = popcount(v);
y[7 * t + 1] = clz(v);
y[7 * t + 2] = ctz(v);
y[7 * t + 3] = reverse_bits(v);
y[7 * t + 4] = rotate(v, 5u);
y[7 * t + 5] = extract_bits(v, 7, 9);
y[7 * t + 6] = insert_bits(v, v, 4, 8);
