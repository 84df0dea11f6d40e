"""Questions that the generator of SIMD code asks about a program before it writes any."""

from __future__ import annotations

from anymetal.analysis.affine import forms
from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import dominators, loops
from anymetal.analysis.flow import used, users
from anymetal.analysis.lane_numbers import lane_numbers
from anymetal.analysis.objects import Origin, origins, read_only
from anymetal.analysis.private_arrays import interleaved
from anymetal.analysis.regions import regions
from anymetal.analysis.uniformity import shapes
from anymetal.ir.model import Argument, Block, Instr, Value
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.simd.access.accumulator_arrays import add_together, find_accumulations, find_locked
from anymetal.simd.access.addressing import indices_elsewhere, made_by_accesses
from anymetal.simd.access.demanded_vectors import demanded_vectors
from anymetal.simd.access.groups import Group, find_groups
from anymetal.simd.access.lane_requests import LaneRequests, find_laid_out, many_lanes
from anymetal.simd.access.matrix_places import ROWS, Columns, MatrixPlaces
from anymetal.simd.access.matrix_products import (
    Product,
    find_homes,
    find_products,
    find_row_phis,
    find_tall_products,
)
from anymetal.simd.access.privatised_sums import Sums, find_privatised_sums
from anymetal.simd.access.reloads import find_reloads
from anymetal.simd.access.strategies import is_run
from anymetal.simd.access.streaming import bytes_of, streaming_stores
from anymetal.simd.access.tiles import Tile, TileFinder

# ----------------------------------------------------------------------------------- accesses


def groups(known: Analyses) -> dict[Instr, Group]:
    """Accesses that belong to a group of neighbours, with the group."""
    private, leads_to, addresses = known(interleaved), known(origins), known(forms)
    of = known(shapes), addresses, private, leads_to, known(used), known(tiles)
    return find_groups(known.program, *of, known.machine.vectors(SIMD_GROUP))


def tile_finder(known: Analyses) -> TileFinder:
    """The tiles of the program, and the values that their addresses need."""
    return TileFinder(
        known.program,
        known(shapes),
        known(interleaved),
        known(origins),
        known(lane_numbers),
    )


def tiles(known: Analyses) -> dict[Instr, Tile]:
    """The tile that each access belongs to."""
    return known(tile_finder).tiles


def needed(known: Analyses) -> set[Value]:
    """Values that addresses in other blocks are computed from."""
    return set(known(tile_finder).leaves)


def kept(known: Analyses) -> set[Value]:
    """Values that blocks hand to each other for addresses: `needed`, and indices of gathers."""
    elsewhere = indices_elsewhere(known.program, known(shapes), known(regions))
    return known(needed) | elsewhere


def made_later(known: Analyses) -> set[Value]:
    """Pointers that are not emitted where they stand: each access puts its own together."""
    together = known(interleaved), known(groups), known(tiles)

    def has_its_way(instr: Instr) -> bool:
        return any(instr in those for those in together)

    made = made_by_accesses(known.program, known(users), known(shapes), has_its_way)
    return made - known(kept)


def demanded(known: Analyses) -> set[Value]:
    """Inexact strided values that some instruction needs as a vector."""
    return demanded_vectors(known.program, known(shapes), known(groups))


def loaded_again(known: Analyses) -> set[Instr]:
    """Loads that sections of a team do again, for lack of registers."""
    of = known(shapes), known(users), known(origins), known(read_only)
    found = find_reloads(known.program, *of, known.machine.vectors(SIMD_GROUP))
    return found - known(kept)


def streaming(known: Analyses) -> set[Instr]:
    """Stores that may go past the caches."""
    accesses = known(origins), known(groups), known.machine.line
    return streaming_stores(known.program, known(regions), known(shapes), *accesses)


def streamed_bytes(known: Analyses) -> int:
    """How many bytes of memory a thread stores to by them."""
    return bytes_of(known, known(streaming))


def privatised_sums(known: Analyses) -> dict[Argument, Sums]:
    """Arrays of which each worker keeps sums of its own."""
    if known.width != SIMD_GROUP:
        return {}
    return find_privatised_sums(known)


def accumulations(known: Analyses) -> dict[Instr, frozenset[Origin]]:
    """Additions of floats to arrays that are used in no other way, with these arrays."""
    if known.width != SIMD_GROUP:
        return {}
    return find_accumulations(known.program, known(origins), known(used))


def under_locks(known: Analyses) -> set[Instr]:
    """Those of them that are under locks while several threads work on a launch."""
    return find_locked(known(accumulations), known(shapes))


def added_together(known: Analyses) -> dict[Instr, list[Instr]]:
    """Additions of runs of floats that happen at the last of several in a block."""
    adds, locked, grouped = known(accumulations), known(under_locks), known(groups)
    arrays = {
        instr: adds[instr]
        for instr in locked
        if is_run(instr, known(shapes)) and instr not in grouped
    }
    most = known.machine.vectors(SIMD_GROUP)
    return add_together(known.program.blocks, arrays, most)


# --------------------------------------------------------------------------- lanes and matrices


def laid_out(known: Analyses) -> set[Value]:
    """Vectors that are best had in memory, for shuffles."""
    return find_laid_out(known.program, known(shapes))


def broadcast_lanes(known: Analyses) -> LaneRequests:
    """Vectors of which many lanes are asked for."""
    return many_lanes(known.program, known(shapes))


def matrix_places(known: Analyses) -> MatrixPlaces:
    """Matrices that lie in memory."""
    return MatrixPlaces(known.program, known(tiles))


def matrix_products(known: Analyses) -> dict[Instr, Product]:
    """The product of matrices that each call is a part of."""
    return find_products(known.program, known(users), known(matrix_places))


def row_phis(known: Analyses) -> dict[Block, list[Columns]]:
    """Phis that are kept as rows of a product, not as elements of lanes."""
    return find_row_phis(known(matrix_products).values(), known(shapes).joins)


def row_homes(known: Analyses) -> dict[Columns, Columns]:
    """Columns of sums that are kept in one place, with those that are there first."""
    products = list(dict.fromkeys(known(matrix_products).values()))
    return find_homes(products, known(users), known(row_phis), known(loops), known(dominators))


def tall_products(known: Analyses) -> dict[Product, list[Product]]:
    """Products that are computed together, one above the other, since registers hold some of all
    their rows only: for each all of them."""
    fitting = known.machine.rows_in_registers
    products = dict.fromkeys(known(matrix_products).values())
    found = find_tall_products(products, known(users), known(matrix_places), known(row_homes))
    return {p: many for p, many in found.items() if ROWS * len(many) > fitting(4 * len(p.results))}
