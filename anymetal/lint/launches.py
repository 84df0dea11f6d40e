"""Rules about the Python side: grids, threadgroups, and where kernel objects are made."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from anymetal.findings.model import Finding
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.lint.kernels import Kernel, Launch
from anymetal.lint.look import finding
from anymetal.lint.values import Function, Module

_CACHES = re.compile(r"cache|memoi[sz]e|once", re.I)
_CEILING = frozenset(("ceil", "cdiv", "ceildiv", "ceil_div", "div_up", "divup"))
_AXES = "xyz"


def check(kernel: Kernel, module: Module) -> Iterator[Finding]:
    """AM401, AM402, AM403."""
    for launch in kernel.launches:
        yield from _counts_threadgroups(kernel, launch, module)
        yield from _partial_simd_groups(kernel, launch)
    yield from _made_in_call(kernel, module)


# -- AM401 ------------------------------------------------------------------------------------


def _counts_threadgroups(kernel: Kernel, launch: Launch, module: Module) -> Iterator[Finding]:
    grid, group = _axes(launch, "grid", module), _axes(launch, "threadgroup", module)
    for axis, (threads, size) in enumerate(zip(grid, group, strict=False)):
        divided = _divisor(threads, module)
        if divided is None or module.value(size) == 1:
            continue
        if _same(divided, size, module):
            shown = ast.unparse(threads)
            yield finding(
                kernel,
                "AM401",
                kernel.at_call(threads),
                f"this grid counts threadgroups in {_AXES[axis]}: MLX launches `{shown}` threads "
                "there",
                kernel.at_call(size, "it was divided by the size of the threadgroup"),
                hint="pass the number of threads, which need not be a multiple of the threadgroup",
            )


def _axes(launch: Launch, name: str, module: Module) -> list[ast.expr]:
    assert launch.node is not None
    for keyword in launch.node.keywords:
        if keyword.arg == name:
            node = _resolved(keyword.value, module)
            return list(node.elts) if isinstance(node, (ast.Tuple, ast.List)) else []
    return []


def _resolved(node: ast.expr, module: Module) -> ast.expr:
    """The expression that a name stands for."""
    for _ in range(5):
        bound = module.binding(node) if isinstance(node, ast.Name) else None
        if not isinstance(bound, ast.expr) or bound is node:
            break
        node = bound
    return node


def _divisor(node: ast.expr, module: Module) -> ast.expr | None:
    """What an expression divides by, if it is a quotient and nothing else."""
    node = _resolved(node, module)
    if isinstance(node, ast.UnaryOp):  # -(-n // size)
        node = node.operand
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Div)):
        return node.right
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else name
        if name in _CEILING and len(node.args) == 2:
            return node.args[1]
        if name in ("ceil", "int") and len(node.args) == 1:
            return _divisor(node.args[0], module)
    return None


def _same(one: ast.expr, other: ast.expr, module: Module) -> bool:
    """Whether a grid is divided by the size of a threadgroup, and not by a number that happens to
    be equal, such as the rows that each thread has to do."""
    first, second = module.value(one), module.value(other)
    if isinstance(first, int) and first == second:
        return first >= 2 * SIMD_GROUP or ast.dump(one) == ast.dump(other)
    return ast.dump(one) == ast.dump(other)


# -- AM402 ------------------------------------------------------------------------------------


def _partial_simd_groups(kernel: Kernel, launch: Launch) -> Iterator[Finding]:
    """Only where SIMD-groups matter: the kernel asks for them, or for barriers."""
    sizes = [size for size in launch.threadgroup if size is not None]
    if len(sizes) < 3 or launch.node is None:
        return
    threads = sizes[0] * sizes[1] * sizes[2]
    small = all(g is not None and t >= g for g, t in zip(launch.grid, sizes, strict=True))
    text = kernel.body.value + kernel.header.value
    if threads % SIMD_GROUP == 0 or threads <= 0 or small or not re.search(r"\bsimd", text):
        return
    at = next(k.value for k in launch.node.keywords if k.arg == "threadgroup")
    yield finding(
        kernel,
        "AM402",
        kernel.at_call(at),
        f"a threadgroup of {threads} threads is no multiple of {SIMD_GROUP}: its last SIMD-group "
        f"has {threads % SIMD_GROUP} lanes, and this kernel uses SIMD-groups",
        hint=f"use {-(-threads // SIMD_GROUP) * SIMD_GROUP} threads",
    )


# -- AM403 ------------------------------------------------------------------------------------


def _made_in_call(kernel: Kernel, module: Module) -> Iterator[Finding]:
    """The kernel is made and called in one function, and nothing keeps it."""
    node = kernel.node
    assert node is not None
    around = next(module.functions_around(node), None)
    if around is None or isinstance(around, ast.Lambda) or around.name == "main":
        return
    functions = list(module.functions_around(node))
    if any(_is_cached(function) or _is_test(function) for function in functions):
        return
    if not any(around in module.functions_around(one.node) for one in kernel.launches if one.node):
        return
    if _is_kept(node, module):
        return
    yield finding(
        kernel,
        "AM403",
        kernel.at_call(node),
        f"every call of {around.name}() makes this kernel object anew",
        hint="make it once, at module level or in a function with functools.cache",
    )


def _is_cached(function: Function) -> bool:
    decorators = getattr(function, "decorator_list", [])
    return any(_CACHES.search(ast.unparse(decorator)) for decorator in decorators)


def _is_test(function: Function) -> bool:
    return getattr(function, "name", "").startswith("test")


def _is_kept(node: ast.Call, module: Module) -> bool:
    """Whether the kernel goes into an attribute, a dictionary or a global variable."""
    parent = module.parent.get(node)
    while isinstance(parent, (ast.IfExp, ast.NamedExpr)):
        parent = module.parent.get(parent)
    if not isinstance(parent, ast.Assign):
        return not (isinstance(parent, ast.Call) and parent.func is node)
    names = [target for target in parent.targets if isinstance(target, ast.Name)]
    if len(names) != len(parent.targets):
        return True
    return any(name.id in module.scope_of[name].elsewhere for name in names)
