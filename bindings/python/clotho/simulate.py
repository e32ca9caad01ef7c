"""Runs in virtual time: of one graph (simulate), of jobs that arrive over time (simulate_stream)."""
import numpy

from clotho import bodies, calls, errors, library
from clotho.cost import as_cost
from clotho.library import check, ffi, lib
from clotho.plan import Plan
from clotho.platform import as_platform
from clotho.policies import as_policy
from clotho.workload import Workload

EVENT, OUTCOME = library.dtype("clo_trace_event"), library.dtype("clo_stream_outcome")


class Result:
    """What a run did: the fields of clo_job_result (makespan_ns, executed, transfers ...), `events`, and of bodies in Python `values`."""

    def __init__(self, fields, cost, trace=None, run=None, output_hash=None):
        self.__dict__.update(fields)
        self.fields, self.cost, self._trace, self._run, self.output_hash = fields, cost, trace, run, output_hash

    @property
    def values(self):
        """{task: what its body has returned}; of tasks with several instances a list."""
        found, counts = {}, self.cost.graph.tasks()["instances"].tolist()
        for (task, instance), value in sorted((self._run.values if self._run else {}).items(), key=lambda item: item[0]):
            if counts[task] > 1:
                found.setdefault(task, [None] * counts[task])[instance] = value
            else:
                found[task] = value
        return found

    @property
    def events(self):
        """An array of clotho.EVENT, the executions in order of (start, finish, executor): the trace's own memory, read only."""
        if self._trace is None:
            raise errors.StateError("this run kept no trace; give trace=True")
        count = ffi.new("size_t *")
        rows = lib.clo_trace_events(self._trace.pointer, count)
        return library.shown(rows, count[0], EVENT, self._trace)

    @property
    def frame(self):
        """The events as a pandas DataFrame, with names."""
        pandas = errors.optional("pandas", "python3-pandas", "frame")
        made = pandas.DataFrame(self.events.copy())
        names, executors = self.cost.graph.names(), self.cost.platform.executors
        made.insert(0, "name", [names[t] for t in made["task"]])
        made.insert(1, "where", [executors[e] for e in made["executor"]])
        return made

    def plan(self):
        """The run as a plan, to draw, to check (is_measured) or to replay."""
        if self._trace is None:
            raise errors.StateError("this run kept no trace; give trace=True")
        out = ffi.new("clo_plan **")
        check(lib.clo_trace_to_plan(self._trace.pointer, self.cost.pointer, out))
        return Plan(out[0], self.cost)

    def save_chrome(self, path, label=None):
        """Writes the events for ui.perfetto.dev."""
        if self._trace is None:
            raise errors.StateError("this run kept no trace; give trace=True")
        check(lib.clo_trace_write_chrome(self._trace.pointer, self.cost.pointer, library.encoded(label, "label"),
                                         library.encoded(path, "path")))

    def __repr__(self):
        return "<clotho.Result: %d ns, %d executed>" % (self.makespan_ns, self.executed)


def job_result(struct, cost, **more):
    """A Result of a clo_job_result."""
    fields = library.plain(struct)
    fields["failed_task"] = None if fields["failed_task"] == library.NONE else fields["failed_task"]
    return Result(fields, cost, **more)


def raise_if_failed(status, line, run, own):
    """The exception of a run: what a policy or a body in Python has raised, or what the library says."""
    if own is not None and own.error is not None:
        if isinstance(own.error, KeyboardInterrupt):
            raise errors.Interrupted() from None
        raise own.error
    if status != 0:
        failure = library.failure(status, line)
        cause = (run.error or bodies.take_outside()) if run is not None else None
        if isinstance(cause, KeyboardInterrupt):
            raise errors.Interrupted() from None
        raise failure from cause


