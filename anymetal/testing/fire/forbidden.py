"""What Metal has not and C++ has, put into kernels where it may stand; and what only looks like it.

Each row is a text with `¦` in front of the word that is wrong, and what the error says. `{n}` is a
number, so that names differ. Left out is what neither the specification says nor a Metal compiler
is known to refuse: `noexcept(…)`, `__int128`, variadic functions, `wchar_t`, derived classes,
`constant` variables of a function that are none, `static const`, a `constexpr` at program scope
without `constant` (about which `ANYMETAL_STRICT` warns).
"""

from __future__ import annotations

import random
from dataclasses import replace

from anymetal.frontend.metal_tokens import Token, closing, tokenize
from anymetal.testing.fire import corpus
from anymetal.testing.fire.trial import Refusal, Trial

_MARK = "¦"
#: A macro may hide both words; one of them is told.
_TRY = "'(?:try|catch)' is not supported"

#: Statements.
STATEMENTS = (
    ("¦goto end{n}; end{n}: ;", "'goto' is not supported"),
    ("again{n}: if (0) ¦goto again{n};", "'goto' is not supported"),
    ("¦try { } catch (...) { }", _TRY),
    ("if (0) ¦throw 1;", "'throw' is not supported"),
    ("int* p{n} = ¦new int;", "'new' is not supported"),
    ("auto p{n} = ¦new float[3];", "'new' is not supported"),
    ("int* p{n} = nullptr; ¦delete p{n};", "'delete' is not supported"),
    ("¦double d{n} = 1;", "'double' is not supported"),
    ("auto d{n} = ¦double(1);", "'double' is not supported"),
    ("auto d{n} = static_cast<¦double>(1);", "'double' is not supported"),
    ("¦long double d{n} = 1;", "'(?:long )?double' is not supported"),
    ("auto d{n} = ¦1.0L;", "'long double' is not supported"),
    ("float d{n} = ¦1e3l;", "'long double' is not supported"),
    ("¦long long d{n} = 1;", "'long long' is not supported"),
    ("unsigned ¦long long d{n} = 1;", "'long long' is not supported"),
    ("¦long unsigned long d{n} = 1;", "'long long' is not supported"),
    ("¦thread_local int s{n};", "'thread_local' is not supported"),
    ("¦__thread int s{n};", "'__thread' is not supported"),
    ("¦register int r{n} = 1;", "'register' is not supported"),
    ('¦asm("nop");', "'asm' is not supported"),
    ('¦__asm__ volatile("" ::: "memory");', "'__asm__' is not supported"),
    ("int b{n} = ¦dynamic_cast<thread int*>(&b{n}) != nullptr;", "'dynamic_cast' is not supported"),
    ("(void)¦typeid(int);", "'typeid' is not supported"),
    ("¦_BitInt(7) w{n} = 1;", "'_BitInt' is not supported"),
    ("¦__float128 w{n} = 1;", "'__float128' is not supported"),
    ("¦_Complex float w{n} = 1;", "'_Complex' is not supported"),
    ("static int ¦s{n} = 0;", "static variable 's{n}' must reside in constant"),
    ("static float ¦s{n}[3] = {1, 2, 3};", "static variable 's{n}' must reside in constant"),
    ("int n{n} = 3; n{n} += 1; float v{n}[¦n{n}]; v{n}[0] = 1;", "variable length array"),
    ("struct V{n} { ¦virtual void f() {} };", "'virtual' is not supported"),
    ("struct V{n} { ¦virtual ~V{n}() {} };", "'virtual' is not supported"),
    ("device float ¦d{n};", "cannot be in the device address space"),
    ("using D{n} = ¦double;", "'double' is not supported"),
    ("auto f{n} = [] { ¦goto end{n}; end{n}: ; };", "'goto' is not supported"),
    ("auto f{n} = [](auto v) { ¦throw v; };", "'throw' is not supported"),
    ("int m{n} = ¦std::min(1, 2);", "undeclared identifier 'std'|no member named 'min'"),
)

