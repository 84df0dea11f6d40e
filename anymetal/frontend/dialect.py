"""The few words of Metal that Clang knows by another name, or not at all.

Where possible, each is replaced by one of the same length, so that lines and columns stay those of
the user; `as_written` undoes it in messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from anymetal.frontend import literals
from anymetal.frontend.definitions import definition_at, is_same_text
from anymetal.frontend.metal_tokens import (
    OF_CONSTANT,
    OF_THREADGROUP,
    closing,
    position,
    tokenize,
)
from anymetal.source import ATTRIBUTES, KernelSource, LibrarySource

#: `1.0H` is `1.0h`; suffixes without an underscore are reserved, so `1.0bf` becomes `1.0_b`.
_LITERAL = re.compile(r"(?<![\w.])((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(H|bf|BF)\b")
#: Contraction and reassociation are pragmas of Clang's own; a math mode is `float_control`.
_FP = re.compile(r"\bMETAL(?=[ \t]+fp[ \t]+(?:contract|reassociate)\b)")
_MATH_MODE = re.compile(r"\bMETAL[ \t]+fp[ \t]+math_mode[ \t]*\([ \t]*(safe|relaxed|fast)[ \t]*\)")
#: Address spaces behind the parameter list of a member function.
_MEMBER = re.compile(
    r"\)(?:\s*\b(?:const|volatile|device|thread|constant|threadgroup)\b)+(?=\s*(?:[{;=]|->|:(?!:)\s*\w+\s*[({]))"
)
#: The same of a constructor, where `constant` cannot mean const: that has initialisers, is made by
#: the compiler, or has the name of a type.
_CONSTRUCTOR = re.compile(
    r"\)\s*\bconstant\b(?=\s*(?::(?!:)\s*\w+\s*[({]|=\s*default\b))|"
    r"\b(?<!operator )(?P<type>\w+)\s*\((?P<parameters>[^(){};]*)\)\s*\bconstant\b(?=\s*[{;])"
)
#: The binding of a parameter, whose name is a macro of ours.
_BINDING = re.compile(r"\[\[\s*threadgroup\s*\((?:[^()\[\]]|\([^()]*\))*\)\s*\]\]")
#: On a variable, not on a parameter: there a comma follows, and not a number but a name is given.
_FUNCTION_CONSTANT = re.compile(
    r"\[\[\s*function_constant\s*\(((?:[^()]|\([^()]*\))*)\)\s*\]\](?=\s*;|(?<=\d\)\]\])\s*,)"
)
#: `uint3 gid [[thread_position_in_grid]];` outside of functions.
_BUILT_IN = re.compile(
    r"(?P<type>\bu(?:int|short)[23]?)\s+(?P<name>\w+)\s*\[\[\s*"
    rf"(?P<attribute>{'|'.join(ATTRIBUTES)})\s*\]\]\s*;"
)
_COMMENT = r"//[^\n]*(?=\n|\Z)|/\*(?:[^*]|\*(?!/))*\*/"
#: Zeros for an array of threadgroup memory: accepted, and without effect. (A word that stands
#: everywhere must not be followed to the end of the text each time.)
_ZEROS = re.compile(
    rf"(?P<declared>\bthreadgroup\b(?:[^][;{{}}()=*/]|\[[^][]*\]|{_COMMENT}){{0,400}}"
    r"\[[^][]*\]\s*)"
    r"(?P<zeros>=\s*\{\s*(?:0(?:\.0*)?[fFhHuUlL]*\s*)?\})"
)
#: The same word may end a directive, or be one of a comment: what follows is another declaration.
_ZEROS_OR_OTHERS = re.compile(
    rf"{_COMMENT}|^[ \t]*#(?P<directive>(?:[^\n\\]|\\.)*)|{_ZEROS.pattern}", re.M | re.S
)
#: What such inputs are called, by numbers: the text must not become longer.
_NAMES = tuple(ATTRIBUTES)
_NUMBERS = {name: number for number, name in enumerate(_NAMES)}
_BUILT_IN_TYPE = re.compile(r"\b__am_in<(?P<type>\w+),(?P<number>\d+)>")
_DECLARED_BUILT_IN = re.compile(rf"{_BUILT_IN_TYPE.pattern} (?P<name>\w+)\{{ *\}};")

#: What stands in front of the operand of an explicit cast between half and bfloat (language.h).
WIDE, ANY = "__am_wide=", "(__am_any)"
#: A component that a list of numbers leaves out, and how a union with vectors is copied.
ZERO, COPIED = ",__am_zero", "__am_copied"
#: What stands behind a shift or a division of constants, before the operator once more.
DEFINED = "__am_defined"
#: `static`, in front of a variable of a function that is constant.
STATIC = "__am_static "
#: Math modes as `float_control` has them, each in its own spelling.
_PRECISE = {"safe": "on", "relaxed": " off", "fast": "off"}
_READ = re.compile(r"\.(?:get|ref)_([xyzw]{1,4})\(\)")
_SIXTEEN_BITS = re.compile(r"\bstatic_cast<(?:bfloat|half|bfloat16_t|float16_t)>\(")
#: What the message of an error must not show.
_OVERWRITTEN: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"(?<=[\d.])_b\b"), "bf"),
    (re.compile(r"\b__am_[kK]\b"), "kernel"),
    (re.compile(OF_THREADGROUP), "threadgroup"),
    (re.compile(rf"{OF_CONSTANT}\b"), "constant"),
    (re.compile(r"\bthreadspace\b(?=\s*\()|(?<=attribute ')threadspace(?=')"), "threadgroup"),
    (re.compile(r"\bfloat_control\(precise,(on|off| off)\)"), lambda match: _as_math_mode(match)),
    (re.compile(re.escape(WIDE)), ""),
    (re.compile(re.escape(ANY)), ""),
    (re.compile(rf"{DEFINED}(?:<<|>>|[/%=])"), ""),
    (re.compile(STATIC), ""),
    (re.compile(ZERO), ""),
    (re.compile(rf"{COPIED}\(\w*\)"), ""),
    (_READ, r".\1"),
    (_DECLARED_BUILT_IN, lambda match: _as_built_in(match)),
    (_BUILT_IN_TYPE, r"\g<type>"),
    (re.compile(r"=__am_fc<(?:\((?=.*\)>)|)(.*?)\)?>\{\} *"), r"[[function_constant(\1)]]"),
)


def for_clang(text: str) -> str:
    """A header or body of the user as Clang can read it."""
    text = _FP.sub("clang", text)
    text = _MATH_MODE.sub(_float_control, text)
    text = _MEMBER.sub(lambda match: match[0].replace("threadgroup", OF_THREADGROUP), text)
    text = _constructed(text)
    text = _BINDING.sub(lambda match: _blank(match[0]), text)
    if "threadgroup" in text:
        text = _ZEROS_OR_OTHERS.sub(_without_zeros, text)
    text = _LITERAL.sub(lambda match: match[1] + ("h" if match[2] == "H" else "_b"), text)
    return literals.named(text)


def header_for_clang(text: str) -> str:
    """A text at program scope: `for_clang`, and variables that the launch gives values to."""
    return with_constants(_with_built_ins(for_clang(text)))


def shipped_for_clang(text: str) -> str:
    """A header of MLX's package."""
    text = _SIXTEEN_BITS.sub(lambda match: match[0] + WIDE, for_clang(text))
    return with_constants(without_repetitions(text))


