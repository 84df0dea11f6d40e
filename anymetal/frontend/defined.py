"""Gives a meaning to operations that C++ leaves undefined and Metal defines or tolerates.

This is done on Clang's raw text, before any optimisation can profit from undefined behaviour. (For
what Clang itself computes, see constants.py.)

* shift counts use their low bits (`1u << 33` is 2);
* floating point to integer saturates, NaN becomes 0 (vectors only: Clang does it for scalars);
* an integer divided by zero gives some value instead of a trap (the divisor becomes 1);
* exceptions of floating point do not exist, so a pragma that asks for them changes nothing;
* a 32-bit unsigned index counts as signed, unless arrays may be that `large` (indices.py).
"""

from __future__ import annotations

import re

from anymetal.frontend.indices import with_signed_indices

_NAME = r"%[\w.$-]+|%\"[^\"]*\""
_OPERAND = rf"{_NAME}|-?\d+|<[^<>]*>|splat \([^()]*\)|[a-z]+"
_LINE = re.compile(
    rf"\n  (?P<name>{_NAME}) = (?P<op>shl|lshr|ashr|udiv|sdiv|urem|srem)"
    r"(?P<flags>(?: exact| nuw| nsw)*) (?P<type>i\d+|<\d+ x i\d+>) "
    rf"(?P<left>{_OPERAND}), (?P<right>{_OPERAND})(?P<rest>, !dbg.*)?$",
    re.M,
)
_CONVERT = re.compile(
    rf"\n  (?P<name>{_NAME}) = fpto(?P<sign>[su])i (?P<source>\w+|<\d+ x \w+>) "
    r"(?P<value>.+) to (?P<target>i\d+|<\d+ x i\d+>)(?P<rest>, !dbg.*)?$",
    re.M,
)
#: With it, inlining makes calls that observe exceptions of all that a function calls.
_STRICT = re.compile(r"(\nattributes #.*) strictfp\b")
_SUFFIX = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}


def define_semantics(text: str, large: int) -> str:
    """The module with these operations replaced. `large`: see indices.py."""
    declared: dict[str, str] = {}
    # Lines are found by the newline in front of them (see optimise.py).
    text = _STRICT.sub(r"\1 nounwind", f"\n{with_signed_indices(text, large)}")
    text = _LINE.sub(lambda m: f"\n{_integer(m)}", text)
    text = _CONVERT.sub(lambda m: f"\n{_saturate(m, declared)}", text)
    return text[1:] + "".join(f"{line}\n" for line in declared.values())


def _integer(match: re.Match[str]) -> str:
    if match["op"] in ("shl", "lshr", "ashr"):
        return _shift(match)
    return _divide(match)


def _whole(match: re.Match[str], right: str) -> str:
    head = f"  {match['name']} = {match['op']}{match['flags']} {match['type']}"
    return f"{head} {match['left']}, {right}{match['rest'] or ''}"


def _shift(match: re.Match[str]) -> str:
    bits = int(re.findall(r"i(\d+)", match["type"])[0])
    right = match["right"]
    if re.fullmatch(r"-?\d+", right):
        return _whole(match, str(int(right) % bits))
    limit, count = _constant(match["type"], bits - 1), _derived(match["name"], "count")
    return f"  {count} = and {match['type']} {right}, {limit}\n" + _whole(match, count)


def _divide(match: re.Match[str]) -> str:
    type_, name, right = match["type"], match["name"], match["right"]
    if re.fullmatch(r"-?\d+", right):
        return _whole(match, "1" if int(right) == 0 else right)
    flags = f"<{type_[1:].split(' ')[0]} x i1>" if type_.startswith("<") else "i1"
    zero, one = _constant(type_, 0), _constant(type_, 1)
    is_zero, safe = _derived(name, "zero"), _derived(name, "safe")
    return (
        f"  {is_zero} = icmp eq {type_} {right}, {zero}\n"
        f"  {safe} = select {flags} {is_zero}, {type_} {one}, {type_} {right}\n"
        + _whole(match, safe)
    )


def _derived(name: str, word: str) -> str:
    """A name for what belongs to the value `name`."""
    return f'{name[:-1]}.{word}"' if name.endswith('"') else f"{name}.{word}"


def _constant(type_: str, number: int) -> str:
    if not type_.startswith("<"):
        return str(number)
    return f"splat ({type_.split(' x ')[1][:-1]} {number})"


def _saturate(match: re.Match[str], declared: dict[str, str]) -> str:
    source, target = match["source"], match["target"]
    callee = f"llvm.fpto{match['sign']}i.sat.{_suffix(target)}.{_suffix(source)}"
    declared[callee] = f"declare {target} @{callee}({source})"
    call = f"call {target} @{callee}({source} {match['value']})"
    return f"  {match['name']} = {call}{match['rest'] or ''}"


def _suffix(type_: str) -> str:
    if type_.startswith("<"):
        count, element = type_[1:-1].split(" x ")
        return f"v{count}{_SUFFIX.get(element, element)}"
    return _SUFFIX.get(type_, type_)
