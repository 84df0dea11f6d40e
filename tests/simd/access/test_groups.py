"""Neighbouring accesses as one, and the layout of private arrays."""

from __future__ import annotations

import pytest

from anymetal.analysis.affine import ONE, forms
from anymetal.analysis.cache import LaunchFacts
from anymetal.analysis.places import place_of
from anymetal.analysis.private_arrays import interleaved
from anymetal.simd import questions
from tests.analysis.shapes import root
from tests.compiling import planned
from tests.ir.programs import program
from tests.ir.short import llvm

ALIGNED = LaunchFacts(linear=True, aligned=True, flat=True)
_ARGS = "ptr %a, ptr %b, ptr %shape, ptr %out, ptr %to"
_INTS = {"b": "i32", "to": "i32", "shape": "i32", "words": "i32", "halves": "half"}
_TOP = '@"threadgroup.0.t" = external global [99 x float], align 4'
#: %i is the place in the grid; %words and %halves are other views of %a.
_ENTRY = """
    i = group_x() * full_size_x() + thread_x()
    n = shape[0]
    %words = getelementptr i8, ptr %a, i64 0
    %halves = getelementptr i8, ptr %a, i64 0
    %t = getelementptr i8, ptr @"threadgroup.0.t", i64 0
"""
_BARRIER = "call void @__am_threadgroup_barrier(i32 {})"


def groups(body: str, apart: tuple[str, ...] = ()) -> list[str]:
    """Operation, buffer and offsets of each group, in the order of the text."""
    text = llvm(f"{_ENTRY}{body}\nret void", _INTS)
    made = program(text, _ARGS, _TOP)
    for argument in made.args:
        argument.apart = argument.name in apart
    known = planned(made, ALIGNED)
    linear = known(forms)
    found = []
    for group in dict.fromkeys(known(questions.groups).values()):
        pointers = [m.operands[m.op == "store"] for m in group.members]
        forms_ = [linear(p) for p in pointers]
        offsets = [
            place_of(p)[1] if form is None else form.get(ONE, (0,))[0]
            for p, form in zip(pointers, forms_, strict=True)
        ]
        at = [offset - offsets[0] for offset in offsets]
        name = getattr(root(pointers[0]), "name", "?").strip("@%")
        found.append(f"{group.anchor.op} {name} {at}")
    return found


def sum_at(at: str, *offsets: int) -> str:
    """The sum of these elements behind a place is stored."""
    return f"at = {at}\nout[i] = " + " + ".join(f"a[at + {offset}]" for offset in offsets)


def sum_behind(at: str, *offsets: int) -> str:
    """The same, counted from the place's address."""
    lines = [f"at = {at}", "%p = getelementptr float, ptr %a, i32 %at"]
    for k in offsets:
        lines += [
            f"%p{k} = getelementptr i8, ptr %p, i64 {4 * k}",
            f"%v{k} = load float, ptr %p{k}",
        ]
    return "\n".join([*lines, "out[i] = " + " + ".join(f"v{k}" for k in offsets)])


