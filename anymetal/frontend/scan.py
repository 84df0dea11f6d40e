"""Which kernels a Metal file declares, which Clang cannot tell as C++ has no kernels.

Clang preprocesses the file first, so macros are gone. Kernels are recognised by their keyword at
namespace scope; only their parameter lists are read. Clang tells the types later
(frontend/library_text.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from anymetal.frontend.expanded import (
    SourceFile,
    Token,
    close_of,
    close_of_angle,
    spelled,
    split_at_commas,
)
from anymetal.frontend.numbers import Numbers, value_of
from anymetal.frontend.reach import Reach

#: Attributes whose argument is a number. (A parameter's `function_constant` has a name.)
_NUMBERED = frozenset({"buffer", "threadgroup"})


@dataclass(frozen=True)
class Attribute:
    """`name(arguments)` out of `[[…]]`."""

    name: Token
    arguments: tuple[Token, ...]

    def number(self, source: SourceFile) -> int:
        """The argument, which must be a number, or an expression of numbers."""
        try:
            return value_of([token.text for token in self.arguments])
        except ValueError:
            what = f"[[{self.name.text}({spelled(self.arguments)})]]"
            words = [token for token in self.arguments if token.is_word]
            source.fail(
                (words or [self.name])[0],
                f"{what}: AnyMetal understands only plain numbers and constants here",
            )

    def string(self, source: SourceFile) -> str:
        """The argument, one or more string literals."""
        parts = [token.text for token in self.arguments]
        if not parts or any(len(part) < 2 or part[0] != '"' for part in parts):
            source.fail(self.name, f"[[{self.name.text}(…)]] needs a string literal")
        return "".join(part[1:-1] for part in parts)


@dataclass(frozen=True)
class Declared:
    """A parameter as written."""

    name: Token
    words: tuple[Token, ...]  #: without attributes
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True)
class Function:
    """A kernel, or a template of kernels."""

    name: Token
    scope: str  #: the namespaces around it, "a::b"
    path: str  #: "a::b::f"
    host_name: str
    template: bool
    parameters: tuple[Declared, ...]


@dataclass(frozen=True)
class Instantiation:
    """`template [[host_name("…")]] …  f<…>`."""

    host_name: str
    name: Token
    scope: str  #: the namespaces around it
    call: str  #: as written: "f<float>"
    words: tuple[str, ...]  #: of the template's name and arguments
    function: Function


@dataclass(frozen=True)
class Constant:
    """A function constant."""

    name: str
    index: int


@dataclass
class Found:
    """What a file declares."""

    functions: dict[str, Function] = field(default_factory=dict)
    instantiations: list[Instantiation] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)
    reach: Reach = field(default_factory=Reach)
    #: Names in front of parentheses in what has a body: a kernel that is none of these is declared
    #: only.
    defined: set[str] = field(default_factory=set)


def scan(tokens: Sequence[Token], source: SourceFile) -> Found:
    """Kernels, their instantiations and function constants, in order.

    Raises MetalCompileError for brackets that do not match and attributes that make no sense.
    """
    return _Scanner(tokens, source).run()


class _Scanner:
    def __init__(self, tokens: Sequence[Token], source: SourceFile) -> None:
        self.tokens = tokens
        self.source = source
        self.found = Found()
        self.numbers = Numbers()
        self.scopes: list[tuple[str, Token]] = []  #: namespaces that are open, and their brackets

    def run(self) -> Found:
        position = 0
        while position < len(self.tokens):
            token = self.tokens[position]
            if token.text == "}":
                if not self.scopes:
                    self.source.fail(token, "extraneous closing brace ('}')")
                self.scopes.pop()
                position += 1
            elif token.text == "namespace" or (token.text == "inline" and self._at(position + 1)):
                position = self._namespace(position)
            elif token.text == "extern" and self._text(position + 2) == "{":
                self.scopes.append(("", self.tokens[position + 2]))
                position += 3
            else:
                position = self._declaration(position)
        if self.scopes:
            self.source.fail(self.scopes[-1][1], "this '{' is never closed")
        return self.found

    def _text(self, position: int) -> str:
        return self.tokens[position].text if position < len(self.tokens) else ""

    def _at(self, position: int) -> bool:
        return self._text(position) == "namespace"

    def _namespace(self, position: int) -> int:
        """`namespace a::b {` opens a scope; an alias ends with its semicolon."""
        names: list[str] = []
        while position < len(self.tokens):
            token = self.tokens[position]
            position += 1
            if token.text == ";":
                return position
            if token.text == "{":
                self.scopes.append(("::".join(names), token))
                return position
            if token.text == "[":
                position = close_of(self.tokens, position - 1, self.source) + 1
            elif token.is_word and token.text not in ("namespace", "inline"):
                names.append(token.text)
        return position

    def _declaration(self, start: int) -> int:
        """One declaration, from its first token to behind its last."""
        explicit = self._text(start) == "template" and self._text(start + 1) != "<"
        template = self._text(start) == "template" and not explicit
        attributes: list[Attribute] = []
        kernel = False
        words: list[Token] = []
        called: list[str] = []
        position = start
        while position < len(self.tokens):
            token = self.tokens[position]
            if token.text == "(" and _is_name(words):
                called.append(words[-1].text)
            if token.text == ";":
                position += 1
                break
            if token.text == "}":  # not ours: the end of a namespace, or one too many
                break
            if token.text == "[" and self._text(position + 1) == "[":
                end = close_of(self.tokens, position, self.source)
                new = _attributes(self.tokens[position + 2 : end - 1], self.source, self.numbers)
                attributes += new
                kernel = kernel or any(a.name.text == "kernel" for a in new)
                self._constants(words, new)
            elif token.text == "kernel":
                kernel, end = True, position
            elif token.text == "(" and kernel and not explicit and _is_name(words):
                end = close_of(self.tokens, position, self.source)
                self._function(words[-1], attributes, template, self.tokens[position + 1 : end])
                kernel = False
            elif token.text == "{":
                end = close_of(self.tokens, position, self.source)
                if _is_function(words):
                    self.found.defined.update(called)
                    position = end + 1
                    break
                words.append(token)
            elif token.text in ("(", "["):
                end = close_of(self.tokens, position, self.source)
                words += self.tokens[position : end + 1]
            elif token.text == "<" and words and words[-1].text == "template":
                end = close_of_angle(self.tokens, position, self.source)
            else:
                end = position
                words.append(token)
            position = end + 1
        if explicit:
            self._instantiation(attributes, words)
        else:
            self.found.reach.add(self.tokens[start:position], self.source)
            self.numbers.add(self.tokens[start:position])
        return position

    def _constants(self, words: list[Token], attributes: list[Attribute]) -> None:
        for attribute in attributes:
            if attribute.name.text == "function_constant" and words:
                index = self._index(attribute)
                self.found.constants.append(Constant(words[-1].text, index))

    def _index(self, attribute: Attribute) -> int:
        arguments = self.numbers.instead_of(attribute.arguments)
        return Attribute(attribute.name, tuple(arguments)).number(self.source)

    def _scope(self) -> str:
        return "::".join(name for name, _ in self.scopes if name)

    def _function(
        self, name: Token, attributes: list[Attribute], template: bool, tokens: Sequence[Token]
    ) -> None:
        scope = self._scope()
        path = f"{scope}::{name.text}".removeprefix("::")
        parts = split_at_commas(tokens, self.source)
        if not all(parts):
            self.source.fail(name, f"a parameter of '{name.text}' is empty")
        parameters = tuple(_parameter(part, self.source, self.numbers) for part in parts)
        if parameters and spelled(parameters[0].words) == "void":
            parameters = ()
        host_name = next((a.string(self.source) for a in attributes if _is_host(a)), path)
        self.found.functions[path] = Function(name, scope, path, host_name, template, parameters)

    def _instantiation(self, attributes: list[Attribute], words: list[Token]) -> None:
        """`decltype(f<…>) f<…>`, `type f<…>` or `void f<…>(…)` behind `template [[…]]`."""
        host = next((a for a in attributes if _is_host(a)), None)
        if host is None:
            return
        words = words[1:]
        if words and words[0].text == "decltype" and self._opens(words, 1):
            words = words[close_of(words, 1, self.source) + 1 :]
        elif words and words[0].text == "void":
            words = words[1:]
        start = end = 0
        while end < len(words) and (words[end].is_word or words[end].text == "::"):
            if end and words[end].is_word and words[end - 1].is_word:
                start = end  # what stands before is a type
            end += 1
        if end == 0:
            self.source.fail(host.name, "AnyMetal does not understand this instantiation")
        name = words[end - 1]
        written = "".join(token.text for token in words[start:end])
        arguments: Sequence[Token] = ()
        if end < len(words) and words[end].text == "<":
            arguments = words[end : close_of_angle(words, end, self.source) + 1]
            call = written + spelled(arguments)
        elif end < len(words) and words[end].text == "(":  # its arguments follow from these types
            arguments = words[end + 1 : close_of(words, end, self.source)]
            call = f"(*static_cast<void (*)({self._types(arguments)})>({written}))"
        else:
            call = written
        function = self._lookup(written)
        if function is None:
            self.source.fail(name, f"no kernel '{written}' is declared before this instantiation")
        self.found.instantiations.append(
            Instantiation(
                host.string(self.source),
                name,
                self._scope(),
                call,
                (name.text, *(token.text for token in arguments)),
                function,
            )
        )

    def _types(self, tokens: Sequence[Token]) -> str:
        """Parameters without their attributes."""
        parts = split_at_commas(tokens, self.source)
        return ", ".join(
            spelled(_parameter(part, self.source, self.numbers).words) for part in parts if part
        )

    def _opens(self, words: list[Token], position: int) -> bool:
        return position < len(words) and words[position].text == "("

    def _lookup(self, written: str) -> Function | None:
        """The kernel of this name, seen from the namespaces that are open."""
        written = written.removeprefix("::")
        scopes = self._scope().split("::")
        for depth in range(len(scopes), -1, -1):
            path = "::".join((*scopes[:depth], written)).removeprefix("::")
            if path in self.found.functions:
                return self.found.functions[path]
        # `using namespace` may have brought it here
        ends = [f for p, f in self.found.functions.items() if p.endswith(f"::{written}")]
        return ends[0] if len(ends) == 1 else None


def _is_host(attribute: Attribute) -> bool:
    return attribute.name.text == "host_name"


def _is_name(words: list[Token]) -> bool:
    return bool(words) and words[-1].is_word


def _is_function(words: list[Token]) -> bool:
    """Whether braces after these words are a body, which no semicolon follows."""
    heads = {"struct", "class", "union", "enum", "="}
    return not any(word.text in heads for word in words) or words[-1].text == ")"


def _attributes(tokens: Sequence[Token], source: SourceFile, numbers: Numbers) -> list[Attribute]:
    """What stands between `[[` and `]]`; a prefix such as `clang::` is no part of the name, and
    names of numbers are these."""
    attributes = []
    for part in split_at_commas(tokens, source):
        arguments: Sequence[Token] = ()
        for position, token in enumerate(part):
            if token.text == "(":
                arguments = part[position + 1 : close_of(part, position, source)]
                part = part[:position]
                break
        if part:
            name = part[-1]
            if name.text in _NUMBERED:
                arguments = numbers.instead_of(arguments)
            attributes.append(Attribute(name, tuple(arguments)))
    return attributes


def _parameter(tokens: Sequence[Token], source: SourceFile, numbers: Numbers) -> Declared:
    words: list[Token] = []
    attributes: list[Attribute] = []
    position = 0
    while position < len(tokens):
        if tokens[position].text == "[" and tokens[position + 1].text == "[":
            end = close_of(tokens, position, source)
            attributes += _attributes(tokens[position + 2 : end - 1], source, numbers)
            position = end + 1
        else:
            words.append(tokens[position])
            position += 1
    names = [word for word in words if word.is_word]
    if not names:
        source.fail(tokens[0], "AnyMetal does not understand this parameter")
    return Declared(names[-1], tuple(words), tuple(attributes))
