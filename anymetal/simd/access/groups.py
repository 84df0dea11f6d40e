"""Groups: neighbouring accesses that together cover runs of memory, such as the components of a
float4, the fields of a struct, `x[4 * i + k]`, or a few columns of a matrix whose rows are lanes.

    x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]      four gathers at a stride of 16 bytes
                                                  become    four vector loads, and shuffles

Alone, each member would be a gather. Together they are one wide access, if the elements of all
lanes are one run, or an access for each lane, if there are gaps between the lanes. Lanes that walk
along rows, `row[k], row[k + 1], …`, have a row each, wherever it begins. Loads of two or three
of four neighbours, `p.xyz` of a float4, load the gaps between their lanes, too. No other byte is
touched that the program does not touch.

    float4 v = points[index[i]]         four gathers       become       a load of 16 bytes a lane

Neighbours whose place only the data tell are a group as well (emit/scattered_groups.py).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping

from anymetal.analysis.affine import ONE, LinearForms
from anymetal.analysis.effects import LOADS, accessed, is_plain, pointer_of, writes
from anymetal.analysis.objects import Origin, disjoint, is_alone
from anymetal.analysis.places import place_of
from anymetal.analysis.uniformity import Shapes
from anymetal.ir.model import Access, Argument, Block, Instr, Program, Value
from anymetal.ir.rules import ORDERED
from anymetal.ir.sizes import is_power_of_two

MOST_MEMBERS = 32
MOST_ODD_MEMBERS = 8  #: if their number is no power of two
#: Members with gaps between the lanes: more of them do not fit the registers, fewer do not pay.
LONGEST_ROW, SHORTEST_ROW = 8, 4
#: Rows farther apart, in bytes, may be in each other's way in a cache: what a line has of one is
#: taken at once.
FAR = 512
#: Elements from lane to lane, of which loads of 2 or 3 load all.
FILLED = 4
#: Bytes of neighbours that a lane has anywhere: what one instruction moves.
PIECES = (16, 8, 4, 2)

Origins = Mapping[Value, frozenset[Origin]]


class Group:
    """Loads, stores or atomic float additions of one block, in the order of their addresses."""

    def __init__(
        self, members: list[Instr], anchor: Instr, first_offset: int, stride: int,
        anywhere: bool = False,
    ) -> None:  # fmt: skip
        self.members = members
        #: The member in whose place the group is emitted: the first load, else the last.
        self.anchor = anchor
        self.first_offset = first_offset  #: from the anchor's address to that of members[0]
        self.stride = stride  #: bytes from lane to lane; 0 if each has a row or a place of its own
        self.anywhere = anywhere  #: only the data tell where each lane has its elements

    @property
    def has_gaps(self) -> bool:
        """Whether other memory lies between the elements of two lanes."""
        return not self.stride or self.stride > self.bytes

    @property
    def is_filled(self) -> bool:
        """Whether the gaps are loaded, too: they lie between what the first lane loads and what the
        last one does, so in the same array."""
        size = accessed(self.anchor).type.size
        return self.has_gaps and self.anchor.op == "load" and self.stride == FILLED * size

    @property
    def bytes(self) -> int:
        """Of a lane's elements."""
        return len(self.members) * accessed(self.anchor).type.size

    @property
    def row(self) -> Instr | None:
        """Where each lane's row begins, if those are not at a constant distance."""
        return None if self.stride or self.anywhere else row_of(pointer_of(self.anchor))

    @property
    def together(self) -> Group:
        """The same accesses, where lanes turn out to be neighbours."""
        return Group(self.members, self.anchor, self.first_offset, self.bytes)

    @property
    def is_of_vectors(self) -> bool:
        """Whether the members have one type and no gaps lie between the lanes."""
        return not self.has_gaps and len({accessed(m).type for m in self.members}) == 1

    @property
    def is_ordered(self) -> bool:
        """Whether the members' values are in the order of memory (memory_order.py)."""
        return self.anchor.flags == ORDERED

    @property
    def align(self) -> int:
        return min(int(access_of(m).align) for m in self.members)


def find_groups(
    program: Program,
    shapes: Shapes,
    linear: LinearForms,
    private: dict[Value, Instr],
    origins: Origins,
    used: set[Value],
    others: Container[Instr],
    fitting: int,
) -> dict[Instr, Group]:
    """The group of each instruction that is in one; `used` are values with uses, `others` accesses
    whose lanes' places are known (tiles.py), `fitting` the values that all registers hold."""
    result: dict[Instr, Group] = {}

    def key(instr: Instr) -> tuple[object, int] | None:
        adds = instr.op != "atomicrmw" or (instr.arg[0] == "fadd" and instr not in used)
        return _key(instr, shapes, linear, private) if adds else None

    def stride_of(instr: Instr) -> int:
        return abs(shapes[pointer_of(instr)].stride)

    def key_anywhere(instr: Instr) -> tuple[object, int] | None:
        pointer, type_ = pointer_of(instr), accessed(instr).type
        if instr in result or instr in others or pointer in private or type_.is_ptr:
            return None
        if not shapes[pointer].is_varying or type_.size not in (1, 2, 4, 8):
            return None
        root, offset = place_of(pointer)
        return (root, type_.size), offset

    for block in program.blocks:
        for op in ("load", "store", "atomicrmw"):
            for run in runs(block, op, key, origins, stride_of):
                stride = shapes[pointer_of(run[0][1])].stride
                for group in _groups(run, op, stride, fitting):
                    result.update(dict.fromkeys(group.members, group))
        for op in ("load", "store"):
            for run in runs(block, op, key_anywhere, origins):
                for group in _groups(run, op, 0, fitting, anywhere=True):
                    result.update(dict.fromkeys(group.members, group))
    return result


