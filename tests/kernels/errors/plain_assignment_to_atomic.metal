// An output that is atomic takes no assignment.
// output: y = int32[4]
// grid: 4
// atomic_outputs: true
// error: hint: outputs are atomic because of atomic_outputs=True at 6:6
y[0] = 1;
