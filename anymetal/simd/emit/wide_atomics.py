"""Atomic float additions to a run of elements, 16 bytes at a time.

A processor adds floats atomically by exchanging what it has read and added to, until nobody came
in between. The exchange costs the same for 16 bytes as for 4.
"""

from __future__ import annotations

ADD_RUN = "am.atomic_add_run"


def add_run(width: int) -> str:
    """LLVM IR of `void am.atomic_add_run(ptr address, <width x float>, <width x i1> mask)`.

    Adds the active lanes' values to consecutive floats from `address`, which is aligned to 4 bytes.
    The values are laid out as the memory is, in blocks of 16 bytes from an aligned address on. A
    block without active lane is not touched; in the others the bits of inactive lanes stay.
    An exchange waits for its cache line and lets nothing pass, so all lines are asked for first.
    """
    count = width + 4  # the run may begin anywhere in its first block
    return f"""\
define internal void @{ADD_RUN}(ptr %address, <{width} x float> %add, <{width} x i1> %mask) \
noinline #0 {{
  %line.1 = getelementptr i8, ptr %address, i64 64
  %line.2 = getelementptr i8, ptr %address, i64 {4 * width - 4}
  call void @llvm.prefetch.p0(ptr %address, i32 1, i32 3, i32 1)
  call void @llvm.prefetch.p0(ptr %line.1, i32 1, i32 3, i32 1)
  call void @llvm.prefetch.p0(ptr %line.2, i32 1, i32 3, i32 1)
  %values = alloca [{count} x float], align 16
  %lanes = alloca [{count} x i32], align 16
  %number = ptrtoint ptr %address to i64
  %inside = and i64 %number, 15
  %back = sub i64 0, %inside
  %base = getelementptr i8, ptr %address, i64 %back
  %mask.bits = bitcast <{width} x i1> %mask to i{width}
  %all = icmp eq i{width} %mask.bits, -1
  %aligned = icmp eq i64 %inside, 0
  %easy = and i1 %all, %aligned
  br i1 %easy, label %whole, label %pieces
whole:
  store <{width} x float> %add, ptr %values, align 16
  br label %whole.block
whole.block:
  %w = phi i64 [ 0, %whole ], [ %w.next, %whole.done ]
  %w.values = getelementptr float, ptr %values, i64 %w
  %w.more = load <4 x float>, ptr %w.values, align 16
  %w.place = getelementptr float, ptr %address, i64 %w
  %w.half = getelementptr i8, ptr %w.place, i64 8
  %w.low = load atomic i64, ptr %w.place monotonic, align 8
  %w.high = load atomic i64, ptr %w.half monotonic, align 8
  %w.low.wide = zext i64 %w.low to i128
  %w.high.wide = zext i64 %w.high to i128
  %w.high.place = shl i128 %w.high.wide, 64
  %w.first = or i128 %w.low.wide, %w.high.place
  br label %whole.try
whole.try:
  %w.old = phi i128 [ %w.first, %whole.block ], [ %w.seen, %whole.try ]
  %w.floats = bitcast i128 %w.old to <4 x float>
  %w.sum = fadd <4 x float> %w.floats, %w.more
  %w.new = bitcast <4 x float> %w.sum to i128
  %w.pair = cmpxchg weak ptr %w.place, i128 %w.old, i128 %w.new monotonic monotonic, align 16
  %w.seen = extractvalue {{ i128, i1 }} %w.pair, 0
  %w.ok = extractvalue {{ i128, i1 }} %w.pair, 1
  br i1 %w.ok, label %whole.done, label %whole.try
whole.done:
  %w.next = add i64 %w, 4
  %w.again = icmp ult i64 %w.next, {width}
  br i1 %w.again, label %whole.block, label %end
pieces:
  %last = getelementptr i32, ptr %lanes, i64 {width}
  store <4 x i32> zeroinitializer, ptr %lanes, align 16
  store <4 x i32> zeroinitializer, ptr %last, align 16
  %value.start = getelementptr i8, ptr %values, i64 %inside
  %lane.start = getelementptr i8, ptr %lanes, i64 %inside
  %wide = sext <{width} x i1> %mask to <{width} x i32>
  store <{width} x float> %add, ptr %value.start, align 4
  store <{width} x i32> %wide, ptr %lane.start, align 4
  br label %block
block:
  %i = phi i64 [ 0, %pieces ], [ %i.next, %next ]
  %lanes.at = getelementptr i32, ptr %lanes, i64 %i
  %active = load <4 x i32>, ptr %lanes.at, align 16
  %bits = bitcast <4 x i32> %active to i128
  %some = icmp ne i128 %bits, 0
  br i1 %some, label %look, label %next
look:
  %chosen = icmp ne <4 x i32> %active, zeroinitializer
  %values.at = getelementptr float, ptr %values, i64 %i
  %more = load <4 x float>, ptr %values.at, align 16
  %place = getelementptr float, ptr %base, i64 %i
  %half = getelementptr i8, ptr %place, i64 8
  %low = load atomic i64, ptr %place monotonic, align 8
  %high = load atomic i64, ptr %half monotonic, align 8
  %low.wide = zext i64 %low to i128
  %high.wide = zext i64 %high to i128
  %high.place = shl i128 %high.wide, 64
  %first = or i128 %low.wide, %high.place
  br label %try
try:
  %old = phi i128 [ %first, %look ], [ %seen, %try ]
  %floats = bitcast i128 %old to <4 x float>
  %sum = fadd <4 x float> %floats, %more
  %kept = select <4 x i1> %chosen, <4 x float> %sum, <4 x float> %floats
  %new = bitcast <4 x float> %kept to i128
  %pair = cmpxchg weak ptr %place, i128 %old, i128 %new monotonic monotonic, align 16
  %seen = extractvalue {{ i128, i1 }} %pair, 0
  %done = extractvalue {{ i128, i1 }} %pair, 1
  br i1 %done, label %next, label %try
next:
  %i.next = add i64 %i, 4
  %again = icmp ult i64 %i.next, {count}
  br i1 %again, label %block, label %end
end:
  ret void
}}"""