def access_of(instr: Instr) -> Access:
    access: Access = instr.arg[1] if instr.op == "atomicrmw" else instr.arg
    return access


class _Run:
    """Accesses with equal keys that may be done at once, so far."""

    def __init__(self, stride: int) -> None:
        self.stride = stride  #: bytes from lane to lane; 0 if that is not known
        self.members: list[tuple[int, Instr]] = []
        self.crossing: list[int] = []  #: offsets of accesses in between, to the same rows

    def may_take(self, offset: int, access: Instr) -> bool:
        """Whether an access may be done together with the members: a load is done in front of all
        that crosses them."""
        if access.op != "load":
            return True
        return all(self._apart(offset - at, access) for at in self.crossing)

    def may_be_crossed(self, offset: int, access: Instr) -> bool:
        """Whether the members may be done on the other side of an access to the same rows: loads in
        front of a store, stores behind a load."""
        self.crossing.append(offset)
        own = access.op == "store"  # what was loaded in front of it may be what it stores to
        return all(
            (own and at == offset) or self._apart(offset - at, access) for at, _ in self.members
        )

    def _apart(self, distance: int, access: Instr) -> bool:
        """Whether elements at a distance are not the same, in one lane or in two."""
        size = accessed(access).type.size
        return size <= abs(distance) <= self.stride - size


def runs(
    block: Block,
    op: str,
    key_of: Callable[[Instr], tuple[object, int] | None],
    origins: Origins,
    stride_of: Callable[[Instr], int] = lambda _: 0,
) -> list[list[tuple[int, Instr]]]:
    """Plain accesses with equal keys, with their offsets, that may be done at once: nothing in
    between prevents it. `stride_of`: bytes from lane to lane, where the key says they are equal."""
    open_runs: dict[object, _Run] = {}
    done: list[_Run] = []
    bases: set[Value] = set()  #: arrays of the open runs, if those are atomic additions

    def close(keys: list[object]) -> None:
        done.extend(open_runs.pop(key) for key in keys)

    for instr in block.instrs:
        key = key_of(instr) if instr.op == op and _may_group(instr) else None
        if key is not None:
            if op == "atomicrmw" and key[0] not in open_runs:
                bases.add(_base(pointer_of(instr)))
            if key[0] in open_runs and not open_runs[key[0]].may_take(key[1], instr):
                close([key[0]])
            open_runs.setdefault(key[0], _Run(stride_of(instr))).members.append((key[1], instr))
        elif _disturbs(instr, op) or (op == "atomicrmw" and _may_see(instr, bases)):
            crossing = key_of(instr) if instr.op in ("load", "store") and is_plain(instr) else None
            close([k for k, run in open_runs.items() if _ends(run, k, instr, crossing, origins)])
            if op == "atomicrmw":
                bases = {_base(pointer_of(run.members[0][1])) for run in open_runs.values()}
        if key is not None and op == "store":  # stores of different runs may overlap
            close([k for k, run in open_runs.items() if not _goes_on(instr, run.members, origins)])
    return [run.members for run in (*done, *open_runs.values())]


def _ends(
    run: _Run, key: object, instr: Instr, crossing: tuple[object, int] | None, origins: Origins
) -> bool:  # fmt: skip
    """Whether an instruction ends a run, as it may touch what members have."""
    if crossing is not None and crossing[0] == key:
        return not run.may_be_crossed(crossing[1], instr)
    return not _elsewhere(instr, run.members[0][1], origins)


def _goes_on(
    store: Instr, run: list[tuple[int, Instr]], origins: Origins
) -> bool:  # fmt: skip
    """Whether a run goes on behind a store: its own, or one of a twin among those of the kernel."""
    nowhere: frozenset[Origin] = frozenset()
    alone = [is_alone(origins.get(pointer_of(i), nowhere)) for i in (store, run[-1][1])]
    return run[-1][1] is store or alone[0] != alone[1]


def _may_group(instr: Instr) -> bool:
    return is_plain(instr) or (instr.op == "atomicrmw" and not access_of(instr).volatile)


def _elsewhere(instr: Instr, member: Instr, origins: Origins) -> bool:
    """Whether a plain load or store never touches the memory of a run's member."""
    if not is_plain(instr):
        return False
    nowhere: frozenset[Origin] = frozenset()
    pointers = (pointer_of(instr), pointer_of(member))
    return disjoint(*(origins.get(pointer, nowhere) for pointer in pointers))


