// A static variable in a function template.
// output: y = int32[4]
// grid: 4
// error: static variable 'calls' must reside in constant address space at 8:12
// header:
template <typename T>
T counted(T v) {
  static T calls = 0;
  return v + calls++;
}
// body:
y[0] = counted(1);
