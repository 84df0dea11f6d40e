"""The rules: their codes, names and severities. docs/lint.md has a section for each."""

from __future__ import annotations

from anymetal.findings.model import Rule, Severity


def _rule(code: str, name: str, severity: Severity, summary: str) -> Rule:
    return Rule(code, name, summary, severity, f"docs/lint.md#{code.lower()}-{name}")


RULES = {
    rule.code: rule
    for rule in (
        _rule(
            "AM101",
            "divergent-barrier",
            "error",
            "A barrier is in control flow that differs between the threads of a threadgroup.",
        ),
        _rule(
            "AM102",
            "barrier-after-return",
            "note",
            "Threads may have returned before a barrier.",
        ),
        _rule(
            "AM103",
            "barrier-without-memory",
            "error",
            "A barrier does not order the threadgroup memory that is shared across it.",
        ),
        _rule(
            "AM104",
            "overwritten-too-early",
            "error",
            "Threadgroup memory is written while other threads may still read it.",
        ),
        _rule(
            "AM105",
            "read-too-early",
            "error",
            "Threadgroup memory is read before other threads have certainly written it.",
        ),
        _rule(
            "AM106",
            "divergent-simd-function",
            "error",
            "A SIMD-group function needs lanes that control flow may have left out.",
        ),
        _rule(
            "AM201",
            "load-before-check",
            "warning",
            "An element is loaded before its index is checked.",
        ),
        _rule(
            "AM202",
            "output-not-written",
            "warning",
            "An output, or a part of it, is not written.",
        ),
        _rule("AM203", "unused-input", "warning", "An input is not used."),
        _rule("AM301", "does-not-compile", "error", "The kernel does not compile."),
        _rule("AM302", "unknown-name", "error", "A name does not exist in Metal."),
        _rule(
            "AM303",
            "ambiguous-call",
            "error",
            "A call mixes types so that Metal finds no best function.",
        ),
        _rule(
            "AM304",
            "float-constant-in-half",
            "warning",
            "A constant without suffix turns arithmetic in half into arithmetic in float.",
        ),
        _rule(
            "AM305",
            "address-space",
            "warning",
            "A pointer, reference or constant lacks the address space that Metal wants.",
        ),
        _rule(
            "AM306",
            "suspicious-text",
            "warning",
            "Clang finds a probable mistake.",
        ),
        _rule(
            "AM401",
            "grid-counts-threadgroups",
            "warning",
            "A grid counts threadgroups; MLX expects threads.",
        ),
        _rule(
            "AM402",
            "partial-simd-groups",
            "warning",
            "The size of a threadgroup is no multiple of 32.",
        ),
        _rule(
            "AM403",
            "kernel-made-in-call",
            "warning",
            "A kernel object is made anew in every call of a function.",
        ),
    )
}
