"""The kinds of findings: names, texts, and numbers (`Kind` in targets/cpu/observer/observer.h)."""

from __future__ import annotations

from typing import NamedTuple

from anymetal.findings import Rule, Severity

_PAGE = "docs/sanitizer.md"


class Kind(NamedTuple):
    """What findings of one kind have in common."""

    name: str  #: stable: what `checks` selects and tests expect
    check: str  #: the group that it belongs to
    message: str  #: what is wrong; report.py fills in who, what and where
    hint: str = ""  #: what to do
    severity: Severity = "error"

    @property
    def rule(self) -> Rule:
        """For SARIF."""
        return Rule(self.name, self.name, _summary(self.message), self.severity, _PAGE)


#: In the order of the enum in C++, from 0 on. The words in braces are those of report.py.
KINDS = (
    Kind(
        "bounds-read",
        "bounds",
        "{who} reads {element}, outside of {object}",
        "Compare the index with the size before the load; a select behind it comes too late.",
    ),
    Kind(
        "bounds-write",
        "bounds",
        "{who} writes {element}, outside of {object}",
        "Let threads beyond the end return, or make the array larger.",
    ),
    Kind(
        "bounds-atomic",
        "bounds",
        "{who} updates {element} atomically, outside of {object}",
        "Compare the index with the size before the atomic operation.",
    ),
    Kind(
        "misaligned",
        "bounds",
        "{who} accesses {bytes} bytes at byte {offset} of {object}, which their type does not "
        "allow: the address has to be a multiple of {align}",
        "Use a packed type, such as packed_float4, or an aligned index.",
    ),
    Kind(
        "race-threadgroup",
        "races",
        "{who} {accesses} {element}, which {other} {other_accesses}, without a barrier between",
        "Put threadgroup_barrier(mem_flags::mem_threadgroup) between the two.",
    ),
    Kind(
        "race-device",
        "races",
        "{who} {accesses} {element}, which {other} {other_accesses}, without a barrier between",
        "Put threadgroup_barrier(mem_flags::mem_device) between the two; mem_threadgroup does not "
        "order accesses of device memory.",
    ),
    Kind(
        "race-groups",
        "races",
        "{who} {accesses} {element}, which {other} {other_accesses}: nothing orders the two "
        "threadgroups",
        "Give each threadgroup its own elements, use atomics, or split the kernel in two launches.",
    ),
    Kind(
        "race-atomic",
        "races",
        "{who} {accesses} {element}, which {other} {other_accesses}: one of the two is atomic, and "
        "nothing orders them",
        "Make both atomic, or put a barrier between them.",
    ),
    Kind(
        "undefined-branch",
        "undefined",
        "{who} decides by a value that was never set which way to go",
        "Give the variable a value before it is read.",
    ),
    Kind(
        "undefined-address",
        "undefined",
        "{who} computes an address from a value that was never set",
        "Give the variable a value before it is read.",
    ),
    Kind(
        "undefined-output",
        "undefined",
        "{who} stores a value that was never set, in {element}",
        "Give the variable a value before it is read.",
    ),
    Kind(
        "undefined-atomic",
        "undefined",
        "{who} gives an atomic operation a value that was never set, for {element}",
        "Give the variable a value before it is read.",
    ),
    Kind(
        "unwritten-output",
        "undefined",
        "no thread writes {element}",
        "Write all elements, or pass init_value; without it outputs begin undefined.",
    ),
    Kind(
        "missing-init-value",
        "undefined",
        "{who} updates {element} atomically, which nothing was written to before",
        "Pass init_value=0 (or what the operation begins with): outputs begin undefined.",
    ),
    Kind(
        "barrier-divergent",
        "convergence",
        "not all threads of threadgroup {group} reach this barrier: {who} does not",
        "Move the barrier out of the branch or loop that threads leave apart.",
    ),
    Kind(
        "barrier-after-return",
        "convergence",
        "{who} has returned before this barrier, which others of its threadgroup reach",
        "Put the work into a condition and let all threads reach the barrier. Apple's hardware "
        "counts threads that have returned as arrived; Metal does not promise it.",
        "warning",
    ),
    Kind(
        "shuffle-inactive",
        "convergence",
        "{who} asks a thread for a value that does not take part here: lane {detail}",
        "Let all threads of the SIMD-group make the call, and choose afterwards.",
    ),
    Kind(
        "shuffle-range",
        "convergence",
        "{who} asks for the value of lane {detail}, which its SIMD-group or quad does not have",
        "Keep the lane in it, or use simd_shuffle_and_fill_up/down.",
    ),
    Kind(
        "simd-divergent",
        "convergence",
        "{who} {accesses}",
        "Move the call in front of the branch; for a lane of one's own there is simd_shuffle.",
    ),
    Kind(
        "division-by-zero",
        "portability",
        "{who} divides an integer by zero",
        "Metal leaves the result undefined: test the divisor.",
        "warning",
    ),
    Kind(
        "shift-count",
        "portability",
        "{who} shifts by as many bits as the type has, or more",
        "Metal takes the count modulo the bits of the type; other languages do not. Mask it.",
        "warning",
    ),
    Kind(
        "float-to-int",
        "portability",
        "{who} converts a floating-point value to an integer type that cannot hold it",
        "Metal leaves the result undefined: clamp the value first.",
        "warning",
    ),
    Kind(
        "index-overflow",
        "portability",
        "{who} computes an index that overflows 32 bits",
        "Compute it in 64 bits: size_t(row) * columns + column.",
        "warning",
    ),
    Kind(
        "order-dependent",
        "order",
        "{element} depends on the order of threadgroups and SIMD-groups: it is {detail}",
        "Runs on a GPU may differ, too. Sum floats in a fixed order instead of by atomics, and "
        "let no thread read what another writes without a barrier.",
        "warning",
    ),
    Kind(
        "nan",
        "nan",
        "{who} writes NaN or infinity to {element}, although all inputs are finite",
        "Look for divisions by 0, roots and logarithms of negative numbers, and exponentials of "
        "large ones.",
        "warning",
    ),
    Kind(
        "division-overflow",
        "portability",
        "{who} divides the smallest integer by -1, which has no result in its type",
        "Metal leaves the result undefined: test for the case, or divide in a wider type.",
        "warning",
    ),
    Kind(
        "metal-limit",
        "portability",
        "the kernel takes {detail} buffers, and Metal gives a kernel 31 at most",
        "Put several arrays into one. Shapes, strides and ndims that the text names are buffers, "
        "too.",
        "warning",
    ),
)

NUMBERS = {kind.name: number for number, kind in enumerate(KINDS)}
#: What `checks` may name. NaN is looked for only if asked; orders are tried by `order`.
CHECKS = ("bounds", "races", "undefined", "convergence", "portability")


def rules() -> list[Rule]:
    """All kinds, for SARIF."""
    return [kind.rule for kind in KINDS]


def _summary(message: str) -> str:
    words = {
        "{who}": "a thread",
        "{other}": "another thread",
        "{element}": "an element",
        "{object}": "its array",
        "{accesses}": "accesses",
        "{other_accesses}": "accesses, too",
        "threadgroup {group}": "a threadgroup",
        ": it is {detail}": "",
        "takes {detail} buffers": "takes too many buffers",
        ": lane {detail}": "",
        "of lane {detail}": "of a lane",
        "{bytes} bytes at byte {offset} of its array": "memory at an address",
        ": the address has to be a multiple of {align}": "",
    }
    for word, text in words.items():
        message = message.replace(word, text)
    return message[0].upper() + message[1:] + "."
