// A private struct: a stack of numbers, pushed and popped as the data say.
// input: x = int32[40, 12] integers(-3, 9)
// output: y = int32[40]
// where:
//     def run(values):
//         stack = []
//         for v in values:
//             if v >= 0:
//                 stack.append(v)
//             elif stack:
//                 stack.pop()
//         return sum(stack) * 100 + len(stack)
// grid: 40
// threadgroup: 32
// expect: y = [run(row) for row in x.tolist()]
// header:
struct Stack {
  int items[12];
  int size;
  void push(int v) thread { items[size++] = v; }
  void pop() thread { if (size > 0) size--; }
};
// body:
uint t = thread_position_in_grid.x;
Stack stack;
stack.size = 0;
for (int i = 0; i < 12; i++) {
  int v = x[t * 12 + i];
  if (v >= 0) stack.push(v);
  else stack.pop();
}
int sum = 0;
for (int i = 0; i < stack.size; i++) sum += stack.items[i];
y[t] = sum * 100 + stack.size;