#: Statements of a kernel function alone.
KERNEL_STATEMENTS = (
    ("threadgroup float ¦t{n} = 1;", "cannot be initialized"),
    ("threadgroup float ¦t{n}[2] = {1, 2};", "cannot be initialized"),
    ("threadgroup int ¦t{n}{3};", "cannot be initialized"),
    ("¦return 1;", "should not return a value"),
)

#: Statements of a function that is no kernel.
HELPER_STATEMENTS = (
    ("threadgroup float ¦t{n};", "can only be declared in a kernel function"),
    ("threadgroup int ¦t{n}[4];", "can only be declared in a kernel function"),
)

#: Declarations at program scope.
DECLARATIONS = (
    ("int ¦g{n};", "program scope variable 'g{n}' must reside in constant"),
    ("static int ¦g{n} = 0;", "program scope variable 'g{n}' must reside in constant"),
    ("inline float ¦g{n} = 0;", "program scope variable 'g{n}' must reside in constant"),
    ("static float ¦g{n}[3] = {1, 2, 3};", "program scope variable 'g{n}' must reside in constant"),
    ("namespace { int ¦g{n} = 0; }", "program scope variable 'g{n}' must reside in constant"),
    ("namespace n{n} { float4 ¦g = 0; }", "program scope variable '(?:n{n}::)?g' must reside"),
    ("static metal::float4 ¦g{n};", "program scope variable 'g{n}' must reside in constant"),
    ("struct G{n} { int v; } ¦g{n};", "program scope variable 'g{n}' must reside in constant"),
    ("auto ¦g{n} = 1;", "program scope variable 'g{n}' must reside in constant"),
    ("struct G{n} { static int ¦n; };", "static variable 'n' must reside in constant"),
    ("struct G{n} { inline static float ¦n = 0; };", "static variable 'n' must reside in constant"),
    ("template <typename V> V ¦g{n} = V(0);", "program scope variable 'g{n}' must reside"),
    ("threadgroup int ¦g{n};", "address space"),
    ("struct V{n} { ¦virtual ~V{n}(); };", "'virtual' is not supported"),
    ("struct V{n} { ¦virtual int f() = 0; };", "'virtual' is not supported"),
    ("struct B{n} {}; struct D{n} : ¦virtual B{n} {};", "'virtual' is not supported"),
    ("inline ¦double f{n}() { return 1; }", "'double' is not supported"),
    ("inline float f{n}(¦double v) { return 1; }", "'double' is not supported"),
    ("template <typename V = ¦double> V f{n}() { return 1; }", "'double' is not supported"),
    ("typedef ¦long long L{n};", "'long long' is not supported"),
    ("inline int f{n}() ¦try { return 1; } catch (...) { return 2; }", _TRY),
    ("inline void f{n}() ¦throw() {}", "'throw' is not supported"),
    ('¦asm("nop");', "'asm' is not supported"),
    ("int ¦main() { return 0; }", "cannot be called 'main'"),
    ("¦#include <vector>", "'vector' file not found"),
    ("¦#include <cmath>", "'cmath' file not found"),
    ("¦#include <stdio.h>", "'stdio.h' file not found"),
    ("kernel ¦int k{n}() { return 1; }", "a kernel returns void"),
    (
        "[[kernel]] ¦float k{n}(device float* o [[buffer(0)]]) { return 1; }",
        "a kernel returns void",
    ),
    ("inline void* ¦operator new(size_t, int);", "'new' is not supported"),
)

