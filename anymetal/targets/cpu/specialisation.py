"""Versions of a kernel for the launches that it has most: sizes and scalars are compiled in.

The first launches run the general version. When it has used the processors for a while
(`ANYMETAL_SPECIALISE=1`, the default), who launches asks here for one that relies on what all these
launches had in common: grid, threadgroup, and the bytes of shapes, strides and scalar inputs, of
constant memory where a kernel of a Metal library has it. It is compiled beside the program, kept on
disk as any other, and runs where the bytes are the same. `eager` makes it before the first launch,
`0` never. Nodes of MLX's graph are launched by the bridge (runtime/bridge/specials.h), all others,
those of Metal libraries among them, by special_launches.py.

Triton specialises on facts about arguments, AdaptiveCpp on what a launch turns out to have; this is
the second.
"""

from __future__ import annotations

from anymetal.errors import CompilerError
from anymetal.frontend.known import Content, Extent, Known
from anymetal.runtime import cache_folder
from anymetal.runtime.code import Code
from anymetal.source import KernelSource, LibrarySource, Parameter
from anymetal.targets import versions
from anymetal.targets.cpu.code_lookup import code_of
from anymetal.targets.cpu.covered import covered
from anymetal.targets.cpu.variant import Variant

#: Nanoseconds of processors that launches of the general version take before another one pays: as
#: long as it takes to compile a kernel of some size.
_HOT = 1e9


class Specialisation:
    """The special versions of a kernel with one grid and threadgroup.

    Who launches reads the public attributes, and calls `code_for`.
    """

    def __init__(
        self, source: KernelSource, variant: Variant, grid: Extent, group: Extent, hot: float
    ) -> None:
        self._source = source
        self._variant = variant
        self._grid = grid
        self._group = group
        self._cache = cache_folder.place()  # versions belong where the general one is
        #: Positions, among the buffers, of those that a version may rely on.
        self.slots = [slot for slot, p in enumerate(source.parameters) if _describes(source, p)]
        self.hot = hot  #: nanoseconds; 0 makes a version before the first launch
        #: Positions of buffers that must share no memory with others, for any version to serve: the
        #: kernel writes to them, and its text would let it read them under another name.
        self.written: list[int] = []
        if isinstance(source, LibrarySource):
            self.written = source.outputs

    def code_for(self, contents: list[tuple[int, bytes]]) -> Code | None:
        """A version for launches in which these buffers hold these bytes; None if there are enough
        of them, or if nothing would be gained."""
        if not versions.may_have_another(self._source):
            return None
        names = [p.name for p in self._source.parameters]
        held = tuple(Content(slot, names[slot], bytes_) for slot, bytes_ in contents)
        inputs = range(len(names)) if self.written else ()
        apart = tuple(slot for slot in inputs if slot not in self.written)
        known = Known(self._grid, self._group, held, apart)
        try:
            with cache_folder.bound(self._cache):
                return code_of(self._source, self._variant._replace(known=known))
        except CompilerError:
            return None  # the general version runs on; ANYMETAL_DEBUG tells

    def covered(self, code: Code) -> list[int]:
        """For each output, how many of its bytes a launch of a version certainly stores."""
        group = self._grid if self._variant.folded else self._group
        return covered(code.stored, self._source.outputs, self._grid, group)


def specialisation(
    source: KernelSource, variant: Variant, grid: Extent, group: Extent
) -> Specialisation | None:
    """None if no version could be better than the general one, or none is wanted.

    Raises ValueError for a value that `ANYMETAL_SPECIALISE` may not have.
    """
    mode = versions.mode()
    if mode == "0":
        return None
    found = Specialisation(source, variant, grid, group, 0 if mode == "eager" else _HOT)
    return found if found.slots or versions.knows_sizes(source) else None


def _describes(source: KernelSource, parameter: Parameter) -> bool:
    """Whether it says something of the launch: about an input, or as a number of its own.

    Kernels of Metal libraries have shapes and strides as arrays of numbers in constant memory.
    """
    if parameter.kind == "input":
        alone = "&" in parameter.declaration or isinstance(source, LibrarySource)
        return alone and parameter.declaration.startswith("const constant")
    return parameter.kind != "output"