_FOUR = "load a [0, 4, 8, 12]"
_EIGHT = "load a [0, 4, 8, 12, 16, 20, 24, 28]"
_PRIVATE = """
    %mine = alloca [4 x float]
    mine[0] = a[i * 4]
    mine[1] = a[i * 4 + 1]
    mine[2] = a[i * 4 + 2]
    mine[3] = a[i * 4 + 3]
    j = b[i] & 3
    out[i] = mine[j]
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (sum_at("i * 4", 0, 1, 2, 3), [_FOUR]),
        ("x = a[i * 2]\ny = a[i * 2 + 1]\nout[i * 2] = y\nout[i * 2 + 1] = x",
         ["load a [0, 4]", "store out [0, 4]"]),
        # words are words, whether numbers or bits
        ("x = a[i * 2]\nto[i] = words[i * 2 + 1]\nout[i] = x", ["load a [0, 4]"]),
        # two sizes
        ("x = a[i * 2]\nh = halves[i * 4 + 2]\ng = halves[i * 4 + 3]", ["load a [0, 2]"]),
        ("out[i * 2] = a[i]\nout[i * 2 + 1] = 5", ["store out [0, 4]"]),
        # the same of two places
        (sum_at("i * 4", *range(4), *range(128, 132)), [_FOUR] * 2),
        # some of four
        (sum_at("i * 4", 0, 1, 2), ["load a [0, 4, 8]"]),
        (sum_at("i * 4", 0, 1, 3), ["load a [0, 4]"]),
        (sum_at("i * 4", 0, 1), ["load a [0, 4]"]),
        ("out[i * 4] = 1\nout[i * 4 + 1] = 2\nout[i * 4 + 2] = 3", []),
        # gaps, repetitions, other strides
        (sum_at("i * 4", 0, 2), []),
        (sum_at("i * 8", 0, 1, 2), []),
        (sum_at("i * 2", 0, 1, 1), []),
        (sum_at("i * 2", 0, 2), []),
        (sum_at("i", 0, 1), []),
        # rows of the lanes with gaps between them
        (sum_at("i * 7", 0, 1, 2, 3), [_FOUR]),
        ("\n".join(f"out[i * 9 + {k}] = {k}" for k in range(2, 6)),
         ["store out [0, 4, 8, 12]"]),
        (sum_at("i * 9 + n", 0, 1, 2, 3), [_FOUR]),
        # as many as fit the registers, or all that a line has of a row
        (sum_at("i * 33", *range(8)), [_FOUR] * 2),
        (sum_at("i * 256", *range(8)), [_EIGHT]),
        (f"t[i * 3] = 1\n{_BARRIER.format(2)}\nout[i] = t[i * 2]\nout[i + 99] = t[i * 2 + 1]",
         ["load threadgroup.0.t [0, 4]"]),
        # in an order of its own
        (sum_at("i * 2", 1, 0), ["load a [0, 4]"]),
        # what may write in between
        ("x = a[i * 2]\ny = b[i * 3]\nto[i] = y\nout[i] = x + a[i * 2 + 1]", []),
        ("x = a[i * 2]\ny = b[i * 3]\nout[i] = x + a[i * 2 + 1]\nto[i] = y", ["load a [0, 4]"]),
        ("x = out[i * 2]\nout[i * 2] = x * out[i * 2 + 1]", ["load out [0, 4]"]),
        ("x = out[i * 2]\nto[i * 7] = 1\nout[i] = x + out[i * 2 + 1]", []),
        (f"x = out[i * 2]\n{_BARRIER.format(1)}\nout[i] = x + out[i * 2 + 1]", []),
        ("out[i * 2] = 1\nx = out[7]\nout[i * 2 + 1] = x", []),
        (_PRIVATE, [_FOUR]),  # its own array
        # rows that are changed in place
        ("x = out[i * 2]\nout[i * 2] = x\ny = out[i * 2 + 1]\nout[i * 2 + 1] = y",
         ["load out [0, 4]", "store out [0, 4]"]),
        ("\n".join(f"x{k} = out[i * 99 + {k}]\nout[i * 99 + {k}] = x{k}" for k in range(4)),
         ["load out [0, 4, 8, 12]", "store out [0, 4, 8, 12]"]),
        # where a later load reads what was stored, or one in between
        ("x = out[i * 2]\nout[i * 2 + 1] = x\ny = out[i * 2 + 1]\na[i] = y", []),
        ("out[i * 2] = 1\nx = out[i * 2]\nout[i * 2 + 1] = x", []),
        ("out[i * 2] = 1\nx = out[i * 2 + 1]\nout[i * 2 + 1] = x", ["store out [0, 4]"]),
        # where another lane's row is reached
        ("x = out[i * 2]\nout[i * 2 + 2] = x\ny = out[i * 2 + 1]\na[i] = y", []),
        ("\n".join(f"x{k} = out[i * 3 + {k}]\nout[i * 3 + {k}] = x{k}" for k in range(4)),
         ["load out [0, 4, 8]", "store out [0, 4, 8]"]),
        # places that the data tell
        (sum_behind("b[i] * 4", 0, 1, 2, 3), [_FOUR]),
        (sum_behind("b[i] * 4", 1, 0), ["load a [0, 4]"]),
        (sum_behind("b[i]", 0, 1, 2), ["load a [0, 4]"]),
        (sum_behind("b[i]", 0, 2), []),
        (sum_behind("b[i]", *range(8)), [_FOUR] * 2),
        (sum_behind("b[i]", 0) + "\nk = to[i]\n%q = getelementptr float, ptr %a, i32 %k\n"
         "%q1 = getelementptr i8, ptr %q, i64 4\n%w = load float, ptr %q1", []),
        ("j = b[i]\nout[j] = 1\n%k = add nsw i32 %j, 1\nout[k] = 2", ["store out [0, 4]"]),
        ("j = b[i]\nx = a[j]\nto[7] = 1\n%k = add nsw i32 %j, 1\nout[i] = x + a[k]", []),
        ("j = b[i]\n%k = add i32 %j, 1\nx = a[j]\ny = a[k]\nout[i] = x + y", []),
        ("j = b[i]\n%k = add i32 %j, 1\n%p = getelementptr float, ptr %a, i32 %j\n"
         "%q = getelementptr float, ptr %a, i32 %k\n%x = load float, ptr %p\n"
         "%y = load float, ptr %q\nout[i] = x + y", []),
        ("j = b[i]\n%k = add nsw i32 %j, 1\nx = a[j]\ny = a[k]\nout[i] = x + y",
         ["load a [0, 4]"]),
    ],
)  # fmt: skip
def test_groups(body: str, expected: list[str]) -> None:
    assert groups(body) == expected


@pytest.mark.parametrize(
    ("apart", "expected"),
    [
        ((), []),
        (("%a",), ["load a [0, 4]", "store out [0, 4]"]),
        (("%out",), ["load a [0, 4]", "store out [0, 4]"]),
        (("%to",), []),
    ],
)
def test_arrays_that_share_no_memory(apart: tuple[str, ...], expected: list[str]) -> None:
    """The second load is in front of the first store, unless they may meet."""
    assert groups("out[i * 2] = a[i * 2]\nout[i * 2 + 1] = a[i * 2 + 1]", apart) == expected


def test_volatile_accesses_are_no_group() -> None:
    text = llvm(f"{_ENTRY}out[i * 2] = 1\nout[i * 2 + 1] = 2\nret void", _INTS)
    for kind, expected in (("store", 1), ("store volatile", 0)):
        kernel = program(text.replace("store", kind), _ARGS, _TOP)
        assert len(set(planned(kernel, ALIGNED)(questions.groups).values())) == expected


def fields(*types: str) -> str:
    """Each field of structs is stored to and loaded at places that differ."""
    struct = "{ " + ", ".join(types) + " }"
    lines = [f"%s = alloca [5 x {struct}]", "j = b[i]", "k = b[n]"]
    for number, type_ in enumerate(types):
        for at in "jk":
            place = f"%{at}{number} = getelementptr [5 x {struct}], ptr %s, i64 0, i32 %{at}"
            lines.append(f"{place}, i32 {number}")
        lines += [
            f"store {type_} {'1.0' if type_ in ('float', 'half') else '1'}, ptr %j{number}",
            f"%v{number} = load {type_}, ptr %k{number}",
            f"store {type_} %v{number}, ptr %to",
        ]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("body", "together"),
    [
        ("%s = alloca [9 x float]\nj = b[i]\ns[j] = a[i]\nout[i] = s[n]", True),
        ("%s = alloca [15 x float]\nj = b[i] * 5 + n\ns[j] = a[i]\n"
         "out[i] = s[n * 5 + b[i]]", True),
        (fields("float", "float", "i32"), True),
        # two sizes of elements
        (fields("float", "half", "half"), True),
        # either of two
        ("%s = alloca [9 x float]\n%r = alloca [9 x float]\nhigh = a[i] > 0\n"
         "%p = select i1 %high, ptr %s, ptr %r\nj = b[i]\np[j] = 1\nout[i] = s[n] + r[n]", True),
        # elements that lie across others, or a pointer that may lead elsewhere
        ("%s = alloca [9 x float]\nj = b[i]\ns[j] = a[i]\n"
         "%across = getelementptr i8, ptr %s, i32 %n\n%v = load float, ptr %across\n"
         "out[i] = v", False),
        ("%s = alloca [9 x float]\nhigh = a[i] > 0\n%p = select i1 %high, ptr %s, ptr %out\n"
         "j = b[i]\np[j] = 1\nout[i] = s[n]", False),
    ],
)  # fmt: skip
def test_private_arrays(body: str, together: bool) -> None:
    text = llvm(f"{_ENTRY}{body}\nret void", _INTS)
    known = planned(program(text, _ARGS, _TOP), ALIGNED)
    arrays = known.program.private_arrays
    assert arrays
    assert {array in known(interleaved) for array in arrays} == {together}


@pytest.mark.parametrize("alone", [False, True])
def test_stores_among_stores_to_memory_of_its_own(alone: bool) -> None:
    """Two arrays of a kernel may be one, so their stores stay in order; a twin is nobody else's."""
    stores = "\n".join(f"out[i * 2 + {k}] = v\nb[i * 2 + {k}] = 0" for k in range(2))
    read = program(llvm(f"{_ENTRY}v = a[i]\n{stores}\nret void", _INTS), _ARGS, _TOP)
    read.args[1].alone = alone
    known = planned(read, ALIGNED)
    grouped = dict.fromkeys(known(questions.groups).values())
    assert [len(group.members) for group in grouped if group.anchor.op == "store"] == [2, 2] * alone
