// What the preprocessor knows about Metal and about the text.
// output: y = int32[6]
// grid: 1
// expect: y = [1, 1, 1, 1, 15, 16]
#ifdef __METAL__
y[0] = 1;
#endif
#if __METAL_VERSION__ >= 310 && defined(__HAVE_BFLOAT__)
y[1] = 1;
#endif
#ifndef NDEBUGGING
y[2] = 1;
#endif
y[3] = sizeof(__FILE__) > 1;
y[4] = __LINE__;
y[5] = __LINE__;