def simulate(graph, platform=None, *, plan=None, policy=None, execute=False, **fields):
    """One job in virtual time, by a plan, or by a policy ("steal" if there is none).

    execute  the bodies are called too, on the calling thread.
    fields   of clo_sim_config: seed, deadline_ns, steps_max, releases_in_flight, releases, period_ns."""
    if isinstance(plan, Plan) and platform is None and graph is plan.cost.graph:
        graph = plan.cost
    if plan is not None and not isinstance(plan, Plan):
        raise TypeError("plan is a %s; give a clotho.Plan" % type(plan).__name__)
    if plan is not None and policy is not None:
        raise errors.ArgumentError("plan and policy are both given; give one")
    cost = as_cost(graph, platform)
    asked, result = library.config("clo_sim_config", dict(fields, execute=int(bool(execute)))), library.config("clo_job_result", {})
    trace, output_hash = ffi.new("clo_trace **"), ffi.new("uint64_t *")
    own = as_policy(policy) if policy is not None else None
    run, depth = None, library.thread.depth
    try:
        if plan is not None:
            asked.plan = plan.pointer
        if own is not None:
            asked.policy, asked.argument, asked.steps_max = own.pointer, getattr(own, "argument", ffi.NULL), own.steps_max(asked.steps_max)
        run = cost.graph.bodies.begin(cost.graph) if execute else None

        def work():
            status = lib.clo_simulate(cost.pointer, asked, result, trace, output_hash if execute else ffi.NULL)
            return status, library.text(lib.clo_last_error())

        is_python = run is not None or (own is not None and own.policy is not None)
        executions = cost.graph.instances * max(asked.releases, 1) if plan is not None else None
        status, line = work() if is_python else calls.interruptible(work, executions=executions)
        kept = library.Handle(trace[0], lib.clo_trace_destroy) if trace[0] != ffi.NULL else None
        raise_if_failed(status, line, run, own)
        made = job_result(result, cost, trace=kept, run=run, output_hash=output_hash[0] if execute else None)
        made.late_decisions = own.policy.late_decisions if own is not None and own.policy is not None else 0
        return made
    finally:
        library.back_to(depth)
        cost.graph.bodies.end(run)
        if own is not None:
            own.close()


class StreamResult:
    """What a stream did: the fields of clo_stream_result (jct_mean_ns, makespan_ns, utilization ...), and `outcomes`, an array of
    clotho.OUTCOME, one row a job."""

    def __init__(self, fields, outcomes, late_decisions):
        self.__dict__.update(fields)
        self.fields, self.outcomes, self.late_decisions = fields, outcomes, late_decisions

    @property
    def jct_ns(self):
        """The completion times of the jobs that ended: finish - arrival."""
        ended = self.outcomes[self.outcomes["finish_ns"] != library.TIME_NEVER]
        return ended["finish_ns"] - ended["arrival_ns"]

    @property
    def frame(self):
        """The outcomes as a pandas DataFrame."""
        return errors.optional("pandas", "python3-pandas", "frame").DataFrame(self.outcomes)

    def __repr__(self):
        return "<clotho.StreamResult: %d jobs, mean completion %.0f ns>" % (self.jobs, self.jct_mean_ns)


def simulate_stream(workload, platform=None, *, policy="fifo", environment=None, seed=0, **fields):
    """The jobs of a workload in virtual time, under one policy.

    environment  "decima" or "decima:faithful" draws the times (docs/ENVIRONMENTS.md); None: the costs give them.
    fields       of clo_stream_config: jobs_max, steps_max, skips_misfits."""
    if not isinstance(workload, Workload):
        raise TypeError("workload is a %s; give a clotho.Workload" % type(workload).__name__)
    place = as_platform(platform if platform is not None else workload.platform or "native")
    asked, result = library.config("clo_stream_config", dict(fields, seed=seed)), library.config("clo_stream_result", {})
    outcomes, stopped = None, []
    opened, depth = ffi.NULL, library.thread.depth
    own = as_policy(policy)
    try:
        asked.policy, asked.argument, asked.steps_max = own.pointer, getattr(own, "argument", ffi.NULL), own.steps_max(asked.steps_max)
        if environment is not None:
            found = library.config("clo_environment", {})
            check(lib.clo_environment_open(library.encoded(environment, "environment"), seed, found))
            asked.environment = opened = found

        @ffi.callback("int(*)(void *, uint64_t, uint64_t, int64_t)", error=1)
        def progress(*_):
            return int(bool(stopped) or own.is_stopped)

        asked.progress = progress

        def work():
            nonlocal outcomes
            with workload.reading() as pointer:
                outcomes = numpy.zeros(len(workload), OUTCOME)
                if len(outcomes):
                    asked.outcomes = ffi.from_buffer("clo_stream_outcome[]", outcomes, require_writable=True)
                return lib.clo_stream_simulate(pointer, place.pointer, asked, result), library.text(lib.clo_last_error())

        status, line = work() if own.policy is not None else calls.interruptible(work, lambda: stopped.append(True))
        raise_if_failed(status, line, None, own)
        return StreamResult(library.plain(result), outcomes, own.policy.late_decisions if own.policy is not None else 0)
    finally:
        library.back_to(depth)
        if opened != ffi.NULL:
            lib.clo_environment_close(opened)
        own.close()
