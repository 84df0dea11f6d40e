#include <metal_stdlib>

// Which two rows of `count` numbers a SIMD-group multiplies, and where the result goes. For x of
// shape (batch, rows, count) and y of shape (batch, columns, count) the result's shape is
// (batch, rows, columns).
struct Pair {
    ulong left, right;  // offsets of the rows
    ulong result, mirrored;  // offsets of element (i, j) and, where rows = columns, of (j, i)
    bool below;  // the diagonal: j < i
};

template <typename Shape>
inline Pair pair_of_rows(uint number, Shape x_shape, Shape y_shape) {
    const uint rows = x_shape[1], columns = y_shape[1], count = x_shape[2];
    const uint batch = number / (rows * columns), i = number / columns % rows, j = number % columns;
    const ulong x_row = ulong(batch) * rows + i, y_row = ulong(batch) * columns + j;
    return {x_row * count, y_row * count, x_row * columns + j, y_row * rows + i, j < i};
}

// To the place of a pair's result and, if `mirrored`, of that with the rows exchanged.
template <typename Out, typename Value>
inline void store(Out out, Pair pair, Value value, bool mirrored) {
    out[pair.result] = value;
    if (mirrored) out[pair.mirrored] = value;
}
