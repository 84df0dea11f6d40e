// Comments and unused strings of any script: Größe, 数値, Σ xᵢ², 🙂.
// input: x = float32[40] normal
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 1
// header:
/* Mittelwert µ ± σ — 平均値 */
#define NAME "größer 🙂"
// body:
uint t = thread_position_in_grid.x;  // ∀ t
/* ┌────┐
   │ +1 │ */
y[t] = /* ≠ */ x[t] + 1; // ✓
