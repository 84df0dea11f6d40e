"""What to do about a fact: in words, and as a change of the line where its form is known."""

from __future__ import annotations

import re
from typing import NamedTuple

from anymetal.explain.facts import Fact


class Advice(NamedTuple):
    """How a line might become cheaper."""

    text: str
    before: str = ""  #: the line, or two; empty if only words help
    after: tuple[str, ...] = ()  #: what would stand in its place


_IF = re.compile(
    r"^(?P<head>\s*)if \((?P<condition>.+)\)\s*(?P<target>[\w.\[\]]+) (?P<operation>[-+*])= "
    r"(?P<value>[^;]+);(?!\s*else\b)"
)
_NEUTRAL = {"+": "0", "-": "0", "*": "1"}
_ATOMIC = re.compile(
    r"^(?P<head>\s*)(?:\w+ \w+ = )?atomic_fetch_(?P<operation>add|max|min|and|or|xor)_explicit\("
    r"(?P<target>.+), (?P<value>[^,]+), memory_order_relaxed\);"
)
_COLLECTIVE = {"add": "sum"}
_STRIDE = re.compile(r"strided, (\d+) bytes")
_ARRAY = re.compile(r"`(\w+)`")
_SCALED = r"\b{array}\[(?P<index>\w+) \* (?P<factor>\d+)(?P<rest> \+ \d+)?\]"


def advice(fact: Fact, text: str) -> Advice | None:
    """For a fact about the first line of this text, which goes on as the user's does. None where
    the code is as cheap as can be."""
    if fact.price == "low":
        return None
    line = text.split("\n", 1)[0]
    if fact.kind == "atomic":
        return _of_atomic(line)
    if fact.kind in ("load", "store"):
        return _of_access(fact, line)
    if fact.kind == "branch":
        return _of_branch(text)
    if fact.kind == "loop":
        return Advice(
            "All lanes wait for the one that goes round most often. Give neighbouring threads "
            "loops of about equal length (sort the work by its length), or split a long one among "
            "the 32 threads of a SIMD-group and add up with simd_sum."
        )
    if fact.kind == "in step":
        return Advice(
            "All threads of the warp walk through all of the kernel's blocks, with a vote at each "
            "loop, so that what lanes do together has Metal's meaning. Call SIMD-group functions "
            "and barriers where all threads come by: choose the operand with ?: in front of them, "
            "and leave the branch before."
        )
    if fact.kind == "call":
        return Advice(
            "This function has no vector version, and is called for each lane in turn. Use one of "
            "metal::fast or metal::precise, or an approximation by arithmetic."
        )
    return None


def _of_atomic(line: str) -> Advice:
    text = (
        "Each lane has an operation of its own on memory that others wait for. Combine the lanes "
        "of a SIMD-group first, then let one of them do it; or count in threadgroup memory, and "
        "add that up at the end."
    )
    if not (found := _ATOMIC.match(line)):
        return Advice(text)
    collective = f"simd_{_COLLECTIVE.get(found['operation'], found['operation'])}"
    head = found["head"]
    return Advice(
        text + " The change below is for lanes that have one address in common.",
        line.strip("\n"),
        (
            f"{head}auto all = {collective}({found['value']});",
            f"{head}if (simd_is_first())",
            f"{head}    atomic_fetch_{found['operation']}_explicit({found['target']}, all, "
            "memory_order_relaxed);",
        ),
    )


def _of_access(fact: Fact, line: str) -> Advice:
    array = _ARRAY.search(fact.text)
    name = array[1] if array else ""
    if "local memory" in fact.text:
        return Advice(
            "An array stays in registers if all its indices are constants: give the loops over it "
            "constant bounds, so that they are unrolled, choose among few elements with ?:, or "
            "keep the array in threadgroup memory, an element of all threads next to each other."
        )
    if "bank conflict" in fact.text:
        return Advice(
            "Lanes want different words of one bank, of which there are 32 with 4 bytes each. "
            "Let neighbouring lanes access neighbouring words, or make the rows of the array one "
            "element longer, so that a column lies in all banks: tile[32][33]."
        )
    if "private array" in fact.text:
        return Advice(
            "The array is stored such that an index which is equal in all lanes costs one vector. "
            "Unroll the loop, so that indices are constants, or keep the array in threadgroup "
            "memory, one row a thread."
        )
    if "this CPU has no masked" in fact.text:
        return Advice(
            "Let all lanes take part: choose the value with ?: and access in front of the branch."
        )
    if stride := _STRIDE.search(fact.text):
        return _of_stride(fact.kind, name, int(stride[1]), line)
    if "tested at run time" in fact.text or "scattered" in fact.text:
        return Advice(
            "The order of memory is known only to the data. If neighbouring threads often meet "
            "neighbouring elements this is cheap already; else sort the indices beforehand, or "
            "copy the part of the array that a threadgroup needs to threadgroup memory, in order, "
            "and look up there."
        )
    return Advice("Let neighbouring threads access neighbouring elements.")


def _of_stride(kind: str, name: str, stride: int, line: str) -> Advice:
    verb = "reads" if kind == "load" else "writes"
    text = (
        f"Each thread {verb} {stride} bytes behind its neighbour, so a cache line serves few of "
        "them. Let neighbouring threads access neighbouring elements: change the order of the "
        "array (all accesses to it follow), or give each thread a whole row as one vector (float4)."
    )
    scaled = re.search(_SCALED.format(array=re.escape(name)), line) if name else None
    if not scaled:
        return Advice(text)
    rest = (scaled["rest"] or " + 0").removeprefix(" + ")
    plane = "" if rest == "0" else f"{'' if rest == '1' else f'{rest} * '}rows + "
    after = line.replace(scaled[0], f"{name}[{plane}{scaled['index']}]")
    comment = f"  // {name} stored as {scaled['factor']} arrays of `rows` elements each"
    return Advice(text, line.strip("\n"), (after + comment,))


def _of_branch(text: str) -> Advice:
    words = (
        "Both sides run, one after the other, each for its lanes. Keep the branch where one side "
        "is rare and long; else compute both values and choose, move what does not depend on the "
        "condition out of it, or sort the work such that SIMD-groups agree."
    )
    if not (found := _IF.match(text)):
        return Advice(words)
    neutral = _NEUTRAL[found["operation"]]
    after = (
        f"{found['head']}{found['target']} {found['operation']}= "
        f"{found['condition']} ? {found['value']} : {neutral};"
    )
    return Advice(words, found[0], (after,))
