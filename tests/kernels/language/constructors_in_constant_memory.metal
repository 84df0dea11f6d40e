// Constructors for each address space, made by the compiler or empty; `constant` behind a member
// function that is none means const.
// output: y = int32[3]
// grid: 1
// expect: y = [0, 7, 16]
// header:
struct State {
  int value = 7;
  State() thread = default;
  State() threadgroup = default;
  State() constant = default;
  State(int) thread {}
  State(int) constant {}
  int State_and_more(int more) constant { return value + more; }
};
struct Pair {
  int a = 0;
  Pair(int, int) constant;
  Pair() thread = default;
  int State(int more) constant { return a + more; }
};
// body:
State s, t(3);
Pair p;
y[0] = p.a;
y[1] = s.value;
y[2] = t.State_and_more(3) + p.State(6);
