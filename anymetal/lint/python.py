"""Kernels of a Python program, found in its syntax tree: `metal_kernel(...)` and its calls."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import Any

from anymetal.findings.model import Place
from anymetal.lint.kernels import DTYPE, UNKNOWN_EXTENT, Extent, Kernel, Launch, Unchecked
from anymetal.lint.text import File, Text
from anymetal.lint.values import UNKNOWN, Dotted, Module

_PARAMETERS = (
    "name input_names output_names source header ensure_row_contiguous atomic_outputs "
    "compile_options"
).split()
_MOST_LINKS = 20


def parse(file: File) -> Module:
    """Raises SyntaxError (with a line) if the file is no Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escapes, which are not our business
        try:
            return Module(file, ast.parse(file.text, file.name))
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or type(error).__name__) from error


def kernels(module: Module) -> tuple[list[Kernel], list[Unchecked]]:
    """The kernels whose texts are known, and those that only running the program would tell."""
    return _Finder(module).run()


class _Finder:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.calls = [n for n in ast.walk(module.tree) if isinstance(n, ast.Call)]
        self.calls.sort(key=lambda node: (node.lineno, node.col_offset))
        self.attributes: dict[str, list[ast.expr]] = {}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Attribute):
                        self.attributes.setdefault(target.attr, []).append(node.value)

    def run(self) -> tuple[list[Kernel], list[Unchecked]]:
        found: dict[ast.Call, Kernel] = {}
        unchecked: list[Unchecked] = []
        for call in self.calls:
            if self._makes_kernel(call):
                kernel = self._kernel(call)
                if isinstance(kernel, Kernel):
                    found[call] = kernel
                else:
                    unchecked.append(kernel)
        for call in self.calls:
            made = self._made_by(call.func)
            if made in found:
                found[made].launches.append(self._launch(call))
        return list(found.values()), unchecked

    # -- definitions ----------------------------------------------------------------------

    def _makes_kernel(self, call: ast.Call) -> bool:
        name = self.module.dotted(call.func)
        if name in ("mlx.core.fast.metal_kernel", "anymetal.metal_kernel"):
            return True
        words = {keyword.arg for keyword in call.keywords}
        return name.endswith(".metal_kernel") and "source" in words and "input_names" in words

    def _kernel(self, call: ast.Call) -> Kernel | Unchecked:
        given: dict[str, ast.expr] = dict(zip(_PARAMETERS, call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        value = {name: self.module.value(node) for name, node in given.items()}
        name, body = value.get("name"), value.get("source")
        header = value.get("header", Text("", ()))
        inputs, outputs = _names(value.get("input_names")), _names(value.get("output_names"))
        shown = name.value if isinstance(name, Text) else "?"
        options = value.get("compile_options")
        for what, known in (
            ("its source is", isinstance(body, Text)),
            ("its header is", isinstance(header, Text)),
            ("names of its inputs and outputs are", inputs is not None and outputs is not None),
        ):
            if not known:
                reason = f"{what} not known without running the program"
                return Unchecked(self._place(call), f"kernel {shown!r}: {reason}")
        assert isinstance(body, Text) and isinstance(header, Text)
        return Kernel(
            shown if isinstance(name, Text) else "kernel",
            self.module.file,
            body,
            header,
            inputs or (),
            outputs or (),
            atomic_outputs=value.get("atomic_outputs") is True,
            math_mode="safe" if options is None else self._math_mode(given["compile_options"]),
            node=call,
        )

    def _math_mode(self, node: ast.expr) -> str:
        if isinstance(node, ast.Dict) and len(node.values) == 1:
            mode = self.module.text(node.values[0])
            if mode is not None and mode.value in ("safe", "relaxed", "fast"):
                return mode.value
        return "safe"

    def _place(self, node: ast.expr) -> Place:
        line, column = self.module.file.position(self.module.offset(node))
        return Place(self.module.file.name, line, column, self.module.file.line(line))

    # -- calls ----------------------------------------------------------------------------

    def _made_by(self, node: ast.AST | None) -> ast.Call | None:
        """The call of metal_kernel that made what an expression stands for."""
        for _ in range(_MOST_LINKS):
            if isinstance(node, ast.Name):
                bound = self.module.binding(node)
                node = bound if bound is not node else None
            elif isinstance(node, ast.Attribute):
                values = self.attributes.get(node.attr, [])
                node = values[0] if len(values) == 1 else None
            elif isinstance(node, ast.IfExp):
                node = node.orelse if isinstance(node.body, ast.Constant) else node.body
            elif isinstance(node, ast.Call) and not self._makes_kernel(node):
                node = self._returned(node.func)
            else:
                break
        return node if isinstance(node, ast.Call) and self._makes_kernel(node) else None

    def _returned(self, function: ast.expr) -> ast.AST | None:
        """What a function of the program returns, if it has one `return` with a value."""
        bound = self.module.binding(function) if isinstance(function, ast.Name) else None
        if not isinstance(bound, ast.FunctionDef):
            return None
        values = [n.value for n in ast.walk(bound) if isinstance(n, ast.Return) and n.value]
        return values[0] if len(values) == 1 else None

    def _launch(self, call: ast.Call) -> Launch:
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        value = {name: self.module.value(node) for name, node in given.items()}
        dtypes = value.get("output_dtypes")
        inputs = value.get("inputs")
        return Launch(
            _extent(value.get("grid")),
            _extent(value.get("threadgroup")),
            tuple(self._template(given.get("template"))),
            tuple(map(_dtype, dtypes)) if isinstance(dtypes, tuple) else (),
            None in given or value.get("init_value") is not None,
            tuple(map(_number, inputs)) if isinstance(inputs, tuple) else (),
            None in given or self._pairs(given.get("template")) is None,
            call,
        )

    def _template(self, node: ast.expr | None) -> Iterator[tuple[str, Any]]:
        """Names and values of template arguments. Of a value that is not known, `DTYPE` says that
        it is a dtype, None that it may be anything."""
        for name_node, value_node in self._pairs(node) or ():
            name, value = self.module.text(name_node), self.module.value(value_node)
            if name is not None:
                known = value if isinstance(value, (bool, int)) else _dtype(value)
                yield name.value, known if known is not None else _kind(value_node)

    def _pairs(self, node: ast.expr | None) -> list[tuple[ast.expr, ast.expr]] | None:
        """The pairs of a list of template arguments; None if there may be others."""
        if isinstance(node, ast.Name):
            bound = self.module.binding(node)
            node = bound if isinstance(bound, ast.expr) else node
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return []
        if not isinstance(node, (ast.List, ast.Tuple)):
            return None
        pairs: list[tuple[ast.expr, ast.expr]] = []
        for one in node.elts:
            if isinstance(one, (ast.Tuple, ast.List)) and len(one.elts) == 2:
                pairs.append((one.elts[0], one.elts[1]))
                continue
            inner = self._pairs(one.value) if isinstance(one, ast.Starred) else None
            if inner is None:
                return None
            pairs += inner
        return pairs


def _kind(node: ast.expr) -> str | None:
    """Whether an expression must be a dtype: `x.dtype`, `dtype`."""
    word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return DTYPE if "dtype" in word else None


def _names(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, tuple) or not all(isinstance(one, Text) for one in value):
        return None
    return tuple(one.value for one in value)


def _extent(value: object) -> Extent:
    if not isinstance(value, tuple) or len(value) != 3:
        return UNKNOWN_EXTENT
    x, y, z = (one if isinstance(one, int) else None for one in value)
    return x, y, z


def _dtype(value: object) -> str | None:
    """The name of one of MLX's dtypes."""
    if isinstance(value, Dotted) and value.path.startswith("mlx.core."):
        return value.path.removeprefix("mlx.core.")
    return None


def _number(value: object) -> object:
    return value if value is not UNKNOWN and isinstance(value, (bool, int, float)) else None
