"""Questions in front of indices that may not fit in the 32 bits that they are computed in.

What they find is in tests/sanitize/kernels.
"""

from __future__ import annotations

import pytest

from anymetal.frontend.index_overflow import with_checks

FUNCTION = """\
define void @k(ptr %x, i32 %i, i32 %n, i64 %far) {{
entry:
{}
  %idxprom = sext i32 %index to i64, !dbg !3
  %arrayidx = getelementptr float, ptr %x, i64 %idxprom
  ret void
}}
"""


@pytest.mark.parametrize(
    "lines, exact",
    [
        (["%p = mul i32 %i, %n", "%index = add i32 %p, 7"], ["mul i64", "i64 %am.index.1.2, 7"]),
        (["%index = shl i32 %i, 4"], ["shl i64 %am.index.1.0, 4"]),
        (["%index = trunc i64 %far to i32"], ["add i64 %far, 2147483648"]),
    ],
)  # fmt: skip
def test_products_are_computed_in_64_bits(lines, exact):
    text = with_checks(FUNCTION.format("\n".join(f"  {line}" for line in lines)))
    assert all(part in text for part in exact)
    assert "call void @__am_wrong(i1 %am.index.1.bad, i32 22, i32 -1), !dbg !3" in text
    assert text.count("declare void @__am_wrong(") == 1


@pytest.mark.parametrize(
    "line",
    [
        "%index = add i32 %i, %n",  # fits, or is negative: others look whether it is inside
        "%index = urem i32 %i, %n",
        "%index = and i32 %i, 63",
        "%index = shl i32 %i, %n",
        "%index = phi i32 [ %i, %entry ]",
    ],
)
def test_others_are_not_asked_about(line):
    text = FUNCTION.format(f"  {line}")
    assert with_checks(text) == text


def test_a_member_of_a_struct_in_one_value_is_not_cut_off():
    text = FUNCTION.format("  %s.sroa.0.extract.trunc.i = trunc i64 %far to i32")
    text = text.replace("%index", "%s.sroa.0.extract.trunc.i")
    assert with_checks(text) == text
