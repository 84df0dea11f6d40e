"""Code in two versions: a fast one for all lanes, and one for some of them."""

from __future__ import annotations

from collections.abc import Callable

from anymetal.emission.writer import Writer
from anymetal.simd.code.masks import Mask, Masks
from anymetal.simd.code.values import Values


def full_or_partial(
    w: Writer,
    v: Values,
    masks: Masks,
    mask: Mask,
    whole: Callable[[], list[str]],
    some: Callable[[], list[str]],
    spelling: str = "",
) -> list[str]:
    """Emits `whole` for all lanes and `some` for some of them, with a test at run time unless it is
    known which. Each gives the same number of results, of the type `spelling`."""
    if mask is None:
        return whole()
    whole_label, some_label, end = (w.fresh(name) for name in ("whole", "some", "end"))
    w.do(f"br i1 {masks.all(mask)}, label %{whole_label}, label %{some_label}")
    before = dict(v.local)  # each side knows what was computed before both
    sides: list[list[tuple[str, str]]] = []
    for label, emit in ((whole_label, whole), (some_label, some)):
        w.label(label)
        v.local = dict(before)
        results = emit()
        last = w.fresh("side")  # `emit` may have made blocks of its own
        w.do(f"br label %{last}")
        w.label(last)
        w.do(f"br label %{end}")
        sides.append([(name, last) for name in results])
    w.label(end)
    v.local = before
    return [
        w.value(f"phi {spelling} [ {a}, %{at} ], [ {b}, %{bt} ]")
        for (a, at), (b, bt) in zip(*sides, strict=True)
    ]
