"""`autotune`: a function that launches kernels finds out which configuration is the fastest.

The first call with new sizes tries every configuration: results are compared first, then those
that are right run in turn. What was found is kept in a table on disk (tables.py), one for each
device, function and set of configurations; a changed kernel is measured anew.
"""

from __future__ import annotations

import functools
import inspect
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten

from anymetal import debug
from anymetal.kernel import MetalKernel
from anymetal.runtime.disk_cache import digest
from anymetal.transforms import is_transformed
from anymetal.tune import checks, tables
from anymetal.tune.device import device, kind_of_device
from anymetal.tune.measure import race, relative_times
from anymetal.tune.tables import Entry, Table

Config = Mapping[str, Any]  #: values by the names of the function's parameters


def autotune(
    configs: Sequence[Config],
    *,
    key: Sequence[str] | None = None,
    reference: Callable[..., Any] | None = None,
    tolerance: float = 1e-5,
    prune: Callable[..., bool] | None = None,
    seconds: float = 0.5,
) -> Callable[[Callable[..., Any]], Autotuned]:
    """Decorator: calls take the fastest of some configurations, measured at the first call.

    Args:
        configs: Values for the parameters that are to be tuned, by name: template values,
            threadgroups, whatever the function makes of them. All have the same names.
        key: The parameters that decide which configuration is the fastest. Arrays count with
            shape and dtype, other values as they are. By default all that are not tuned.
        reference: A function of the same arguments, without the tuned ones, that returns what is
            right. By default configurations have to agree with the first that runs.
        tolerance: Largest error of floats, in units of the largest magnitude in the right result,
            beyond two units in the last place of the dtype. Integers and bools must be equal.
        prune: A function of all arguments and of the tuned ones, by name; a configuration for
            which it is false is not tried.
        seconds: The time that all configurations together run for, once they are checked.

    Returns:
        A decorator, which makes an `Autotuned` of a function.

    Raises:
        ValueError: No configurations, or some with different names or names that the function has
            no parameters for; a name in `key` that is none. At a call: no configuration is left,
            or right; the text lists what is wrong with each.

    A configuration that raises (too much threadgroup memory, say) or is wrong is left out, and
    what was wrong is kept. Under `mx.compile`, `mx.grad` and `mx.vmap`, where arrays have no values
    to run with, and with ANYMETAL_AUTOTUNE=0 nothing is measured: the table answers, or else the
    first configuration is taken.

    Example:
        >>> import anymetal, mlx.core as mx
        >>> kernel = anymetal.metal_kernel(
        ...     name="doubling", input_names=["x"], output_names=["y"],
        ...     source="uint i = thread_position_in_grid.x; y[i] = 2 * x[i];")
        >>> @anymetal.autotune([{"width": width} for width in (64, 128, 256)], seconds=0.01)
        ... def double(x, *, width):
        ...     return kernel(inputs=[x], grid=(x.size, 1, 1), threadgroup=(width, 1, 1),
        ...                   output_shapes=[x.shape], output_dtypes=[x.dtype])[0]
        >>> double(mx.arange(4))
        array([0, 2, 4, 6], dtype=int32)
    """
    copies = [dict(config) for config in configs]

    def decorate(function: Callable[..., Any]) -> Autotuned:
        names = _tuned_names(function, copies)
        return Autotuned(function, copies, names, key, reference, tolerance, prune, seconds)

    return decorate


