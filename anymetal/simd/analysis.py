"""What the generator needs to know of a program before it writes code."""

from __future__ import annotations

from anymetal.ir.model import Argument, Block, Instr, Program, Value
from anymetal.simd.addresses import indices_elsewhere, made_by_accesses
from anymetal.simd.ahead import spread_out
from anymetal.simd.counters import wide_counters
from anymetal.simd.demand import demanded_vectors
from anymetal.simd.early_lanes import take_lanes_early
from anymetal.simd.exclusive import only_added
from anymetal.simd.few_lanes import few_lane_loads
from anymetal.simd.groups import Group, find_groups
from anymetal.simd.lane_numbers import LaneNumbers
from anymetal.simd.lane_split import split_lanes
from anymetal.simd.lanes import is_cross_lane, laid_out
from anymetal.simd.lazy import order_lazily
from anymetal.simd.linear import Distance, LinearForms
from anymetal.simd.linearize import Linearizer, RegionPlan
from anymetal.simd.log import LOG
from anymetal.simd.mask_roots import MaskRoots
from anymetal.simd.matrix_places import Columns, MatrixPlaces
from anymetal.simd.next_step import next_steps
from anymetal.simd.order import in_memory_order
from anymetal.simd.origins import Origin, pointer_origins, read_only, unlocked
from anymetal.simd.private import Far, far_arrays, interleaved_pointers
from anymetal.simd.products import Product, carried, find_products, row_phis
from anymetal.simd.regions import BARRIER, Region, RegionTree
from anymetal.simd.shape import Launch, Shapes
from anymetal.simd.spread_lanes import Spread, many_lanes
from anymetal.simd.streams import streaming_stores
from anymetal.simd.sums import Sums, own_sums
from anymetal.simd.tiles import Tile, TileFinder

#: Accesses of a block that ask whether all lanes are active, until it is worth to have it twice;
#: and instructions of a block for which it is not.
OFTEN, LARGE = 3, 400