def as_written(text: str) -> str:
    """A line, or the beginning of one, as the user wrote it."""
    for pattern, word in _OVERWRITTEN:
        text = pattern.sub(word, text)
    return literals.as_numbers(text)


def parts_as_written(source: KernelSource) -> dict[str, str]:
    """A kernel's parts as the user wrote them: in those of libraries other words stand in for
    Metal's."""
    library = isinstance(source, LibrarySource)
    return {part: as_written(text) if library else text for part, text in source.parts.items()}


def with_constants(text: str) -> str:
    """Function constants with an initialiser in the place of their attribute."""

    def constant(match: re.Match[str]) -> str:
        index = match[1].strip()
        index = index if index.isalnum() else f"({index})"
        lines = "\n" * (match[0].count("\n") - index.count("\n"))
        return f"=__am_fc<{index}>{{}}".ljust(len(match[0]) - len(lines)) + lines

    return _FUNCTION_CONSTANT.sub(constant, text)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _constructed(text: str) -> str:
    """Constructors of objects in constant memory, with a word that is not const for `constant`."""

    def constructor(match: re.Match[str]) -> str:
        name = match["type"]
        if name and not re.search(rf"\b(?:struct|class|union)\s+{name}\b", text):
            return match[0]  # a member function
        head, _, tail = match[0].rpartition("constant")
        return head + OF_CONSTANT + tail

    return _CONSTRUCTOR.sub(constructor, text) if "constant" in text else text


