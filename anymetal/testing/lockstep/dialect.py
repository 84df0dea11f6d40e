"""The six words that kernels of this fuzzer use beside Metal's own, as Metal reads them.

The oracle (metal.h, lockstep.h) gives the same words the meaning that C++ lacks.
"""

HEADER = """\
#define SHL(a, b) ((a) << (b))
#define SHR(a, b) ((a) >> (b))
#define CVT(T, x) ((T)(x))
#define LOOP {
#define ITER
#define END_LOOP }
"""