class Analysis:
    """What the generator needs to know of a program; shared by its full and masked versions."""

    tree: RegionTree
    private: dict[Value, Instr]
    far: Far
    shapes: Shapes
    counters: dict[Value, Instr]  #: of 32 bits, with those of 64
    plans: dict[Region, RegionPlan]
    roots: MaskRoots
    numbers: LaneNumbers
    groups: dict[Instr, Group]
    ordered: set[Group]  #: in full gangs, members are in the order of memory
    tiles: dict[Instr, Tile]
    next_steps: dict[Tile, Distance]  #: of tiles that are asked for ahead
    matrix_places: MatrixPlaces
    products: dict[Instr, Product]
    row_phis: dict[Block, list[Columns]]
    carried: dict[Columns, Product]
    needed: set[Value]  #: by addresses, in other blocks than their own
    made_later: set[Value]  #: addresses, by those who use them
    demanded: set[Value]
    laid_out: set[Value]
    spread: Spread
    used: set[Value]
    streams: set[Instr]
    origins: dict[Value, frozenset[Origin]]
    few: dict[Instr, list[int]]  #: loads -> their lanes
    read_only: set[Argument]
    sums: dict[Argument, Sums]
    only_added: set[Instr]  #: to arrays that nobody looks at

    def __init__(self, program: Program, launch: Launch, width: int, team: int = 1) -> None:
        self.program = program
        self.launch = launch
        self.width = width
        self.team = team  #: SIMD-groups that run as one (passes/jam.py)
        self.counters = {}
        self.made_later = set()
        self.only_added = set()
        self.tree = RegionTree(self.program.blocks)
        self.origins = pointer_origins(self.program)
        unlocked(self.program, self.origins)
        wide = self.width > 1
        self.private = interleaved_pointers(self.program) if wide else {}
        self.far = far_arrays(self.program, self.width)
        self.shapes = self._shapes()
        if wide and split_lanes(self.program, self.shapes):
            self.shapes = self._shapes()
        if wide:
            self.counters = wide_counters(self.program, self.shapes)
            if self.counters:
                self.shapes.run()
        self._plan()
        if wide:
            self._straighten()
        self.used = {v for i in self.program.instructions() for v in i.operands}
        self.groups = self._groups() if wide else {}
        finder = self._tiles() if wide else None
        self.tiles = finder.tiles if finder else {}
        self.matrix_places = MatrixPlaces(self.program, self.tiles)
        self.products = find_products(self.program, self.matrix_places) if wide else {}
        self.row_phis = row_phis(self.products.values(), self.shapes.joins)
        columns = [columns for many in self.row_phis.values() for columns in many]
        self.carried = carried(self.program, columns, self.products.values()) if columns else {}
        self.needed = finder.leaves if finder else set()
        self.next_steps = next_steps(self.program, self.tiles, self._forms(), self.origins)
        for distance in self.next_steps.values():
            self.needed |= {v for product in distance for v in product}
        self.ordered = in_memory_order(
            self.program,
            self.tree,
            self.shapes,
            self.groups,
            self.roots.always_full,
            self.needed,
        )
        if wide:
            self.needed |= indices_elsewhere(self.program, self.shapes, self.tree)
            self.made_later = made_by_accesses(self.program, self.shapes, self._has_its_way)
            self.made_later -= self.needed
        self.demanded = demanded_vectors(self.program, self.shapes, self.groups)
        self.laid_out = laid_out(self.program, self.shapes) if wide else set()
        self.spread = many_lanes(self.program, self.shapes) if wide else {}
        self.read_only = read_only(self.program, self.origins)
        self.sums = own_sums(self.program, self.origins, self.used) if self.width == 32 else {}
        if self.width == 32:
            self.only_added = only_added(self.program, self.origins, self.used)
        self.few = few_lane_loads(self.program, self.shapes, self.numbers, self.roots, self.origins)
        self.streams = streaming_stores(
            self.program, self.tree, self.shapes, self.origins, self.groups
        )

    def _plan(self) -> None:
        self.plans = Linearizer(self.tree, self.shapes).plans
        self.roots = MaskRoots(self.tree, self.plans)
        in_order = (i for block in self.shapes.order for i in block.instrs)
        self.numbers = LaneNumbers(in_order if self.width > 1 else (), self.width)

    def _straighten(self) -> None:
        """Rewrites long straight code, such as unrolled loops over a row in registers."""
        if self.launch.whole:  # what shuffles give is not defined where lanes are inactive
            full = self.roots.always_full
            if take_lanes_early(self.program, self.shapes, self.numbers, full):
                self.shapes = self._shapes()
                self._plan()
        order_lazily(self.program, self.shapes)
        spread_out(self.program)

    def _shapes(self) -> Shapes:
        return Shapes(self.program, self.tree, self.launch, self.private, self.width)

    def _groups(self) -> dict[Instr, Group]:
        linear = self._forms()
        return find_groups(self.program, self.shapes, linear, self.private, self.origins, self.used)

    def _forms(self) -> LinearForms:
        return LinearForms(self.shapes, self.numbers, deep=True)

    def _tiles(self) -> TileFinder:
        return TileFinder(
            self.program, self.shapes, self.private, self.origins, self.numbers, self.counters
        )

    def _has_its_way(self, instr: Instr) -> bool:
        """Whether an access, or an address, is not just that of each lane."""
        return any(instr in those for those in (self.private, self.groups, self.tiles))

    def asks_often(self, block: Block) -> bool:
        """Whether several accesses ask if all lanes are active. Then the block is there twice, once
        for all lanes, and asks once. What keeps state in the generator is only there once."""
        if block is self.program.blocks[0] or any(map(_has_state, block.instrs)):
            return False
        asking = (self.groups.get(i) or self.tiles.get(i) for i in block.instrs)
        return len({access for access in asking if access}) >= OFTEN and len(block.instrs) <= LARGE

    @property
    def streamed_bytes(self) -> int:
        """What a thread stores that may go past the caches, once through."""
        return sum(i.operands[0].type.size for i in self.streams)

    @property
    def meets(self) -> bool:
        """Whether threads of the scalar build have to wait for each other in cross-lane calls."""
        calls = (i.arg for i in self.program.instructions() if i.op == "call")
        return self.width == 1 and any(is_cross_lane(callee) for callee in calls)


def _has_state(instr: Instr) -> bool:
    """SIMD-groups wait at barriers; what is kept in memory has one place."""
    return instr.op in ("atomicrmw", "cmpxchg", "alloca") or (
        instr.op == "call" and instr.arg in (BARRIER, LOG)
    )
