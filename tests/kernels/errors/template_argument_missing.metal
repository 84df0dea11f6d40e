// Nothing to deduce a parameter from.
// output: y = float32[4]
// grid: 4
// error: no matching function for call to 'made'[^\0]*couldn't infer template argument 'T' at 8:8
// header:
template <typename T> T made() { return T(1); }
// body:
y[0] = made();
