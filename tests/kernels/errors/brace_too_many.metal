// The body closes the function itself.
// output: y = float32[4]
// grid: 4
// error: extraneous closing brace at 7:1
y[0] = 1;
}
}
