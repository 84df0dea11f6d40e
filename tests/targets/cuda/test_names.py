"""Names of functions in PTX."""

import re

from anymetal.targets.cuda.names import entry_of


def test_any_name_is_one_of_ptx_and_of_no_other_kernel() -> None:
    names = ["add", "Add", "größe", "gr_e", "gr$f6e", "größe2", "f", "_f", "ж", "ж1"]
    made = [entry_of(name) for name in names]
    assert len(set(made)) == len(names)
    assert all(re.fullmatch(r"metal_[A-Za-z0-9_$]+", name) for name in made)
    assert made[0] == "metal_add"
