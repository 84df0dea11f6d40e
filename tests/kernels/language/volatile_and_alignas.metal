// Qualifiers that say how memory is laid out and accessed.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 20
// expect: y = x * 2 + 64 + 32
struct alignas(32) Slot { int v; };
threadgroup Slot slots[20];
threadgroup volatile int flag[20];
const uint l = thread_index_in_threadgroup, t = thread_position_in_grid.x;
slots[l].v = x[t];
flag[l] = x[t];
volatile int twice = slots[l].v;
twice = twice + flag[l];
alignas(16) int list[2] = {int(sizeof(Slot)), int(alignof(Slot))};
y[t] = twice + 2 * list[0] + list[1];