def _without_zeros(match: re.Match[str]) -> str:
    if match["declared"]:
        return match["declared"] + _blank(match["zeros"])
    return _ZEROS.sub(_without_zeros, match[0]) if match["directive"] else match[0]


def _float_control(match: re.Match[str]) -> str:
    return f"float_control(precise,{_PRECISE[match[1]]})".ljust(len(match[0]))


def _as_math_mode(match: re.Match[str]) -> str:
    mode = next(mode for mode, precise in _PRECISE.items() if precise == match[1])
    return f"METAL fp math_mode({mode})"


def _with_built_ins(text: str) -> str:
    """Built-in inputs at program scope become objects that give the thread's position when read."""
    if "[[" not in text or not _BUILT_IN.search(text):
        return text
    outside = _program_scope(text)

    def declared(match: re.Match[str]) -> str:
        if match.start() not in outside:
            return match[0]
        type_ = f"__am_in<{match['type']},{_NUMBERS[match['attribute']]}>"
        room = " " * (len(match[0]) - len(f"{type_} {match['name']}{{}};"))
        return f"{type_} {match['name']}{{{room}}};" + "\n" * match[0].count("\n")

    return _BUILT_IN.sub(declared, text)


def built_ins(texts: Iterable[str]) -> str:
    """What stands behind the numbers of built-in inputs in these texts."""
    numbers = {int(match["number"]) for text in texts for match in _BUILT_IN_TYPE.finditer(text)}
    return "".join(
        f"template <> struct __am::at<{number}> {{ "
        f"static auto value() {{ return __am_attr_{_NAMES[number]}(); }} }};\n"
        for number in sorted(numbers)
    )


def _as_built_in(match: re.Match[str]) -> str:
    attribute = f"[[{_NAMES[int(match['number'])]}]]"
    declared = f"{match['type']} {match['name']}"
    return f"{declared}{' ' * (len(match[0]) - len(declared + attribute) - 1)}{attribute};"


def _program_scope(text: str) -> set[int]:
    """Offsets of the tokens outside of all braces but those of namespaces, and of parentheses."""
    tokens, found, index, namespace = tokenize(text), set(), 0, False
    while index < len(tokens):
        token = tokens[index]
        if token.text in ("(", "[") or (token.text == "{" and not namespace):
            index = closing(tokens, index)
        elif token.text in (";", "{", "}"):
            namespace = False
        else:
            namespace |= token.text == "namespace"
            found.add(token.start)
        index += 1
    return found


def without_repetitions(text: str) -> str:
    """The text without conversion functions that repeat one for another address space.

    `operator bool() const device { … }` after `operator bool() thread { … }`: for us the same.
    """
    places: list[int] = [m.start() for m in re.finditer(r"\boperator bool\(\)", text)]
    blank: list[tuple[int, int]] = []
    previous = None
    for place in places:
        current = definition_at(text, *position(text, place))
        if previous and current and is_same_text(previous, current):
            blank.append(current.span)
        else:
            previous = current
    for start, end in reversed(blank):
        text = text[:start] + _blank(text[start:end]) + text[end:]
    return text
