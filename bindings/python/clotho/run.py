"""Runs on this machine: a runtime owns the workers, a job is one graph to run, again and again."""
import atexit
import traceback
import weakref

from clotho import calls, errors, library
from clotho.cost import Cost, as_cost
from clotho.library import check, ffi, lib
from clotho.plan import Plan
from clotho.platform import as_platform
from clotho.policies import as_policy
from clotho.simulate import job_result, raise_if_failed

_live = weakref.WeakSet()
_RUNS_ON = lib.CLO_ERR_TIMEOUT, lib.CLO_ERR_STATE, lib.CLO_ERR_ARGUMENT  # waiting has not found an end


class Runtime:
    """Worker threads on a platform; a context manager.

    clock   "real"; "padded" and "virtual" take the times of the costs.
    trace   keep the executions of each run, for Result.events.
    fields  of clo_runtime_config: fifo_priority, unpinned, spin_ns, real_time ("try", "require"), jobs_max ..."""

    def __init__(self, platform="native", *, clock="real", trace=True, **fields):
        self.platform, out = as_platform(platform), ffi.new("clo_runtime **")
        self.is_traced, self._policies = bool(trace), {}
        asked = library.config("clo_runtime_config", dict(fields, clock=clock, trace=int(self.is_traced)))
        check(lib.clo_runtime_create(self.platform.pointer, asked, out))
        policies, self._jobs = self._policies, weakref.WeakSet()

        def destroy(pointer):
            lib.clo_runtime_destroy(pointer)
            for own, _ in policies.values():
                own.close()

        self.handle = library.Handle(out[0], destroy, self.platform.handle, waits=True, kept=policies)
        _live.add(self)

    def _cost(self, what):
        return as_cost(what, None if isinstance(what, Cost) else self.platform)

    def job(self, graph, *, plan=None, policy=None, **fields):
        """A job of a graph (or of a Cost on the runtime's platform): by a plan, by a policy, or by work stealing where neither is
        given. fields: of clo_job_config, such as deadline_ns, period_ns, releases, on_miss ("skip"), weight, seed."""
        if plan is not None and not isinstance(plan, Plan):
            raise TypeError("plan is a %s; give a clotho.Plan" % type(plan).__name__)
        return Job(self, plan.cost if plan is not None and graph is plan.cost.graph else self._cost(graph), plan, policy, fields)

    def run(self, graph, *, plan=None, policy=None, timeout=None, **fields):
        """Runs it once and returns the Result."""
        job = self.job(graph, plan=plan, policy=policy, **fields)
        try:
            return job.run(timeout)
        finally:
            job.close()

    @property
    def report(self):
        """The real-time settings that hold, a line each."""
        with self.handle.use("runtime") as pointer:
            return library.text(lib.clo_runtime_report(pointer))

    def close(self):
        """Cancels what runs, waits for it, and ends the workers. Its jobs are closed, too."""
        for job in list(self._jobs):
            job.close()
        if library.is_inside():
            self.handle.close()  # freed later
        else:
            calls.interruptible(self.handle.close)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _policy(self, policy):
        """The one Own or Built that stands for a policy of this runtime: the library compares tables."""
        key = policy if isinstance(policy, str) else id(policy)
        if key not in self._policies:
            self._policies[key] = (as_policy(policy), policy)
        return self._policies[key][0]


def _job_handle(pointer, cost, runtime, asked):
    """The Handle of a job. Its end, by whomever, is the end of a run that nobody has waited for."""
    bodies, is_endless = cost.graph.bodies, asked.releases == 0 and (asked.period_ns > 0 or asked.releases_in_flight > 0)

    def settle(pointer):
        if bodies.is_of(viewed):
            if is_endless:
                lib.clo_job_cancel(pointer)
            lib.clo_job_wait(pointer, ffi.NULL)
            bodies.end(bodies.box.run)

    made = library.Handle(pointer, lib.clo_job_destroy, cost.handle, runtime.handle, waits=True, kept=bodies, settle=settle)
    viewed = made.viewed
    return made


