"""A gang that waits at barriers: LLVM's switched-resume coroutines.

The caller keeps the handle and resumes the gang until `llvm.coro.done`. Frames lie in memory that
the worker keeps for each gang (`am_worker.frame`), aligned here as vectors need it.
"""

from __future__ import annotations

from anymetal.emission.writer import Writer
from anymetal.ir.types import Type

FRAME_ALIGN = 256
DECLARATIONS = """\
declare token @llvm.coro.id(i32, ptr, ptr, ptr)
declare i64 @llvm.coro.size.i64()
declare ptr @llvm.coro.begin(token, ptr)
declare i8 @llvm.coro.suspend(token, i1)
declare void @llvm.coro.end(ptr, i1, token)
declare i1 @llvm.coro.done(ptr)
declare void @llvm.coro.resume(ptr)
"""


def suspend(resumed: str, state: str, final: bool = False) -> list[str]:
    """Lines that suspend and go on at label `resumed`."""
    return [
        f"  %{state} = call i8 @llvm.coro.suspend(token none, i1 {str(final).lower()})",
        f"  switch i8 %{state}, label %suspended [i8 0, label %{resumed} i8 1, label %suspended]",
        f"{resumed}:",
    ]


def wait(w: Writer) -> None:
    """Suspends, and goes on here when resumed."""
    resumed = w.fresh("resumed")
    *lines, _ = suspend(resumed, w.fresh("state"))
    w.lines.extend(lines)
    w.label(resumed)


def computed_here(w: Writer, type_: Type, name: str) -> str:
    """A value of each lane, which LLVM takes for one that is computed here.

    What lives across a barrier is stored where it is computed: a sum in each iteration of its loop,
    unless it is computed behind the loop once more. (`convergent`: LLVM must not do that still
    later, behind the barrier.)
    """
    count, rest = divmod(w.width * type_.size, 4)
    if rest:
        return name
    vector, floats = w.vector(type_), f"<{count} x float>"
    callee = f"llvm.arithmetic.fence.v{count}f32"
    w.declarations[callee] = f"declare {floats} @{callee}({floats})"
    value = w.value(f"bitcast {vector} {name} to {floats}")
    value = w.value(f"call {floats} @{callee}({floats} {value}) convergent")
    return w.value(f"bitcast {floats} {value} to {vector}")


def coroutine(
    name: str, params: str, entry: str, body: str, promise: str = "null", end: str = ""
) -> str:
    """The function around a gang's code; it returns the coroutine's handle.

    `promise` is the stack slot that whoever holds the handle can find ("null": there is none).
    `end`: lines that run when all is done.
    """
    finish = "\n".join([*suspend("resumed.late", "state.final", final=True), "  unreachable"])
    return f"""\
define internal ptr @{name}({params}, ptr %worker) presplitcoroutine #0 {{
start:
{entry}
  %coro.id = call token @llvm.coro.id(i32 {FRAME_ALIGN}, ptr {promise}, ptr null, ptr null)
  %coro.size = call i64 @llvm.coro.size.i64()
  %coro.bytes = add i64 %coro.size, {FRAME_ALIGN}
  %coro.where = getelementptr i8, ptr %worker, i64 8
  %coro.frame = load ptr, ptr %coro.where
  %coro.raw = call ptr %coro.frame(ptr %worker, i32 %gang, i64 %coro.bytes)
  %coro.next = getelementptr i8, ptr %coro.raw, i64 {FRAME_ALIGN - 1}
  %coro.memory = call ptr @llvm.ptrmask.p0.i64(ptr %coro.next, i64 {-FRAME_ALIGN})
  %coro.handle = call noalias ptr @llvm.coro.begin(token %coro.id, ptr %coro.memory)
  br label %begin
begin:
{body}
function.end:
{end}{finish}
suspended:
  call void @llvm.coro.end(ptr %coro.handle, i1 false, token none)
  ret ptr %coro.handle
}}
"""
