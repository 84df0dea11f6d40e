// A tree that walks itself.
// output: y = int32[4]
// grid: 4
// error: UnsupportedFeatureError: recursion is not supported in a kernel: Tree::depth -> Tree::depth at 8:51
// header:
struct Tree {
  const device int* children;
  int depth(int at) const { return at ? 1 - this->depth(children[at]) : 0; }
};
// body:
Tree tree = {y};
y[0] = tree.depth(1);
