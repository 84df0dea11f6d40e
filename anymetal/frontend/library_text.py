"""Metal files: which kernels a library has, and the `KernelSource` of each.

A helper process reads the files (library_contents.py). Its answers stay in the disk cache.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from anymetal.frontend.code_base import CodeBase
from anymetal.frontend.dialect import for_clang
from anymetal.frontend.library_wrapper import Constants, caller, function_constants
from anymetal.frontend.parameters import LibraryKernel, LibraryParameter
from anymetal.runtime import disk_cache, identity
from anymetal.source import LibrarySource, MathMode, Parameter

_READER = "anymetal.frontend.library_contents:read_contents"
_ASKED = re.compile(r"\bis_function_constant_defined\s*\(\s*(?:\w+\s*::\s*)*(\w+)")


@dataclass(frozen=True)
class Library:
    """Metal files whose kernels are known."""

    code: CodeBase  #: with the texts as they are compiled
    math_mode: MathMode
    kernels: dict[str, LibraryKernel]
    constants: dict[str, int]  #: function constants and their indices
    asked: frozenset[str]  #: constants whose absence the files ask about

    @property
    def file(self) -> str:
        """The name of the text in messages."""
        return self.code.file

    def source(
        self, kernel: LibraryKernel, constants: Constants, threadgroup: Mapping[int, int]
    ) -> LibrarySource:
        """One kernel, with values for the function constants and bytes of threadgroup memory."""
        return LibrarySource(
            name=kernel.name,
            entry=kernel.name,
            header=self.code.text,
            body="",
            parameters=tuple(
                Parameter(p.name, "input" if p.constant else "output", i, p.declaration)
                for i, p in enumerate(kernel.bound("buffer"))
            ),
            attributes=tuple(sorted({p.attribute for p in kernel.bound("attribute")})),
            template_parameters="",
            template_arguments="",
            math_mode=self.math_mode,
            file=self.file,
            before=function_constants(self.constants, constants) + for_clang(self.code.macros),
            after=caller(kernel, threadgroup),
            included=self.code.included,
            search=self.code.search,
            prelude=self.code.prelude,
        )


def read_library(code: CodeBase, math_mode: MathMode) -> Library:
    """Find the kernels of Metal files.

    Raises MetalCompileError for syntax errors and parameters that are none of a kernel,
    UnsupportedFeatureError for ray tracing data and the like.
    """
    headers = identity.included(code.text) if code.prelude == "mlx" else ""
    key = disk_cache.digest("library", identity.fingerprint(), headers, math_mode, repr(code))
    stored = disk_cache.get(key, ".json")
    if stored is not None:
        found = json.loads(stored.content)
    else:
        from anymetal.runtime import helpers

        found = helpers.compile(code.file, _READER, code, math_mode)
        disk_cache.put(key, ".json", json.dumps(found).encode(), f"contents of {code.file}")
    signatures = [tuple(LibraryParameter(**p) for p in one) for one in found["signatures"]]
    kernels = {
        name: LibraryKernel(name, scope, call, signatures[signature], tuple(constants))
        for name, scope, call, signature, constants in found["kernels"]
    }
    paths = (path for path, _ in code.included)
    included = tuple(zip(paths, found["included"], strict=True))
    compiled = code._replace(text=found["text"], included=included)
    asked = frozenset(name for text in code.texts for name in _ASKED.findall(text))
    return Library(compiled, math_mode, kernels, found["constants"], asked)