#: What has such words, and is none of that.
ALLOWED_STATEMENTS = (
    "// goto end; double static asm typeid(",
    "/* try { throw new double; } catch (...) { } long long */",
    'constant char t{n}[] = "goto double static int long long";',
    "#if 0\ngoto end; double d; static int s; long long l;\n#endif",
    "#ifndef __METAL__\n#include <vector>\nstatic int s;\n#endif",
    "#define UNUSED{n} static int s = 0; long long d",
    "int double_{n} = 1, gotos{n} = 2, newer{n} = 3;",
    "static constexpr constant int s{n} = 3;",
    "long l{n} = 1; unsigned long m{n} = 2; const long int c{n} = 3;",
    "struct S{n} { long a; long b; int main; };",
    "thread long* p{n} = nullptr;",
    "auto d{n} = 1.0; float e{n} = 1e3f + 0x1.8p3 + 1l + 0xAL;",
    "int end{n} = sizeof(long) + sizeof(ulong);",
    "auto f{n} = [](float v) { return 2 * v; };",
    "constant float k{n}[2] = {1, 2};",
    "threadgroup float t{n}[4]; threadgroup float* p{n} = t{n};",
)
ALLOWED_DECLARATIONS = (
    "static inline int f{n}() { return 1; }",
    "static int f{n}(int a);\nstatic int f{n}(int a) { return a; }",
    "constant float g{n} = 1; static constant int h{n}[2] = {1, 2};",
    "constexpr constant int i{n} = 3;",
    "struct S{n} { static constexpr constant int n = 3; static int f() { return 1; } };",
    "struct S{n} { int main() { return 2; } };",
    "struct B{n} { int x; }; struct D{n} : B{n} { int y; };",
    "template <typename V> struct E{n} { V v; static V f(threadgroup V* p) { return *p; } };",
    "inline int f{n}(threadgroup float* p, device int* q) { return int(p[0]) + q[0]; }",
    "namespace n{n} { inline float f() { constexpr float t[2] = {1, 2}; return t[0]; } }",
    "#define MAKE{n}(T) static inline T f{n}##T(T v) { return v; }\nMAKE{n}(int) MAKE{n}(float)",
    "#define CONST{n} static constant\nCONST{n} int g{n} = 3;",
    "kernel void k{n}(device float* o) { threadgroup float t[4]; t[0] = o[0]; o[1] = t[0]; }",
    "template <typename V> [[kernel]] void k{n}(device V* o) { threadgroup V t[4]; t[0] = o[0]; }",
    "enum E{n} { a{n}, b{n} }; enum class F{n} : int { a };",
    "// int main() { static double d; }",
)

#: What stands around a statement in a helper function, and how the function is used in a kernel.
_HELPERS = (
    "inline void f{n}() {\n  %s\n}\n",
    "template <typename V> void f{n}(V v) {\n  %s\n}\n",
    "template <int N> int f{n}() {\n  if constexpr (N > 3) {\n    %s\n  }\n  return N;\n}\n",
    "struct S{n} {\n  void f() {\n    %s\n  }\n};\n",
    "template <typename V> struct S{n} {\n  V v;\n  void f() thread {\n    %s\n  }\n};\n",
    "namespace n{n} {\ninline int f(int v) {\n  while (v > 0) {\n    %s\n    --v;\n  }\n"
    "  return v;\n}\n}\n",
)


def generate(rng: random.Random) -> Trial:
    """A kernel with one of these in it."""
    trial, n = _kernel(rng), str(rng.randrange(100, 1000))
    how = rng.random()
    if how < 0.35:
        text, pattern = rng.choice(STATEMENTS + KERNEL_STATEMENTS)
        return _in_body(trial, rng, text, pattern, n)
    if how < 0.7:
        text, pattern = rng.choice(STATEMENTS + HELPER_STATEMENTS)
        text = rng.choice(_HELPERS).replace("%s", text)
        return _in_header(trial, rng, text, pattern, n)
    text, pattern = rng.choice(DECLARATIONS)
    return _in_header(trial, rng, text, pattern, n)


def hidden(rng: random.Random) -> Trial:
    """A kernel with one of these behind a macro."""
    trial, n = _kernel(rng), str(rng.randrange(100, 1000))
    text, pattern = rng.choice([row for row in STATEMENTS + DECLARATIONS if "#" not in row[0]])
    word = tokenize(text.partition(_MARK)[2])[0].text
    how = rng.random()
    if how < 0.4:
        macro, use = f"#define M{n} {text.replace(_MARK, '')}\n", f"{_MARK}M{n}"
    elif how < 0.7 and len(word) > 2 and word.isidentifier():
        cut = rng.randrange(1, len(word) - 1)
        macro = f"#define M{n}(a, b) a##b\n"
        use = text.replace(_MARK + word, f"{_MARK}M{n}({word[:cut]}, {word[cut:]})")
        pattern += "|stands for a word"
    else:
        macro = f"#define M{n}(...) __VA_ARGS__\n"
        use = f"{_MARK}M{n}({text.replace(_MARK, '')})"
    trial = trial.with_texts(trial.header + macro.replace("{n}", n), trial.body)
    defined = trial.header.count("\n")
    put = _in_header if text in dict(DECLARATIONS) else _in_body
    made = put(trial, rng, use, pattern, n)
    assert made.refusal
    lines = (*made.refusal.lines, defined)
    return replace(made, refusal=replace(made.refusal, part="", lines=lines))


