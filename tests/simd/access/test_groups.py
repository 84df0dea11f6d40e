"""Neighbouring accesses as one, and the layout of private arrays."""

from __future__ import annotations

import pytest

from anymetal.analysis.affine import ONE, forms
from anymetal.analysis.private_arrays import interleaved
from anymetal.simd import questions
from tests.analysis.shapes import ALIGNED, analyse, root

_ID = "uint i = thread_position_in_grid.x;\n"
_STRUCTS = "struct P { float x, y; int n; }; struct Q { float x; half h, g; };"


def groups(body: str) -> list[str]:
    """Operation, buffer and offsets of each group, in the order of the text."""
    known = analyse(_ID + body, ALIGNED, _STRUCTS)
    linear = known(forms)
    found = []
    for group in dict.fromkeys(known(questions.groups).values()):
        pointers = [m.operands[m.op == "store"] for m in group.members]
        offsets = [(linear(p) or {}).get(ONE, (0,))[0] for p in pointers]
        at = [offset - offsets[0] for offset in offsets]
        name = getattr(root(pointers[0]), "name", "?").strip("@%")
        found.append(f"{group.anchor.op} {name} {at}")
    return found


_SUM4 = "out[i] = {0}[4 * i] + {0}[4 * i + 1] + {0}[4 * i + 2] + {0}[4 * i + 3];"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (_SUM4.format("a"), ["load a [0, 4, 8, 12]"]),
        ("out[i] = dot(((const device float4*)a)[i], float4(1, 2, 3, 4));",
         ["load a [0, 4, 8, 12]"]),
        ("float2 v = ((const device float2*)a)[i]; ((device float2*)out)[i] = v.yx;",
         ["load a [0, 4]", "store out [0, 4]"]),
        ("out[i] = ((const device P*)a)[i].x + ((const device P*)a)[i].y"
         " + ((const device P*)a)[i].n;", ["load a [0, 4, 8]"]),  # words are words
        ("uint w = simd_shuffle(((const device uint*)a)[2 * i + 1], 3u);"
         "out[i] = a[2 * i] + as_type<float>(w);",
         ["load a [0, 4]"]),
        ("out[i] = ((const device Q*)a)[i].x + ((const device Q*)a)[i].h"
         " + ((const device Q*)a)[i].g;", []),  # two sizes
        ("out[2 * i] = a[i]; out[2 * i + 1] = 5;", ["store out [0, 4]"]),
        # the same of two places
        ("out[i] = dot(((const device float4*)a)[i], ((const device float4*)a)[i + 32]);",
         ["load a [0, 4, 8, 12]", "load a [0, 4, 8, 12]"]),
        # gaps, repetitions, other strides
        ("out[i] = a[4 * i] + a[4 * i + 1] + a[4 * i + 3];", []),
        ("out[i] = a[4 * i] + a[4 * i + 1];", []),
        ("out[i] = a[2 * i] + a[2 * i + 2];", []),
        ("out[i] = a[i] + a[i + 1];", []),
        # rows of the lanes with gaps between them
        ("out[i] = a[7 * i] + a[7 * i + 1] + a[7 * i + 2] + a[7 * i + 3];",
         ["load a [0, 4, 8, 12]"]),
        ("for (int k = 0; k < 4; ++k) out[9 * i + k + 2] = k;", ["store out [0, 4, 8, 12]"]),
        ("uint k = 9 * i + uint(a[0]); out[i] = a[k] + a[k + 1] + a[k + 2] + a[k + 3];",
         ["load a [0, 4, 8, 12]"]),
        ("threadgroup int t[99]; t[3 * i] = 1; threadgroup_barrier(mem_flags::mem_threadgroup);"
         "int s = t[2 * i]; out[i] = s; out[i + 99] = t[2 * i + 1];",
         ["load threadgroup.0.t [0, 4]"]),
        # in an order of its own
        ("out[i] = a[2 * i + 1] / a[2 * i];", ["load a [0, 4]"]),
        # what may write in between
        ("float x = a[2 * i]; int y = b[3 * i]; out[i] = x + a[2 * i + 1] + y;", ["load a [0, 4]"]),
        ("float x = out[2 * i]; out[2 * i] = x * out[2 * i + 1];", ["load out [0, 4]"]),
        ("float x = out[2 * i]; to[7 * i] = 1; out[i] = x + out[2 * i + 1];", []),
        ("float x = out[2 * i]; threadgroup_barrier(mem_flags::mem_device);\n"
         "out[i] = x + out[2 * i + 1];", []),
        ("out[2 * i] = 1; float x = out[7]; out[2 * i + 1] = x;", []),
        ("float mine[4]; for (int k = 0; k < 4; k++) mine[k] = a[4 * i + k];\n"
         "out[i] = mine[b[i] & 3];", ["load a [0, 4, 8, 12]"]),  # its own array
        ("volatile device float* o = out; o[2 * i] = 1; o[2 * i + 1] = 2;", []),
    ],
)  # fmt: skip
def test_groups(body: str, expected: list[str]) -> None:
    assert groups(body) == expected


@pytest.mark.parametrize(
    ("body", "together"),
    [
        ("float t[9]; t[b[i]] = a[i]; out[i] = t[n];", True),
        ("float t[3][5]; t[b[i]][n] = a[i]; out[i] = t[n][b[i]];", True),
        ("float4 t[5]; t[b[i]] = float4(a[i]); out[i] = t[n].y;", True),
        ("P t[5]; t[b[i]].x = a[i]; t[n].n = 3; out[i] = t[b[n]].x + t[b[0]].n;", True),
        # two sizes of elements
        ("Q t[5]; t[b[i]].x = a[i]; t[n].h = 3; out[i] = t[b[n]].x + t[b[0]].h;", True),
        # elements that lie across others, or a pointer that is chosen
        ("float t[9]; t[b[i]] = a[i]; out[i] = *(thread float*)((thread char*)t + n);", False),
        ("float t[9], u[9]; thread float* p = a[i] > 0 ? t : u; p[b[i]] = 1;\n"
         "out[i] = t[n] + u[n];", False),
    ],
)  # fmt: skip
def test_private_arrays(body: str, together: bool) -> None:
    known = analyse(_ID + body, ALIGNED, _STRUCTS)
    arrays = [i for i in known.program.instructions() if i.op == "alloca"]
    assert arrays
    assert all(array in known(interleaved) for array in arrays) == together
    assert any(array in known(interleaved) for array in arrays) == together
