"""Planners: those of the library by name, and own ones in Python."""
import re

import numpy

from clotho import errors, library
from clotho.library import ffi, lib

PLACEMENT = library.dtype("clo_placement")
_FIELDS = ("task", "instance", "executor", "is_replica", "start_ns", "finish_ns")


class Planner:
    """A planner of your own: a class with plan(cost, seed), or Planner("name", function).

    plan() returns the placements: an array of clotho.PLACEMENT, a Schedule, or tuples (task, instance, executor, is_replica,
    start_ns, finish_ns). The library's checker judges them before anybody sees the plan. executions_each: executions of an
    instance, on average, that there is room for; more than 1 only with replicas."""

    name, summary, executions_each = "own", "a planner in Python", 1

    def __init__(self, name=None, function=None):
        if name is not None:
            self.name = name
        if function is not None:
            self.plan = function

    def plan(self, cost, seed):
        """Returns the placements of all instances."""
        raise NotImplementedError("planner '%s' has no plan(cost, seed)" % self.name)


class Schedule:
    """A plan in the making, for own planners: place() tasks after their predecessors, each behind what its executor has. For graphs
    without demands; ports are left to the library."""

    def __init__(self, cost):
        self.cost, graph = cost, cost.graph
        tasks, edges = graph.tasks(), graph.edges()
        if tasks["demand"].any():
            raise errors.UnsupportedError("a Schedule knows no demands; plan this graph with placements of your own")
        self._instances = tasks["instances"].tolist()
        grain = tasks["grain"].tolist()
        self._instances = [-(-n // min(g, n)) if g > 1 else n for n, g in zip(self._instances, grain)]
        self._before = [[] for _ in self._instances]
        self._after = [[] for _ in self._instances]
        for source, target, size in edges.tolist():
            pairs = self._instances[source] * self._instances[target]
            self._before[target].append((source, -(-size // pairs)))
            self._after[source].append(target)
        self._left = [len(before) for before in self._before]
        self.free_ns = [0] * len(cost.platform)
        self.placements, self._where = [], [None] * len(self._instances)
        self._times = cost.execution_ns.tolist()

    def ready(self):
        """The tasks that may be placed now."""
        return [task for task, left in enumerate(self._left) if left == 0 and self._where[task] is None]

    def successors(self, task):
        """The tasks behind a task."""
        return self._after[task]

    def _arrival(self, task, executor):
        arrival = 0
        for source, size in self._before[task]:
            if self._where[source] is None:
                raise errors.ArgumentError("task %d is placed before its predecessor %d" % (task, source))
            for place, finish in self._where[source]:
                arrival = max(arrival, finish + self.cost.platform.transfer_ns(size, place, executor))
        return arrival

    def finish(self, task, executor):
        """When an instance would end there, as of now; clotho.TIME_NEVER: it cannot run there."""
        time = self._times[task][executor]
        return time if time == library.TIME_NEVER else max(self.free_ns[executor], self._arrival(task, executor)) + time

    def place(self, task, executor=None):
        """Places all instances of a task there; None: each where it ends first. Returns the last finish."""
        task, placed = library.number(task, "task", 0, len(self._instances) - 1), []
        if self._where[task] is not None:
            raise errors.ArgumentError("task %d is placed twice" % task)
        for instance in range(self._instances[task]):
            chosen = executor
            if chosen is None:
                chosen = min(range(len(self.free_ns)), key=lambda e: self.finish(task, e))
            finish = self.finish(task, chosen)
            if finish == library.TIME_NEVER:
                raise errors.ArgumentError("task %d cannot run on executor %d" % (task, chosen))
            self.placements.append((task, instance, chosen, 0, finish - self._times[task][chosen], finish))
            self.free_ns[chosen] = finish
            placed.append((chosen, finish))
        self._where[task] = placed
        for target in self._after[task]:
            self._left[target] -= 1
        return max(finish for _, finish in placed)


def as_placements(made, name):
    """What a planner in Python has returned, as an array of PLACEMENT."""
    if isinstance(made, Schedule):
        made = made.placements
    if isinstance(made, numpy.ndarray) and made.dtype == PLACEMENT:
        if made.ndim != 1:
            raise TypeError("planner '%s' has returned an array of %d dimensions; return one of one" % (name, made.ndim))
        return numpy.ascontiguousarray(made)
    try:
        rows = [tuple(row) for row in made]
        for row in rows:
            if len(row) != len(_FIELDS):
                raise ValueError("rows have %d fields" % len(row))
        array = numpy.zeros(len(rows), PLACEMENT)
        for k, field in enumerate(_FIELDS):
            values = numpy.array([row[k] for row in rows]) if rows else numpy.zeros(0, "i8")
            if values.dtype.kind not in "iub":
                raise ValueError("%s is no whole number" % field)
            limits = numpy.iinfo(PLACEMENT[field])
            if len(values) and not limits.min <= int(values.min()) <= int(values.max()) <= limits.max:
                raise ValueError("a %s is out of range" % field)
            array[field] = values
        return array
    except (TypeError, ValueError) as error:
        raise TypeError("planner '%s' has returned a %s that is no list of placements: %s; return tuples (%s)" % (
            name, type(made).__name__, error, ", ".join(_FIELDS))) from None


class _Own:
    """The clo_planner of an own planner, during one call of the library."""

    def __init__(self, planner, cost):
        self.planner, self.cost, self.error = planner, cost, None
        name = re.sub(r"[^A-Za-z0-9_-]", "-", str(planner.name))[:60] or "own"
        self.name = name
        self._texts = [ffi.new("char[]", name.encode()), library.c_string(str(planner.summary) or "own", "summary")]
        kind = "clo_status(*)(const clo_planner *, const clo_cost *, const clo_plan_config *, clo_placement *, size_t *)"
        self._call = ffi.callback(kind, self._plan, error=lib.CLO_ERR_INVALID, onerror=self._outside)
        self.pointer = ffi.new("clo_planner *", {
            "name": self._texts[0], "summary": self._texts[1], "size": ffi.sizeof("clo_planner"), "plan": self._call,
            "executions_each": library.number(planner.executions_each, "executions_each", 0, 1024)})

    def _outside(self, _, error, __):
        """An interrupt before or behind the lines that catch it."""
        self.error = self.error or error

    def _plan(self, _, cost, asked, placements, count):
        try:
            if cost != self.cost.pointer:  # of a part of the platform: what ports make of it
                raise errors.UnsupportedError("planner '%s' is in Python, which cannot be asked for parts of a platform with ports; "
                                              "give contention='times'" % self.name)
            made = as_placements(self.planner.plan(self.cost, asked.seed), self.name)
            if len(made) > count[0]:
                raise errors.InvalidError("planner '%s': it has returned %d placements, where there is room for %d" % (
                    self.name, len(made), count[0]))
            ffi.memmove(placements, ffi.from_buffer(made), made.nbytes)
            count[0] = len(made)
            return 0
        except BaseException as error:  # pylint: disable=broad-except # raised by the call that planned
            self.error = self.error or error
            return lib.CLO_ERR_INVALID


def as_planner(what, cost):
    """(clo_planner *, the _Own that keeps it or None, its name) of a name, a Planner or a function."""
    if isinstance(what, str):
        found = lib.clo_planner_find(library.encoded(what, "planner"))
        if found == ffi.NULL:
            raise library.failure(lib.CLO_ERR_ARGUMENT)
        return found, None, library.text(found.name)
    if isinstance(what, type) and issubclass(what, Planner):
        what = what()
    if not isinstance(what, Planner):
        if not callable(what):
            raise TypeError("a planner is a %s; give a name, a clotho.Planner or a function of (cost, seed)" % type(what).__name__)
        what = Planner(getattr(what, "__name__", "own").strip("<>"), what)
    own = _Own(what, cost)
    return own.pointer, own, own.name
