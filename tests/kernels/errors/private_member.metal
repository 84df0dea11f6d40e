// Access rules hold.
// output: y = float32[4]
// grid: 4
// error: 'secret' is a private member of 'Safe' at 13:15
// header:
class Safe {
 public:
  int open = 1;
 private:
  int secret = 2;
};
// body:
y[0] = Safe().secret;
