"""Fuses products and sums of vectors, `a * b + c`, where Metal does.

Metal's vectors are types of its compiler, which makes one operation, rounded once, of a product and
a sum in one expression, as it does for scalars. Ours are a class with functions for operators
(include/anymetal/vec_operators.h), of which Clang sees one at a time. In its raw text, before they
are inlined, the product of an expression is a temporary that is handed to the sum:

    call void @*(ptr sret %ref.tmp, ptr %a, ptr %b)        the operands are kept where the product
    call void @+(ptr sret %out, ptr %ref.tmp, ptr %c)      stood, `llvm.fmuladd` where the sum did

A product that has a name is a variable, not a temporary, and is not fused: that, too, is as with
scalars. So are the rules: of two products the left one is fused, and the other one is rounded.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from anymetal.source import KernelSource

_FUNCTION = re.compile(r"^define .*?^}$", re.M | re.S)
#: The operators `*`, `+`, `-`, `+=` and `-=` of vectors, as they are mangled.
_OPERATOR = re.compile(r"^define .*@(_ZN4__am6layout(ml|pl|mi|pL|mI)\w+)\(")
#: What an operator of plain floats does; with fast-math flags LLVM fuses by itself.
_FLOATS = re.compile(r"= f(?:mul|add|sub) (<\d+ x (?:half|bfloat|float)>) ")
_NAME = r"[%@](?:[\w.$-]+|\"[^\"]*\")"
_RESULT = rf"ptr [^%]*sret\([^)]*\) align \d+ (?P<result>{_NAME}), "
_LEFT = rf"ptr noundef align (?P<align>\d+) dereferenceable\(\d+\) (?P<left>{_NAME}), "
_RIGHT = rf"ptr noundef align \d+ dereferenceable\(\d+\) (?P<right>{_NAME})"
_TO = rf"(?P<to>{_NAME}) = call [^@]*"
_CALL = re.compile(
    rf"^  (?:call void|{_TO}) @(?P<callee>\w+)\((?:{_RESULT})?{_LEFT}{_RIGHT}\)"
    r"(?: #\d+)?(?P<rest>.*)$",  # attributes of a call, which some targets have, stay behind
    re.M,
)
#: A temporary of Clang's: no name in the user's text has a point.
_TEMPORARY = re.compile(r"%ref\.tmp\d*(?![\w.$-])")
_ALIVE = re.compile(r"^ .*(?: = alloca .*|@llvm\.lifetime\..*)\n", re.M)
_OFF = re.compile(r"\bfp\s+contract\s*\(\s*off\b")
_SUFFIX = {"half": "f16", "bfloat": "bf16", "float": "f32"}


class _Operator(NamedTuple):
    kind: str  #: as it is mangled
    type: str  #: LLVM's vector


def contracted(source: KernelSource, ir: str) -> str:
    """Clang's raw text with fused operations. Nowhere, if the kernel's text turns them off
    somewhere: operators do not know for whom they are called."""
    if source.math_mode != "safe" or any(map(_OFF.search, source.parts.values())):
        return ir
    operators = _operators(ir) if "@_ZN4__am6layoutml" in ir else {}
    declared: set[str] = set()
    text = _FUNCTION.sub(lambda match: _Fusion(operators, declared)(match[0]), ir)
    return text + "".join(f"{line}\n" for line in sorted(declared) if _name(line) not in ir)


def _operators(ir: str) -> dict[str, _Operator]:
    """The operators of vectors of floats, by their mangled names."""
    found: dict[str, _Operator] = {}
    assigning: list[tuple[str, str]] = []
    for function in _FUNCTION.finditer(ir):
        if not (head := _OPERATOR.match(function[0])):
            continue
        name, kind = head.groups()
        if kind in ("pL", "mI"):  # these call the operator without `=`, which has the type
            assigning += [
                (name, call) for call in re.findall(r"@(_ZN4__am6layout\w+)\(", function[0])
            ]
        elif floats := _FLOATS.search(function[0]):
            found[name] = _Operator(kind, floats[1])
    for name, called in assigning:
        if called in found:
            found[name] = _Operator(found[called].kind, found[called].type)
    return found


def _name(declaration: str) -> str:
    return declaration[declaration.index("@") : declaration.index("(") + 1]


class _Fusion:
    """The fused operations of one function."""

    def __init__(self, operators: dict[str, _Operator], declared: set[str]) -> None:
        self.operators = operators
        self.declared = declared
        self.allocated: list[str] = []

    def __call__(self, text: str) -> str:
        calls = [m for m in _CALL.finditer(text) if m["callee"] in self.operators]
        products = {
            call["result"]: call
            for call in calls
            if self.operators[call["callee"]].kind == "ml" and _TEMPORARY.fullmatch(call["result"])
        }
        if not products or len(products) == len(calls):
            return text
        uses: dict[str, int] = {}
        for name in _TEMPORARY.findall(_ALIVE.sub("", text)):
            uses[name] = uses.get(name, 0) + 1
        edits: dict[str, str] = {}  # by the call that is replaced
        for call in calls:
            if self.operators[call["callee"]].kind == "ml":
                continue
            used = [call["right"]] if call["to"] else [call["left"], call["right"]]
            fused = next((p for p in used if p in products and uses[p] == 2), None)
            if fused:
                edits[products[fused][0]] = self._kept(products[fused])
                edits[call[0]] = self._fused(call, fused)
        if not edits:
            return text
        text = _CALL.sub(lambda call: edits.get(call[0], call[0]), text)
        entry = text.index("\nentry:\n") + len("\nentry:\n")
        return text[:entry] + "".join(self.allocated) + text[entry:]

    def _kept(self, product: re.Match[str]) -> str:
        """The operands of a product, copied where it is computed: they may change later."""
        type_, name, align = self._type(product), product["result"], product["align"]
        self.allocated += [
            f"  {name}.{side} = alloca {type_}, align {align}\n" for side in ("left", "right")
        ]
        rest = product["rest"]
        lines = []
        for side in ("left", "right"):
            now, kept = f"{name}.{side}.now", f"{name}.{side}"
            lines += [
                f"  {now} = load {type_}, ptr {product[side]}, align {align}{rest}",
                f"  store {type_} {now}, ptr {kept}, align {align}{rest}",
            ]
        return "\n".join(lines)

    def _fused(self, call: re.Match[str], product: str) -> str:
        kind, type_ = self.operators[call["callee"]]
        align, rest, is_left = call["align"], call["rest"], call["left"] == product
        count, element = type_[1:-1].split(" x ")
        callee = f"llvm.fmuladd.v{count}{_SUFFIX[element]}"
        self.declared.add(f"declare {type_} @{callee}({type_}, {type_}, {type_})")
        other = call["right"] if is_left else call["left"]
        left, right, addend = (f"{product}.{part}.then" for part in ("left", "right", "addend"))
        lines = [
            f"{left} = load {type_}, ptr {product}.left, align {align}",
            f"{right} = load {type_}, ptr {product}.right, align {align}",
            f"{addend} = load {type_}, ptr {other}, align {align}",
        ]
        if kind == "mi":  # a * b - c, c - a * b
            negated = addend if is_left else left
            lines.append(f"{negated}.negated = fneg {type_} {negated}")
            addend, left = (f"{n}.negated" if n == negated else n for n in (addend, left))
        arguments = ", ".join(f"{type_} {value}" for value in (left, right, addend))
        to = call["result"] or call["left"]
        lines += [
            f"{product}.fused = call {type_} @{callee}({arguments})",
            f"store {type_} {product}.fused, ptr {to}, align {align}",
        ]
        if call["to"]:
            lines.append(f"{call['to']} = getelementptr i8, ptr {to}, i64 0")
        return "\n".join(f"  {line}{rest}" for line in lines)

    def _type(self, call: re.Match[str]) -> str:
        return self.operators[call["callee"]].type
