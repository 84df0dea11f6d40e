// Cases that fall through, a default in the middle.
// input: x = int32[80] integers(-2, 7)
// output: y = int32[80]
// where:
//     def choose(v):
//         y = 0
//         if v == 0: y += 1
//         if v in (0, 1): return y + 10
//         if v == 3: return 500
//         if v == 4: return 7000 + v
//         return 100 + v + 500
// grid: 80
// threadgroup: 32
// expect: y = [choose(v) for v in x.tolist()]
uint t = thread_position_in_grid.x;
int result = 0;
switch (x[t]) {
  case 0: result += 1;
  case 1: result += 10; break;
  default: result += 100 + x[t];
  case 3: result += 500; break;
  case 4: result = 7000 + x[t]; break;
}
y[t] = result;
