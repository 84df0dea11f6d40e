// Pasting, stringifying, variadic macros, redefinition after #undef, conditions.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 1 + 2 * x + 30 + 3
#define JOIN(a, b) a##b
#define CALL(f, ...) f(__VA_ARGS__)
#define MAX3(a, b, c) max(max((a), (b)), (c))
#define STEP 1
uint t = thread_position_in_grid.x;
int JOIN(val, ue) = x[t] + STEP;
#undef STEP
#define STEP 2
value += STEP * x[t];
#if defined(STEP) && STEP == 2 && !defined(NOTHING)
value += CALL(MAX3, 10, 30, 20);
#elif STEP == 1
#error "not this one"
#else
value = 0;
#endif
#define TEXT(s) #s
value += sizeof(TEXT(ab)) == 3 ? 3 : 0;
y[t] = value;
#undef MAX3
#undef TEXT
