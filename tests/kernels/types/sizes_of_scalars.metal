// Sizes and alignments of all scalar types and their second names.
// output: y = int32[26]
// grid: 1
// expect: y = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 2, 2, 4, 4, 2, 4, 8]
int all[] = {sizeof(bool), sizeof(char), sizeof(uchar), sizeof(int8_t), sizeof(uint8_t),
             sizeof(short), sizeof(ushort), sizeof(int16_t), sizeof(uint16_t),
             sizeof(int), sizeof(uint), sizeof(int32_t), sizeof(uint32_t),
             sizeof(long), sizeof(ulong), sizeof(int64_t), sizeof(uint64_t), sizeof(size_t),
             sizeof(ptrdiff_t), sizeof(half), sizeof(bfloat), sizeof(float),
             alignof(float), alignof(half), alignof(int), alignof(long)};
for (int i = 0; i < 26; ++i) y[i] = all[i];
