"""What the sanitizer finds in the cases under tests/kernels and in the examples, all of it true.

By case: kinds, and the lines of the file. All other cases have no findings.
"""

from __future__ import annotations

Found = dict[str, dict[str, list[int]]]

#: Threads store the same number to one element: whatever comes last, it is right, but no rule of
#: Metal orders the two.
_SAME_STORES: Found = {
    "attributes/grid_region": {"race-device": [7, 8, 9]},
    "bfloat/one_argument_fast": {"race-device": [53], "race-groups": [53]},
    "bfloat/one_argument_metal": {"race-device": [53], "race-groups": [53]},
    "bfloat/one_argument_precise": {"race-device": [53], "race-groups": [53]},
    "order/dot_products": {"race-device": [14, 15]},
    "order/exact_sums": {"race-device": [12]},
    "order/fast_sums": {"race-device": [26, 27, 28, 29, 30]},
    "order/integer_totals": {"race-device": [21, 22, 23, 24, 25]},
    "order/totals_of_a_loop": {"race-device": [20]},
    "order/under_a_mask": {"race-device": [15]},
}
#: Several lanes hold a number of a reduction, and all of them store it.
_HELD_TWICE: Found = {
    "tensor/columns_reduced": {"race-device": [31]},
}
#: What AnyMetal gives where Metal defines no result.
_OPERANDS: Found = {
    "casts/float_to_integer": {"float-to-int": [17, 18, 19, 20]},
    "casts/float_to_narrow_integer": {"float-to-int": [17, 18, 19, 20]},
    "casts/saturating_float_to_integer": {"float-to-int": [9, 10]},
    "casts/shifts_past_the_width": {"shift-count": [15, 17, 19]},
    "integer/divide_64_bit_by_zero_elsewhere": {"division-by-zero": [16]},
    "integer/shifts": {"shift-count": [19, 20, 21, 22, 23]},
    "integer/smallest_by_minus_one": {"division-overflow": [11, 13]},
    "integer/zero_divisor_does_not_trap": {"division-by-zero": [11, 13]},
    "types/shifts_beyond_the_width": {"shift-count": [13, 16, 17]},
}
#: An index that wraps strays, on purpose: the load serves a branch that is not always taken.
_STRAYS: Found = {
    "control/load_for_a_branch_and_behind_it": {"bounds-read": [12], "index-overflow": [12, 16]},
}
#: A lane that does not take part reads as 0 here.
_INACTIVE: Found = {
    "simd/shuffle_from_inactive_lanes": {"shuffle-inactive": [9]},
}
#: Threads that have returned count as arrived, as on Apple's hardware.
_RETURNS: Found = {
    "threadgroup/early_exit_in_loop": {"barrier-after-return": [12]},
    "threadgroup/return_and_break_between_barriers": {"barrier-after-return": [20]},
    "threadgroup/return_before_barrier": {"barrier-after-return": [17]},
    "threadgroup/return_before_barriers_in_loop": {"barrier-after-return": [17]},
    "threadgroup/write_then_return": {"barrier-after-return": [15]},
}

KNOWN: Found = _SAME_STORES | _HELD_TWICE | _OPERANDS | _STRAYS | _INACTIVE | _RETURNS

#: Of the examples, one is about a finding.
EXAMPLES: Found = {"missing_barrier": {"race-threadgroup": [21]}}
