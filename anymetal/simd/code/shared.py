"""Code that would be there often becomes a function of the module.

    %v = call fastcc <32 x i32> @am.shared.gather.i32.i32.4.4(ptr %base, <32 x i32> %numbers)

A processor without gathers needs an extract, a load and an insert for each of 32 lanes, one
without scatters an extract and a store. Written hundreds of times, that takes LLVM seconds to
compile. Functions with few calls are inlined.
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.emission.writer import Writer

#: The attributes of these functions have this number.
ATTRIBUTES = "#1"
_PREFIX = "am.shared."
#: Up to so many calls are inlined, which takes LLVM a third of a second. A call costs instructions
#: that move vectors to and from the stack.
_FEW = 64


def shared(
    w: Writer,
    name: str,
    result: str,
    given: list[tuple[str, str]],
    body: Callable[[Writer, list[str]], str],
) -> str:
    """A call of what `body` writes. Arguments are (type, value); `body` gets the parameters'
    names."""
    callee = _PREFIX + name
    if callee not in w.declarations:
        inner = Writer(w.width)
        names = [f"%given.{i}" for i in range(len(given))]
        value = body(inner, names)
        parameters = ", ".join(f"{type_} {n}" for (type_, _), n in zip(given, names, strict=True))
        w.declarations.update(inner.declarations)
        lines = [
            f"define internal fastcc {result} @{callee}({parameters}) {ATTRIBUTES} {{",
            *inner.lines,
            f"  ret {result} {value}".rstrip(),
            "}",
        ]
        w.declarations[callee] = "\n".join(lines)
    arguments = ", ".join(f"{type_} {value}" for type_, value in given)
    call = f"call fastcc {result} @{callee}({arguments})"
    if result == "void":
        w.do(call)
        return ""
    return w.value(call)


def inlining(code: str) -> str:
    """The attribute of such functions for a module with this code; empty if there are none."""
    calls = code.count(f"@{_PREFIX}")
    return "" if not calls else "alwaysinline" if calls <= _FEW else "noinline"
