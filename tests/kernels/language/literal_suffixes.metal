// h and bf literals, digit separators, binary and hexadecimal numbers.
// output: y = float32[8]
// grid: 1
// expect: y = [1.5, 0.25, 3.0, 1001.0, 10.0, 255.0, 4.0, 65536.0]
y[0] = float(1.5h);
y[1] = float(.25bf);
y[2] = float(1.0H + 2.0h);
y[3] = 1'001;
y[4] = 0b1010;
y[5] = 0xFFu;
y[6] = sizeof(1.0h) + sizeof(1.0bf);
y[7] = float(1ul << 16);
