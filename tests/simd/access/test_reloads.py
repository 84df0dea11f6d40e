"""Which loads sections of a team do once more, instead of keeping what was loaded."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.ir.reader import read_program
from anymetal.ir.spec import Stage, check
from anymetal.machine import Machine
from anymetal.simd import questions
from tests.compiling import known_of
from tests.ir.programs import ir_text
from tests.ir.short import llvm

_LAUNCH = LaunchFacts(linear=True, aligned=True, flat=True)
_ARGS = "ptr %a, ptr %b, ptr %out"
#: Its registers hold two vectors of 32 words.
_SMALL = Machine("", "generic", "")
_APART = "call void @__am_apart()\n"
_BARRIER = "call void @__am_threadgroup_barrier(i32 2)\n"


def again(body: str) -> set[str]:
    """The values that are loaded again."""
    kernel = read_program(ir_text(llvm(f"i = thread_x()\n{body}\nret void"), _ARGS))
    check(kernel, Stage.GANG)
    known = known_of(kernel, _LAUNCH, machine=_SMALL)
    return {load.name.strip("%") for load in known(questions.loaded_again)}


def sections(*parts: str) -> str:
    return _APART.join(f"{part}\n" for part in parts)


def loads(array: str = "a", count: int = 3) -> list[str]:
    """Sections that load a vector each."""
    return [f"v{k} = {array}[i + {32 * k}]\nout[i + {32 * k}] = v{k}" for k in range(count)]


def uses(count: int = 3) -> list[str]:
    return [f"out[i + {128 + 32 * k}] = v{k}" for k in range(count)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (sections(*loads(), *uses()), {"v0", "v1", "v2"}),
        # As many as the registers hold.
        (sections(*loads(count=2), *uses(2)), set()),
        # What is needed in its own section alone is not kept.
        (sections(*loads()), set()),
        # The program writes the array.
        (sections(*loads("out"), *uses()), set()),
        (sections(*loads(), *uses(), "b[i] = 1.0"), {"v0", "v1", "v2"}),
        # Computed vectors would be kept anyway.
        (
            sections(
                *(f"{load}\nw{k} = v{k} * v{k}" for k, load in enumerate(loads())),
                *(f"{use}\nout[i] = w{k}" for k, use in enumerate(uses())),
            ),
            set(),
        ),
        # Other blocks know the addresses of the first one.
        (
            f"{sections(*loads(), '')}br label %next\nnext:\n{_BARRIER}{sections(*uses())}",
            {"v0", "v1", "v2"},
        ),
        # All lanes have the same.
        (
            sections(*(f"v{k} = a[{k}]" for k in range(3)), *uses()),
            set(),
        ),
    ],
)
def test_what_is_loaded_again(body: str, expected: set[str]) -> None:
    assert again(body) == expected
