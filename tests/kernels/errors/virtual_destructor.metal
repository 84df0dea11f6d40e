// A base class with a virtual function, in the body.
// output: y = int32[4]
// grid: 4
// error: 'virtual' is not supported in Metal: there are no virtual functions at 6:3
struct Shape {
  virtual int corners() const { return 0; }
};
y[0] = 1;
