// Whole threadgroups take one way or the other.
// output: y = int32[100]
// grid: 100
// threadgroup: 20
// expect: y = np.where(group % 2 == 0, tid * 2, -tid)
uint t = thread_position_in_grid.x;
if (threadgroup_position_in_grid.x % 2 == 0) y[t] = t * 2;
else y[t] = -int(t);