class Job:
    """One graph to run on a runtime; a context manager. All memory is taken when it is made."""

    def __init__(self, runtime, cost, plan, policy, fields):
        self.runtime, self.cost, self._run, self._failure = runtime, cost, None, None
        self._own = runtime._policy(policy) if policy is not None else None
        asked, out = library.config("clo_job_config", fields), ffi.new("clo_job **")
        if plan is not None:
            asked.plan = plan.pointer
        if self._own is not None:
            asked.policy, asked.argument = self._own.pointer, getattr(self._own, "argument", ffi.NULL)
            asked.steps_max = self._own.steps_max(asked.steps_max)
        with runtime.handle.use("runtime") as pointer:
            failure = self._own.begin() if self._own is not None else None
            status = lib.clo_job_create(pointer, cost.pointer, asked, out)
            raise_if_failed(status, library.text(lib.clo_last_error()), None, failure if status != 0 else None)
            self.handle = _job_handle(out[0], cost, runtime, asked)
        runtime._jobs.add(self)

    def submit(self):
        """Starts the run, or the series of releases, and returns at once."""
        with self.handle.use("job") as pointer:
            run = self.cost.graph.bodies.begin(self.cost.graph, self.handle.viewed)
            failure = self._own.begin() if self._own is not None else None
            status = lib.clo_job_submit(pointer)
            if status != 0:
                self.cost.graph.bodies.end(run)
                check(status)
            self._run, self._failure = run, failure

    def wait(self, timeout=None):
        """Waits for the end and returns the Result. timeout in seconds: TimeLimitError, and the run goes on. Ctrl-C cancels the run,
        waits for the bodies that run, and raises Interrupted."""
        return self._wait(timeout, lambda: None)

    def _wait(self, timeout, begin):
        if timeout is not None and not isinstance(timeout, (int, float)):
            raise TypeError("timeout is a %s; give seconds" % type(timeout).__name__)
        limit_ns = 2**63 - 1 if timeout is None else int(max(min(timeout * 1e9, 2**63 - 1), 0))
        result, ran = library.config("clo_job_result", {}), [self._run, self._failure]
        with self.handle.use("job") as pointer:

            def work():
                begin()
                ran[:] = self._run, self._failure  # another thread may submit it again as soon as it has ended
                status = lib.clo_job_wait(pointer, result) if timeout is None else lib.clo_job_wait_for(pointer, limit_ns, result)
                return status, library.text(lib.clo_last_error())

            try:
                status, line = calls.interruptible(work, lambda: lib.clo_job_cancel(pointer))
            except errors.Interrupted as stop:
                status, stop.result = stop.result[0] if stop.result is not None else lib.CLO_ERR_STATE, None
                if status == lib.CLO_ERR_TIMEOUT:
                    status = self._cancel_and_wait(pointer, result)[0]
                if status not in _RUNS_ON:
                    stop.result = self._result(pointer, result, *ran)
                raise
            if status in _RUNS_ON:
                raise library.failure(status, line)
            made = self._result(pointer, result, *ran)
        try:
            raise_if_failed(status, line, *ran)
        except errors.TaskError as error:
            error.task, error.code = result.failed_task, result.failed_code
            raise
        return made

    @staticmethod
    def _cancel_and_wait(pointer, result):
        """Until it has ended, also if Ctrl-C comes again: (the status, whether it came)."""
        is_interrupted = False
        while True:
            lib.clo_job_cancel(pointer)
            try:
                return calls.interruptible(lambda: lib.clo_job_wait(pointer, result)), is_interrupted
            except errors.Interrupted as stop:
                is_interrupted = True
                if stop.result is not None:
                    return stop.result, is_interrupted

    def _result(self, pointer, result, run, failure):
        trace, out_hash, kept = ffi.new("clo_trace **"), lib.clo_job_output_hash(pointer), None
        if self.runtime.is_traced and lib.clo_job_trace(pointer, trace) == 0:
            kept = library.Handle(trace[0], lib.clo_trace_destroy)
        made = job_result(result, self.cost, trace=kept, run=run, output_hash=out_hash)
        own = self._own.policy if self._own is not None else None
        made.late_decisions = own.late_decisions if own is not None else 0
        self._ended(run, failure)
        return made

    def _ended(self, run, failure):
        self.cost.graph.bodies.end(run)
        if failure is not None:
            self._own.end(failure)

    def run(self, timeout=None):
        """submit() and wait(). After a timeout the run is cancelled and waited for."""
        try:
            return self._wait(timeout, self.submit)
        except errors.TimeLimitError:
            with self.handle.use("job") as pointer:
                is_interrupted = self._cancel_and_wait(pointer, ffi.NULL)[1]
            self._ended(self._run, self._failure)
            if is_interrupted:
                raise errors.Interrupted() from None
            raise

    def output(self, task, instance=0):
        """A copy of the output of an instance in the last run; None without."""
        size, task, instance = ffi.new("size_t *"), library.number(task, "task", 0, library.NONE), library.number(
            instance, "instance", 0, library.NONE)
        with self.handle.use("job") as pointer:
            data = lib.clo_job_output(pointer, task, instance, size)
            return None if data == ffi.NULL else bytes(ffi.buffer(ffi.cast("char *", data), size[0]))

    def timing(self):
        """Releases, misses and latencies since the last submit, as a dict."""
        out = library.config("clo_job_timing", {})
        with self.handle.use("job") as pointer:
            check(lib.clo_job_timing_read(pointer, out))
        return library.plain(out)

    def cancel(self):
        """Asks the run to end: bodies that run finish, no other starts."""
        with self.handle.use("job") as pointer:
            lib.clo_job_cancel(pointer)

    def close(self):
        """Cancels it if it runs, waits for the bodies that do, and frees it."""
        if not self.handle.is_open:
            return
        if self.handle.is_of_this_process:
            try:
                self.cancel()
            except errors.StateError:
                return  # another thread was faster
        if library.is_inside():
            self.handle.close()  # freed later
        else:
            calls.interruptible(self.handle.close)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def run(graph, platform=None, **how):
    """Runs a graph once: Runtime(platform).run(graph, ...). The platform is that of the Cost or of the plan, else this machine."""
    if platform is None:
        cost = graph if isinstance(graph, Cost) else getattr(how.get("plan"), "cost", None)
        platform = cost.platform if cost is not None else "native"
    with Runtime(platform) as runtime:
        return runtime.run(graph, **how)


@atexit.register
def _close_all():
    """Workers that call into an interpreter that ends would never return: they end before it. No thread can be started any more."""
    def tried(call):
        try:
            call()
        except Exception:  # pylint: disable=broad-except # the others all the same
            traceback.print_exc()

    for runtime in list(_live):
        if runtime.handle.is_of_this_process:
            for job in list(runtime._jobs):
                if job.handle.is_open:
                    tried(job.cancel)
                    tried(job.handle.close)
            tried(runtime.handle.close)
    tried(library.free_later_ones)