class Autotuned:
    """A function that chooses its configuration. Made by `autotune`; called like the function.

    A call that gives tuned parameters itself gets exactly these.
    """

    __name__: str

    def __init__(
        self,
        function: Callable[..., Any],
        configs: list[dict[str, Any]],
        tuned: frozenset[str],
        key: Sequence[str] | None,
        reference: Callable[..., Any] | None,
        tolerance: float,
        prune: Callable[..., bool] | None,
        seconds: float,
    ) -> None:
        functools.update_wrapper(self, function)
        self.configs = {_text(config): config for config in configs}
        self._function, self._tuned, self._prune, self._seconds = function, tuned, prune, seconds
        self._reference, self._tolerance = reference, tolerance
        self._others = [
            name for name in inspect.signature(function).parameters if name not in tuned
        ]
        self._key = _checked_key(function, key, self._others)
        self._chosen: dict[tuple[Any, ...], Config] = {}
        self._absent: set[tuple[Any, ...]] = set()  #: what the table has no answer for
        self._lock = threading.Lock()

    def __call__(self, *args: Any, **options: Any) -> Any:
        if self._tuned & options.keys():
            return self._function(*args, **options)
        return self._function(*args, **options, **self.best(*args, **options))

    def best(self, *args: Any, **options: Any) -> Config:
        """The configuration for a call with these arguments, measured now if it is not known."""
        given = {**dict(zip(self._others, args, strict=False)), **options}
        key = (kind_of_device(), *(_key_of(given.get(name)) for name in self._key))
        found = self._chosen.get(key)
        if found is None:
            with self._lock:
                found = self._chosen.get(key) or self._found(key, args, options, given)
        return found

    def entries(self) -> list[Entry]:
        """What was measured on this device: seconds and mistakes by configuration, for each key."""
        return self._table().of(self.__name__)

    def _table(self) -> Table:
        here = device()
        return tables.read(here, self._topic) or Table(here, topic=self._topic)

    @functools.cached_property
    def _topic(self) -> str:
        """What the table is about: it changes with the function, its kernels and configurations."""
        functions = [self._function, *filter(None, (self._reference, self._prune))]
        kernels = [kernel for function in functions for kernel in _kernels(function)]
        parts = [*map(_meaning, functions), *self.configs, *map(repr, kernels), self._tolerance]
        return f"{self.__name__}-{digest(*map(str, parts))[:16]}"

    def _found(
        self, key: tuple[Any, ...], args: tuple[Any, ...], options: dict[str, Any], given: Config
    ) -> Config:
        case = ", ".join(f"{n}={_shown(given.get(n))}" for n in self._key) or "any arguments"
        known = {} if key in self._absent else self._table().entries
        entry = known.get((self.__name__, case))
        if entry is None or not entry.order():
            off = os.environ.get("ANYMETAL_AUTOTUNE", "1") == "0"
            if off or is_transformed(_leaves(dict(given))):
                self._absent.add(key)
                first = next(iter(self.configs))
                _tell(f"{self.__name__} {case}: {first} (not measured)")
                return self.configs[first]
            entry = self._measured(case, args, options)
            table = self._table()  # other processes may have added to it meanwhile
            table.add(entry)
            tables.write(table)
        winner = entry.order()[0]
        _tell(f"{self.__name__} {case}: {winner} (measured here)")
        self._chosen[key] = self.configs[winner]
        return self._chosen[key]

    def _measured(self, case: str, args: tuple[Any, ...], options: dict[str, Any]) -> Entry:
        """Every configuration is checked, then those that are right run in turn."""
        wrong: dict[str, str] = {}
        right: dict[str, Callable[[], object]] = {}
        known = None if self._reference is None else _leaves(self._reference(*args, **options))
        for name, config in self.configs.items():
            if self._prune and not self._prune(*args, **options, **config):
                wrong[name] = "pruned"
                continue
            run = functools.partial(self._run, args, {**options, **config})
            try:
                result = run()
            except Exception as error:  # whatever it is, the others are tried
                wrong[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
                continue
            known = result if known is None else known
            if problem := checks.difference(result, known, self._tolerance):
                wrong[name] = problem
            else:
                right[name] = run
        if not right:
            problems = "".join(f"\n  {name}: {problem}" for name, problem in wrong.items())
            raise ValueError(f"[autotune] {self.__name__}, {case}: none works.{problems}")
        times = relative_times(race(right, self._seconds, time.perf_counter))
        return Entry(self.__name__, case, (), "", times, wrong)

    def _run(self, args: tuple[Any, ...], options: dict[str, Any]) -> list[mx.array]:
        leaves = _leaves(self._function(*args, **options))
        mx.eval(leaves)
        return leaves


def _tuned_names(function: Callable[..., Any], configs: list[dict[str, Any]]) -> frozenset[str]:
    if not configs or not configs[0]:
        raise ValueError("[autotune] There must be at least one configuration, with a name.")
    names = frozenset(configs[0])
    for config in configs:
        if config.keys() != names:
            raise ValueError(
                f"[autotune] All configurations must have the same names, but {_text(config)} has "
                f"others than {_text(configs[0])}."
            )
    parameters = inspect.signature(function).parameters
    if unknown := sorted(names - parameters.keys()):
        raise ValueError(
            f"[autotune] `{function.__name__}` has no parameter {unknown[0]!r}; it has: "
            f"{', '.join(parameters)}."
        )
    positional = [n for n, p in parameters.items() if p.kind is not p.KEYWORD_ONLY]
    tuned = [n in names for n in positional]
    if tuned != sorted(tuned):
        raise ValueError(
            f"[autotune] `{function.__name__}` must take its tuned parameters behind all others, "
            f"or by keyword only."
        )
    return names


def _checked_key(
    function: Callable[..., Any], key: Sequence[str] | None, others: list[str]
) -> tuple[str, ...]:
    if isinstance(key, str):
        raise ValueError(f"[autotune] `key` must be a list of names, not {key!r}.")
    for name in key or ():
        if name not in others:
            raise ValueError(
                f"[autotune] `key` names {name!r}, which is no parameter of "
                f"`{function.__name__}` that is not tuned; there are: {', '.join(others)}."
            )
    return tuple(others if key is None else key)


def _text(config: Config) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in config.items())


def _key_of(value: Any) -> object:
    if isinstance(value, mx.array):
        return (value.shape, value.dtype)
    return value if isinstance(value, int | float | str | bool | None) else _shown(value)


def _shown(value: Any) -> str:
    """A value in a key, for people: `(512, 512) float32` or what Python shows."""
    if isinstance(value, mx.array):
        return f"{value.shape} {str(value.dtype).rpartition('.')[2]}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return repr(value)


def _leaves(result: Any) -> list[mx.array]:
    """The arrays in a tree of lists, tuples and dictionaries."""
    leaves = dict(tree_flatten([result])).values()
    return [leaf for leaf in leaves if isinstance(leaf, mx.array)]


def _tell(text: str) -> None:
    if debug.wanted().level >= 1:
        debug.say(text)


def _meaning(function: Callable[..., Any]) -> str:
    """What changes with what a function does, as far as its own text says it."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return repr(function)
    constants = [c for c in code.co_consts if isinstance(c, int | float | str | bytes | tuple)]
    return f"{code.co_code!r} {code.co_names} {constants}"


def _kernels(function: Callable[..., Any]) -> list[object]:
    """Definitions of the kernels that the text of a function names."""
    if not inspect.isfunction(function):
        return []
    named = inspect.getclosurevars(function)
    values = [*named.globals.values(), *named.nonlocals.values()]
    return [value.definition for value in values if isinstance(value, MetalKernel)]
