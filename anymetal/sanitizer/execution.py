"""One launch in a sanitized build: plan, run, findings, other orders, replay file."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections import OrderedDict
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, cast

import mlx.core as mx

from anymetal.findings import Finding
from anymetal.findings.silence import is_silenced
from anymetal.runtime import arrays as runtime_arrays
from anymetal.sanitizer import order, replay
from anymetal.sanitizer.replay import Job
from anymetal.sanitizer.report import Bound, Reporter
from anymetal.sanitizer.session import Session
from anymetal.sanitizer.texts import Launched, Texts
from anymetal.targets.base import LARGE, check_extents

if TYPE_CHECKING:
    from anymetal.targets.cpu.sanitized import SanitizedPlan

_WIDTH = 32
_MOST_PLANS = 64
_MOST_FILES = 16  #: replay files of one session
_MOST_BUFFERS = 31  #: that Metal gives a kernel

#: One launch at a time: a sanitized one has shadows of all its memory.
_running = threading.RLock()
_plans: OrderedDict[object, SanitizedPlan] = OrderedDict()


def run(job: Job, session: Session, launched: Launched | None) -> list[Any]:
    """Runs a launch and adds its findings to the session, also if it ends in an error.

    Returns the outputs. Raises what a launch may raise.
    """
    check_extents(job.source.name, job.grid, job.threadgroup)
    with _running:
        session.launches += 1
        started = job._replace(in_place=_copies(job.in_place)) if job.in_place is not None else job
        outputs = _outputs(job, fresh=False)
        if 0 in job.grid or 0 in job.threadgroup:
            return outputs
        execution = _Execution(job, session, launched)
        try:
            execution.run(outputs, None)
            if session.options.order == "shuffle":
                execution.shuffle(started, outputs)
        finally:
            if execution.new:
                _keep(started, session, execution.new)
        return outputs


class _Execution:
    def __init__(self, job: Job, session: Session, launched: Launched | None) -> None:
        self.job, self.session, self.launched = job, session, launched
        self.new: list[Finding] = []
        self.wanted = set(session.options.wanted)
        if "nan" in self.wanted and not all(map(_is_finite, (*job.inputs, *(job.in_place or ())))):
            self.wanted.discard("nan")
        self.plan = _plan(job, "nan" in self.wanted)

    @functools.cached_property
    def reporter(self) -> Reporter:
        """Made for the first finding: most launches have none."""
        texts = Texts(self.job.source, self.launched)
        return Reporter(self.job.source, self.plan.code.notes, self.plan.slots, texts)

    def run(self, outputs: list[Any], in_order: order.Order | None) -> None:
        """Runs once. Findings of runs in other orders count only if they are new."""
        bound = [*self.job.inputs, *outputs]
        plan, shapes = self.plan, _shapes(bound)
        buffers = len(self.job.source.parameters)
        if buffers > _MOST_BUFFERS and "portability" in self.wanted:
            self._add([self.reporter.too_many_buffers(buffers)], count_again=in_order is None)
        try:
            with plan.in_order(*in_order[1:]) if in_order else contextlib.nullcontext():
                plan.run(bound, self.job.contiguous)
        except MemoryError:
            raise MemoryError(
                f"no memory to observe kernel `{self.job.source.name}`: beside its arrays, which "
                f"have {sum(a.nbytes for a in bound) >> 20} MiB, that takes several times as much. "
                "Sanitize a smaller launch."
            ) from None
        finally:  # what a launch has found before it was stopped counts, too
            for told in plan.take():
                if told.findings:
                    found = self.reporter.findings(told.findings, shapes, self.wanted)
                    self._add(list(found), count_again=in_order is None)
                if told.lost:
                    name = self.job.source.name
                    self.session.note(f"kernel {name}: no room for {told.lost} further findings")

    def shuffle(self, started: Job, outputs: list[Any]) -> None:
        """Runs again in other orders; what differs is a finding."""
        expected = [mx.array(one) if not isinstance(one, mx.array) else one for one in outputs]
        seed = self.session.seed
        for other in order.other_orders(self.plan.total_groups, seed):
            again = _outputs(started, fresh=True)
            self.run(again, other)
            bound = _shapes([*self.job.inputs, *again])
            for one in order.differences(expected, [mx.array(a) for a in again]):
                output = len(self.job.inputs) + one.output
                first, second = one.values
                finding = self.reporter.order_finding(
                    output,
                    one.element * bound[output].itemsize,
                    f"{first} in one and {second} in another",
                    {"values": one.values, "order": other.name, "seed": seed},
                    one.number,
                    bound,
                )
                self._add([finding], count_again=False)

    def _add(self, findings: Sequence[Finding], count_again: bool) -> None:
        place = self.launched.place if self.launched else None
        texts = (self.job.source.header, self.job.source.body)
        heard = [one for one in findings if not is_silenced(one, texts, by_name=True)]
        self.new += self.session.add(heard, place, count_again)


def _plan(job: Job, nan: bool) -> SanitizedPlan:
    from anymetal.targets.cpu.sanitized import SanitizedPlan

    sizes = [array.nbytes for array in job.inputs]
    if job.in_place is None:
        pairs = zip(job.shapes, job.dtypes, strict=True)
        sizes += [prod(shape) * dtype.size for shape, dtype in pairs]
    else:
        sizes += [array.nbytes for array in job.in_place]
    large = max(sizes, default=0) // LARGE
    filled = job.in_place is not None or job.init_value is not None
    key = (job.source, job.grid, job.threadgroup, large, filled, nan)
    plan = _plans.pop(key, None)
    if plan is None:
        plan = SanitizedPlan(job.source, job.grid, job.threadgroup, _WIDTH, large, filled, nan)
        if len(_plans) >= _MOST_PLANS:
            _plans.popitem(last=False)
    _plans[key] = plan
    return plan


def _outputs(job: Job, fresh: bool) -> list[Any]:
    """Arrays for the outputs. `fresh`: never those that the launch works on in place."""
    if job.in_place is not None:
        return _copies(job.in_place) if fresh else list(job.in_place)
    pairs = zip(job.shapes, job.dtypes, strict=True)
    return [runtime_arrays.new_output(shape, dtype, job.init_value) for shape, dtype in pairs]


def _is_finite(array: Any) -> bool:
    """Whether all elements of an array are numbers."""
    values = array if isinstance(array, mx.array) else mx.array(array)
    return bool(mx.all(mx.isfinite(values)).item())


def _copies(arrays: Sequence[Any]) -> list[Any]:
    return [mx.from_dlpack(cast(Any, array), copy=True) for array in arrays]


def _shapes(bound: Sequence[Any]) -> list[Bound]:
    return [Bound(tuple(a.shape), a.nbytes // max(1, prod(a.shape)) or 1) for a in bound]


def _keep(job: Job, session: Session, new: Sequence[Finding]) -> None:
    """Writes the replay file of a launch, if the session wants one."""
    path = session.options.replay
    if path is None:
        return
    number = session.next_replay()
    if path.suffix:
        if number:
            session.note(f"only the first of several launches is in {path}: give a folder instead")
            return
        file = path
    else:
        if number >= _MOST_FILES:
            session.note(f"{path} has {_MOST_FILES} replay files, and gets no more")
            return
        file = path / f"{job.source.name}-{number}{replay.SUFFIX}"
    try:
        replay.save(file, job, session.options, new)
    except (ValueError, OSError, RuntimeError) as error:
        session.note(f"no replay file {file}: {error}")
    else:
        session.note(f"{file} has the launch: anymetal replay {file}")