def _key(
    instr: Instr, shapes: Shapes, linear: LinearForms, private: dict[Value, Instr]
) -> tuple[object, int] | None:
    """Root, stride and size, and the offset; integers and floats may share a group."""
    pointer, type_ = pointer_of(instr), accessed(instr).type
    shape = shapes[pointer]
    if shape.is_varying and instr.op == "load" and pointer not in private and not type_.is_ptr:
        return _key_in_row(instr, type_.size, shapes)
    if pointer in private or not shape.is_strided or shape.stride <= type_.size:
        return None
    root, offset = _root(pointer, linear)
    kind = type_ if type_.is_ptr or instr.op == "atomicrmw" else type_.size
    return (root, shape.stride, kind), offset


def _key_in_row(load: Instr, size: int, shapes: Shapes) -> tuple[object, int] | None:
    """The same for a place in a row, as far from its beginning in all lanes."""
    pointer = pointer_of(load)
    row = row_of(pointer)
    if row is None or not shapes[row].is_varying:
        return None
    assert isinstance(pointer, Instr)
    _, *indices = pointer.operands
    if pointer.block is not load.block or not all(shapes[index].is_uniform for index in indices):
        return None
    return (row, *indices, pointer.arg[:-1], size), pointer.arg[-1]


def row_of(pointer: Value) -> Instr | None:
    """The address that another one is counted from, if that was computed in front of the block."""
    if isinstance(pointer, Instr) and pointer.op == "gep":
        base = pointer.operands[0]
        if isinstance(base, Instr) and base.op == "gep" and base.block is not pointer.block:
            return base
    return None


def _disturbs(instr: Instr, op: str) -> bool:
    return writes(instr) or (instr.op in LOADS and (op == "store" or not is_plain(instr)))


def _may_see(instr: Instr, bases: set[Value]) -> bool:
    """Whether a load may read what an addition in front of it has changed."""
    if instr.op not in LOADS:
        return False
    base = _base(instr.operands[0])
    return not isinstance(base, Argument) or base in bases


def _base(pointer: Value) -> Value:
    while isinstance(pointer, Instr) and pointer.op == "gep":
        pointer = pointer.operands[0]
    return pointer


def _root(pointer: Value, linear: LinearForms) -> tuple[object, int]:
    """The pointer without its constant offset, and that offset."""
    form = linear(pointer)
    if form is None:
        return pointer, 0
    constants = form.get(ONE, (0,))
    return frozenset(item for item in form.items() if item[0] != ONE), constants[0]


def _groups(
    run: list[tuple[int, Instr]], op: str, stride: int, fitting: int, anywhere: bool = False
) -> list[Group]:
    """The groups in a run; atomic additions only where they cover the whole stride."""
    size = accessed(run[0][1]).type.size
    by_offset = dict(sorted(run, key=lambda item: item[0]))
    if len(by_offset) < len(run):
        return []
    place = {instr: number for number, (_, instr) in enumerate(run)}
    pieces = [n // size for n in PIECES if n > size]
    counts = pieces if anywhere else _counts(size, stride, op, fitting)
    return [
        _group(sorted(piece.items(), key=lambda item: place[item[1]]), piece, stride, anywhere)
        for piece in _pieces(by_offset, size, counts)
        if op != "atomicrmw" or len(piece) * size == stride
    ]


def _group(
    run: list[tuple[int, Instr]], by_offset: dict[int, Instr], stride: int, anywhere: bool
) -> Group:
    anchor_offset, anchor = run[0] if run[0][1].op == "load" else run[-1]
    members = list(by_offset.values())
    return Group(members, anchor, next(iter(by_offset)) - anchor_offset, stride, anywhere)


def _side_by_side(by_offset: dict[int, Instr], size: int, count: int) -> bool:
    first = next(iter(by_offset))
    return list(by_offset) == [first + i * size for i in range(count)]


def _pieces(
    by_offset: dict[int, Instr], size: int, counts: list[int]
) -> Iterator[dict[int, Instr]]:
    """Neighbours that fill the stride, or a power of two of them with gaps between the lanes;
    several such pieces if a team's SIMD-groups have one each."""
    offsets = list(by_offset)
    start = 0
    while start < len(offsets):
        pieces = [{at: by_offset[at] for at in offsets[start : start + n]} for n in counts]
        whole = [p for p, n in zip(pieces, counts, strict=True) if _side_by_side(p, size, n)]
        yield from whole[:1]
        start += len(whole[0]) if whole else 1


def _counts(size: int, stride: int, op: str, fitting: int) -> list[int]:
    """How many members a group may have, best first."""
    rows = [LONGEST_ROW, SHORTEST_ROW]
    if not stride:
        return rows
    if op == "load" and stride == FILLED * size:
        return [FILLED, 3, 2]
    if stride < FAR and fitting < LONGEST_ROW:
        rows = [SHORTEST_ROW]
    all_, rest = divmod(stride, size)
    most = MOST_MEMBERS if is_power_of_two(all_) else MOST_ODD_MEMBERS
    apart = [n for n in rows if n * size < stride]
    return apart if rest or all_ > most else [all_, *apart]
