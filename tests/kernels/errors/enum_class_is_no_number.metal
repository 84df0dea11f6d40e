// A scoped enumeration does not convert by itself.
// output: y = int32[4]
// grid: 4
// error: incompatible type 'Mode' at 6:8
enum class Mode { fast, slow };
y[0] = Mode::fast;
