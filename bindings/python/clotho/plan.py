"""Plans: made, checked, measured."""
from clotho import calls, errors, library
from clotho.cost import as_cost
from clotho.library import check, ffi, lib
from clotho.planners import PLACEMENT, as_placements, as_planner


class Plan:
    """Which executor runs which instance when; never changes."""

    def __init__(self, pointer, cost):
        self.cost = cost
        self.handle = library.Handle(pointer, lib.clo_plan_destroy, cost.handle)

    @classmethod
    def from_placements(cls, cost, placements, planner="own"):
        """A plan of placements of your own (see clotho.Planner). check() judges it."""
        array, out = as_placements(placements, planner), ffi.new("clo_plan **")
        rows = ffi.from_buffer("clo_placement[]", array) if len(array) else ffi.new("clo_placement[1]")
        check(lib.clo_plan_from_placements(cost.pointer, library.encoded(planner, "planner"), rows, len(array), out))
        return cls(out[0], cost)

    @classmethod
    def load(cls, path, graph, platform=None):
        """A plan from a file."""
        cost, out = as_cost(graph, platform), ffi.new("clo_plan **")
        check(lib.clo_plan_load(library.encoded(path, "path"), cost.pointer, out))
        return cls(out[0], cost)

    def save(self, path):
        """Writes a plan file."""
        check(lib.clo_plan_save(self.pointer, self.cost.pointer, library.encoded(path, "path")))

    @property
    def pointer(self):
        """The clo_plan."""
        return self.handle.pointer

    @property
    def planner(self):
        """Who made it."""
        return library.text(lib.clo_plan_planner(self.pointer))

    @property
    def makespan_ns(self):
        """The last finish."""
        return lib.clo_plan_makespan_ns(self.pointer)

    @property
    def schedules(self):
        """Schedules that the planner built."""
        return lib.clo_plan_schedules(self.pointer)

    @property
    def is_optimal(self):
        """Whether the planner proved that no plan is shorter."""
        return bool(lib.clo_plan_is_optimal(self.pointer))

    @property
    def placements(self):
        """An array of clotho.PLACEMENT in order of (start, finish, executor): the plan's own memory, read only."""
        count = ffi.new("size_t *")
        rows = lib.clo_plan_placements(self.pointer, count)
        return library.shown(rows, count[0], PLACEMENT, self)

    @property
    def frame(self):
        """The placements as a pandas DataFrame, with names."""
        pandas = errors.optional("pandas", "python3-pandas", "Plan.frame")
        made = pandas.DataFrame(self.placements.copy())
        names, executors = self.cost.graph.names(), self.cost.platform.executors
        made.insert(0, "name", [names[t] for t in made["task"]])
        made.insert(1, "where", [executors[e] for e in made["executor"]])
        return made

    def check(self, is_measured=False):
        """The independent checker: raises InvalidError with the first violation. Returns the plan."""
        mode = lib.CLO_CHECK_MEASURED if is_measured else lib.CLO_CHECK_FULL
        calls.interruptible(lambda: check(lib.clo_plan_check(self.pointer, self.cost.pointer, mode)), executions=len(self.placements))
        return self

    def measure(self):
        """How good it is, as a dict: makespan_ns, lower_bound_ns, gap, slr, speedup, utilization ..."""
        out = library.config("clo_plan_metrics", {})
        calls.interruptible(lambda: check(lib.clo_plan_measure(self.pointer, self.cost.pointer, out)), executions=len(self.placements))
        return library.plain(out)

    @property
    def interval_ns(self):
        """The interval of a plan of pipeline(); 0: it has none."""
        return lib.clo_plan_interval_ns(self.pointer)

    def measure_pipeline(self):
        """How good a plan with an interval is, as a dict: interval_ns, bound_ns, per_second, latency_ns, in_flight ..."""
        out = library.config("clo_pipeline_metrics", {})
        check(lib.clo_plan_pipeline_measure(self.pointer, self.cost.pointer, out))
        return library.plain(out)

    def gantt(self, columns=80):
        """A Gantt chart as text; clotho.plot.gantt draws one."""
        out = ffi.new("char **")
        check(lib.clo_plan_gantt_text(self.pointer, self.cost.pointer, library.number(columns, "columns", 0, 2**32 - 1), out))
        return library.taken_text(out[0])

    def save_svg(self, path, title=None):
        """Draws a Gantt chart as SVG."""
        check(lib.clo_plan_gantt_svg(self.pointer, self.cost.pointer, library.encoded(title, "title"), library.encoded(path, "path")))

    def __repr__(self):
        return "<clotho.Plan by %s: %d ns>" % (self.planner, self.makespan_ns)


def plan(graph, platform=None, planner="heft", *, budget_ns=None, keys=None, **fields):
    """Plans a graph on a platform (or a Cost) with a planner: a name (clotho.names("planners")), a Planner, or a function of
    (cost, seed) that returns placements.

    budget_ns  of anytime planners; Ctrl-C ends them too: Interrupted.result is then the best plan so far.
    keys       of "deft": a number for each task, the largest ready one is placed next.
    fields     of clo_plan_config: seed, schedules_max, no_duplicates, threads, justify, contention."""
    cost = as_cost(graph, platform)
    pointer, own, _ = as_planner(planner, cost)
    stopped, out = [], ffi.new("clo_plan **")
    for reserved in ("planner", "argument", "progress", "progress_context"):
        if reserved in fields:
            raise TypeError("plan() sets %s itself" % reserved)
    asked = library.config("clo_plan_config", fields)
    asked.planner, asked.budget_ns = pointer, library.number(0 if budget_ns is None else budget_ns, "budget_ns")
    array = None
    if keys is not None:
        from clotho.graph import column
        if pointer.takes != lib.CLO_PLANNER_KEYS:
            raise errors.ArgumentError("planner '%s' takes no keys; give them to 'deft'" % library.text(pointer.name))
        import numpy
        array = numpy.ascontiguousarray(numpy.broadcast_to(column("keys", keys, len(cost.graph), "i8"), len(cost.graph)))
        asked.argument = ffi.cast("void *", ffi.from_buffer(array))

    @ffi.callback("void(*)(void *, const clo_plan_progress *)")
    def heard(_, now):
        if stopped:
            now.stop[0] = 1

    def work():
        status = lib.clo_plan_create(cost.pointer, asked, out)
        if own is not None and own.error is not None:
            if status == 0:
                lib.clo_plan_destroy(out[0])
            if isinstance(own.error, KeyboardInterrupt):
                raise errors.Interrupted() from None
            raise own.error
        check(status)
        return Plan(out[0], cost)

    if own is not None:  # Python hears signals itself
        return work()
    asked.progress = heard
    made = calls.interruptible(work, lambda: stopped.append(True))
    del array
    return made


def pipeline(graph, platform=None, *, releases_in_flight=0, interval_ns=0):
    """A plan for throughput: several releases in flight, an interval apart."""
    cost, out = as_cost(graph, platform), ffi.new("clo_plan **")
    asked = library.config("clo_pipeline_config", {"releases_in_flight": releases_in_flight, "interval_ns": interval_ns})

    def work():
        check(lib.clo_plan_pipeline(cost.pointer, asked, out))
        return Plan(out[0], cost)

    return calls.interruptible(work)