def allowed(rng: random.Random) -> Trial:
    """A kernel with something that only looks forbidden."""
    trial, n = _kernel(rng), str(rng.randrange(100, 1000))
    if rng.random() < 0.5:
        made = _in_body(trial, rng, rng.choice(ALLOWED_STATEMENTS), "", n)
    else:
        made = _in_header(trial, rng, rng.choice(ALLOWED_DECLARATIONS), "", n)
    return replace(made, refusal=None, accepted=True)


def _kernel(rng: random.Random) -> Trial:
    """One without pragmas, which insist on standing first."""
    while "#pragma" in (trial := corpus.any_kernel(rng)).body:
        pass
    return trial


def _in_body(trial: Trial, rng: random.Random, text: str, pattern: str, n: str) -> Trial:
    at = rng.choice(_places(trial.body))
    # A label needs a statement behind it, and a line of a directive is all its own.
    body, line = _inserted(trial.body, at, f"\n{text}\n;".replace("{n}", n))
    refusal = Refusal(pattern.replace("{n}", n), "source", (line,))
    return replace(trial.with_texts(trial.header, body), refusal=refusal)


def _in_header(trial: Trial, rng: random.Random, text: str, pattern: str, n: str) -> Trial:
    front = rng.random() < 0.3 and "#define M" not in trial.header
    at = 0 if front else len(trial.header)
    header, line = _inserted(trial.header, at, f"\n{text}\n".replace("{n}", n))
    refusal = Refusal(pattern.replace("{n}", n), "header", (line,))
    return replace(trial.with_texts(header, trial.body), refusal=refusal)


def _inserted(text: str, at: int, new: str) -> tuple[str, int]:
    """The text with something new, and the line of the mark in that, which goes."""
    line = text.count("\n", 0, at) + new.partition(_MARK)[0].count("\n") + 1
    return text[:at] + new.replace(_MARK, "") + text[at:], line


def _places(body: str) -> list[int]:
    """Where a statement may stand and counts: at the beginning, and behind `;` and `{` of blocks
    that no `#if` leaves out."""
    tokens = tokenize(body)
    found, at, conditional = [0], 0, 0
    while at < len(tokens):
        text = tokens[at].text
        if tokens[at].kind == "directive":
            word = text.strip("# \t")
            conditional += word.startswith("if") - word.startswith("endif")
        if text in ("(", "[") or (text == "{" and not _opens_block(tokens, at)):
            at = closing(tokens, at)
        elif text in (";", "{") and not conditional and not _is_else_ahead(tokens, at):
            found.append(tokens[at].end)
        at += 1
    # Behind an unbraced head (`if (x) a;`) a statement is one, too, wherever the `;` is.
    return [place for place in found if not _in_directive(body, place)]


def _opens_block(tokens: list[Token], at: int) -> bool:
    return at > 0 and tokens[at - 1].text in (")", "else", "do") and "[" not in _head(tokens, at)


def _head(tokens: list[Token], at: int) -> list[str]:
    """The tokens of the statement that opens a brace: with `[` it may be a lambda."""
    start = at
    while start > 0 and tokens[start - 1].text not in (";", "{", "}"):
        start -= 1
    return [token.text for token in tokens[start:at]]


def _is_else_ahead(tokens: list[Token], at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1].text in ("else", "while")


def _in_directive(body: str, place: int) -> bool:
    line = body[body.rfind("\n", 0, place) + 1 : place]
    return line.lstrip().startswith("#") or body[:place].rstrip().endswith("\\")
