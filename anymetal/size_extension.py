"""`<input>_size`: the element count of an input, which one guide promises and MLX does not have.

Kernels in circulation write both `*inp0_size` (a pointer) and `inp0_size` (a number). Where a body
uses such a name and nothing declares it, the generated function takes one more buffer with the
count, and opens with a constant of class `__am_size_of` that answers to both spellings.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

#: The class behind the name. Valid Metal and valid C++17; needs nothing but `uint`.
SIZE_CLASS = (
    "struct __am_size_of {\n"
    "  uint value;\n"
    "  operator uint() const { return value; }\n"
    "  uint operator*() const { return value; }\n"
    "  uint operator[](int) const { return value; }\n"
    "};\n"
)

_TOKEN = re.compile(
    r"""//[^\n]* | /\*.*?\*/                                   # comments
      | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*'                  # strings
      | (?P<token> [A-Za-z_]\w* | [0-9][\w.]*                  # names, numbers
        | <<= | >>= | -> | :: | \+\+ | -- | [-+*/%&|^=!<>]=    # operators that matter below
        | \S)""",
    re.VERBOSE | re.DOTALL,
)
_ASSIGNMENTS = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="])
_STEPS = frozenset(["++", "--"])
_BEFORE_EXPRESSION = frozenset(["return", "else", "case", "do", "sizeof", "and", "or", "not"])
_BEFORE_TYPE = frozenset(
    ["", ";", "}", "const", "constexpr", "static", "device", "constant", "thread", "threadgroup"]
)
_TRANSPARENT_SCOPES = frozenset(["namespace", "enum", "extern"])


def sized_inputs(
    input_names: tuple[str, ...], taken: Container[str], body: str, header: str
) -> tuple[int, ...]:
    """Indices of the inputs whose `<input>_size` the kernel must be given.

    `taken` are names that mean something else already: outputs, other inputs, attributes.
    """
    candidates = [
        (index, variable)
        for index, name in enumerate(input_names)
        if (variable := f"{name}_size") in body
        and variable.isidentifier()
        and variable not in taken
        and variable not in input_names
    ]
    if not candidates:
        return ()
    body_tokens = _tokens(body)
    header_tokens = _tokens(header)
    return tuple(
        index
        for index, variable in candidates
        if _uses(body_tokens, variable)
        and not any(_declares(body_tokens, at) for at in _places(body_tokens, variable))
        and not any(
            _declares(header_tokens, at) or header_tokens[at + 1] in (",", "}")  # in an enum
            for at in _global_places(header_tokens, variable)
        )
    )


def size_variable(input_name: str) -> str:
    """The name in the user's body."""
    return f"{input_name}_size"


def size_buffer(variable: str) -> str:
    """The buffer parameter behind that name: one `uint` in constant memory."""
    return f"__am_{variable}_buffer"


def size_definition(variable: str) -> str:
    """The statement that the generated function opens with."""
    return f"const __am_size_of {variable}{{*{size_buffer(variable)}}};"


def _tokens(text: str) -> list[str]:
    """The C++ tokens of a text, padded so that neighbours can be looked at without care."""
    tokens = [match["token"] for match in _TOKEN.finditer(text) if match["token"]]
    return ["", "", "", *tokens, ""]


def _places(tokens: list[str], name: str) -> Iterator[int]:
    return (at for at, token in enumerate(tokens) if token == name)


def _global_places(tokens: list[str], name: str) -> Iterator[int]:
    """Where a header names it outside of functions, classes and parameter lists."""
    depth = 0
    openers: list[int] = []
    statement = 0
    for at, token in enumerate(tokens):
        if token == name and depth == 0:
            yield at
        elif token in ("(", "{"):
            transparent = not _TRANSPARENT_SCOPES.isdisjoint(tokens[statement:at])
            openers.append(0 if transparent and token == "{" else 1)
            depth += openers[-1]
        elif token in (")", "}") and openers:
            depth -= openers.pop()
        if token in (";", "{", "}"):
            statement = at + 1


def _uses(tokens: list[str], name: str) -> bool:
    """Whether the name stands alone somewhere, not as a member `a.name` or `space::name`."""
    return any(tokens[at - 1] not in (".", "->", "::") for at in _places(tokens, name))


def _declares(tokens: list[str], at: int) -> bool:
    """Whether the name at this place is the kernel's own: declared, defined or assigned here."""
    before, after = tokens[at - 1], tokens[at + 1]
    if before in (".", "->", "::"):
        return False
    if after in _ASSIGNMENTS or after in _STEPS or before in _STEPS:
        return True
    if before.isidentifier():  # `int name`, `#define name`, but not `return name`
        macro_body = tokens[at - 3 : at - 1] == ["#", "define"]
        return before not in _BEFORE_EXPRESSION and not macro_body
    if before in ("*", "&"):  # `device int* name`, but not `a * name`
        typed = tokens[at - 2].isidentifier() and tokens[at - 3] in _BEFORE_TYPE
        return typed and after in (";", ",", ")", "[")
    if before == ">":  # `vec<int, 2> name(3)`, but not `a > name`
        return after in ("(", "{")
    return before == "," and after == ";"  # `int a = 1, name;`
