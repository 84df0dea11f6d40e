// A typing error in a member.
// output: y = int32[4]
// grid: 4
// error: no member named 'hight' in 'Box' at 9:12
// header:
struct Box { int width, height; };
// body:
Box box = {1, 2};
y[0] = box.hight;
