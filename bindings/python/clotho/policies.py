"""Policies: those of the library by name ("fair:2"), and own ones in Python."""
import collections
import time
import warnings
import weakref
from operator import index

import numpy

from clotho import errors, library
from clotho.library import NONE, ffi, lib

Choice = collections.namedtuple("Choice", "job stage executor count duplicate limit wake_ns", defaults=(NONE, 1, NONE, 0, 0))
Choice.__doc__ = """What a policy answers: see clo_choice. Made of (job, stage) or (job, stage, executor)."""
Event = collections.namedtuple("Event", "kind job stage executor count")
MOVE, LEAVE = library.CONSTANTS["CLO_STAGE_MOVE"], library.CONSTANTS["CLO_STAGE_LEAVE"]
_EVENTS = {value: name[len("CLO_EVENT_"):].lower() for value, name in ffi.typeof("clo_event_kind").elements.items()}


class _Late(BaseException):
    """The time of a decision is up."""


class View:
    """What a policy sees, during its calls only: see clotho/policy.h. Slots name live jobs."""

    def __init__(self, pointer, until):
        self._pointer, self._until = pointer, until

    def _view(self):
        if self._pointer is None:
            raise errors.StateError("a view is valid only during the call of the policy that it was given to")
        if self._until is not None and time.monotonic_ns() > self._until:
            raise _Late
        return self._pointer

    now_ns = property(lambda self: lib.clo_view_now_ns(self._view()), doc="The time of the decision.")
    band = property(lambda self: lib.clo_view_band(self._view()), doc="The band of this decision.")
    executors = property(lambda self: lib.clo_view_limits(self._view()).executors, doc="Executors of the platform.")

    def jobs(self):
        """The slots of the live jobs, in order of arrival."""
        view = self._view()
        slot = lib.clo_view_first_job(view)
        while slot != NONE:
            yield slot
            slot = lib.clo_view_job(self._view(), slot).next

    def _row(self, row, kind, what):
        if row == ffi.NULL:
            raise IndexError("there is no such %s" % what)
        return ffi.new(kind, row[0])

    def job(self, slot):
        """The row of a live job: id, arrival_ns, remaining_ns, running, unfinished, weight ... A copy."""
        return self._row(lib.clo_view_job(self._view(), index(slot)), "clo_live_job *", "job")

    def stage(self, slot, stage):
        """The row of a stage of a live job: unstarted, running, parents_left, ready_ns ... A copy."""
        return self._row(lib.clo_view_stage(self._view(), index(slot), index(stage)), "clo_live_stage *", "stage")

    def rank_u(self, slot):
        """The upward ranks of the job's stages in ns (Cost.rank_u)."""
        cost = self.job(slot).cost
        ranks = numpy.zeros(lib.clo_graph_tasks(lib.clo_cost_graph(cost)), "i8")
        lib.clo_cost_rank_u(cost, ffi.from_buffer("int64_t[]", ranks, require_writable=True))
        return ranks

    def executor(self, executor):
        """The row of an executor: job, stage, free_ns, committed ... A copy."""
        return self._row(lib.clo_view_executor(self._view(), index(executor)), "clo_live_executor *", "executor")

    def free(self):
        """The free executors."""
        executor = lib.clo_view_next_free(self._view(), NONE)
        while executor != NONE:
            yield executor
            executor = lib.clo_view_next_free(self._view(), executor)

    def ready(self):
        """(job, stage) of the ready stages of the band with instances to start, oldest first."""
        ready = lib.clo_view_first_ready(self._view())
        while ready.job != NONE:
            yield ready.job, ready.stage
            ready = lib.clo_view_next_ready(self._view(), ready)

    def execution_ns(self, slot, stage, executor):
        """Time of an instance there; clotho.TIME_NEVER: it cannot run there."""
        return lib.clo_view_execution_ns(self._view(), index(slot), index(stage), index(executor))

    def arrival_ns(self, slot, stage, executor):
        """When all its inputs can be there."""
        return lib.clo_view_arrival_ns(self._view(), index(slot), index(stage), index(executor))

    def available_ns(self, executor):
        """When the executor is expected to be free."""
        return lib.clo_view_available_ns(self._view(), index(executor))

    def fits(self, slot, stage, executor):
        """Whether the capacities of its machine have room now."""
        return bool(lib.clo_view_fits(self._view(), index(slot), index(stage), index(executor)))

    def free_for(self, slot, stage):
        """The first free executor that may run the stage now; None: there is none."""
        found = lib.clo_view_free_for(self._view(), index(slot), index(stage))
        return None if found == NONE else found

    def earliest(self, slot, stage):
        """Where an instance is expected to finish first; None: nowhere."""
        found = lib.clo_view_earliest(self._view(), index(slot), index(stage))
        return None if found == NONE else found


class Policy:
    """A policy of your own: a class with decide(view). It keeps its state in itself; init(view) begins a new run.

    decide(view)  returns (job, stage), (job, stage, executor), a clotho.Choice, or None: nothing more until something happens.
    event(view, event)  optional: hears what has happened.
    commits, moves, readiness  as in clo_policy; readiness "finished" or "assigned".
    time_limit_s  the longest that one decision may take, in place of a bound on steps, which Python cannot count: None: any time.
        Later, the scheduler's own rule decides until the next input; late_decisions counts, and a warning says so once. The result
        then depends on how fast this machine is."""

    name, summary = "own", "a policy in Python"
    commits = moves = False
    readiness = "finished"
    time_limit_s = None
    late_decisions = 0
    event = None

    def init(self, view):
        """A run begins."""

    def decide(self, view):
        """What next?"""
        raise NotImplementedError("policy '%s' has no decide(view)" % self.name)


def as_choice(answer, name):
    """What decide() has returned, as a Choice; None stays None."""
    if answer is None or answer is False:
        return None
    try:
        made = answer if isinstance(answer, Choice) else Choice(*answer)
        return Choice(*[NONE if value is None else library.number(value, field, -2**63 if field == "wake_ns" else 0,
                                                                    2**63 - 1 if field == "wake_ns" else NONE)
                        for field, value in zip(Choice._fields, made)])
    except (TypeError, errors.ArgumentError) as error:
        raise TypeError("policy '%s' has decided %r: %s; return (job, stage), (job, stage, executor), a clotho.Choice or None" % (
            name, answer, error)) from None


class Failure:
    """What an own policy has raised in one run."""

    error = None


class Own:
    """The clo_policy of an own policy, as long as a call or a runtime uses it."""

    def __init__(self, policy):
        if getattr(policy, "_in_use", False):
            raise errors.StateError("policy '%s' is in use; make another object of it for a run beside this one" % policy.name)
        self.policy, self.error, self.is_stopped, self._limit, self._runs = policy, None, False, None, weakref.WeakSet()
        if policy.time_limit_s is not None:
            if not isinstance(policy.time_limit_s, (int, float)) or not policy.time_limit_s > 0:
                raise errors.ArgumentError("time_limit_s of policy '%s' is %r; give seconds above 0, or None" % (
                    policy.name, policy.time_limit_s))
            self._limit = int(policy.time_limit_s * 1e9)
        policy.late_decisions = 0
        view = "const clo_view *"
        self._kept = [library.c_string(str(policy.name) or "own", "name"), library.c_string(str(policy.summary), "summary"),
                      ffi.callback("clo_status(*)(void *, %s)" % view, self._init, error=lib.CLO_ERR_STATE, onerror=self._outside),
                      ffi.callback("bool(*)(void *, %s, clo_choice *)" % view, self._decide, error=False, onerror=self._outside),
                      ffi.callback("void(*)(void *, %s, const clo_event *)" % view, self._event, onerror=self._outside)]
        readiness = library.choice(ffi.typeof("clo_readiness"), str(policy.readiness), "readiness")
        self.pointer = ffi.new("clo_policy *", {
            "name": self._kept[0], "summary": self._kept[1], "size": ffi.sizeof("clo_policy"), "readiness": readiness,
            "commits": int(bool(policy.commits)), "moves": int(bool(policy.moves)), "init": self._kept[2], "decide": self._kept[3]})
        if policy.event is not None:
            self.pointer.event = self._kept[4]
        policy._in_use = True

    def close(self):
        """The library uses it no more."""
        self.policy._in_use = False

    def steps_max(self, asked):
        """The bound that the library is given: with a time limit there must be one, which a late decision uses up."""
        return asked if asked or self._limit is None else 2**32 - 1

    def _call(self, function, view, *arguments):
        """function(view, ...) with a view that ends with it; (what it returned, whether it was late)."""
        begin = time.monotonic_ns()
        until = None if self._limit is None else begin + self._limit
        seen = View(view, until)
        try:
            result = function(seen, *arguments)
            return result, until is not None and time.monotonic_ns() > until
        except _Late:
            return None, True
        finally:
            seen._pointer = None

    def begin(self):
        """A run begins: what the policy raises until its end(), as `error` of what this returns."""
        self.error, self.is_stopped, made = None, False, Failure()
        self._runs.add(made)
        return made

    def end(self, run):
        """The run of this begin() has ended."""
        self._runs.discard(run)

    def _fail(self, error):
        self.is_stopped = True
        for failed in (self, *self._runs):
            failed.error = failed.error or error

    def _outside(self, _, error, __):
        """An interrupt before or behind the lines that catch it."""
        self._fail(error)

    def _late(self, view):
        lib.clo_view_steps(view, 2**63)  # more than any bound: the scheduler's own rule decides
        self.policy.late_decisions += 1
        if self.policy.late_decisions == 1:
            try:
                warnings.warn("policy '%s': a decision took longer than time_limit_s (%g s); the scheduler's own rule decides in its "
                              "place, and results depend on this machine" % (self.policy.name, self.policy.time_limit_s), RuntimeWarning)
            except RuntimeWarning as error:  # a program that wants warnings as errors
                self._fail(error)

    def _init(self, _, view):
        library.thread.depth += 1  # first, and without anything that may collect
        try:
            self._call(self.policy.init, view)
            return 0
        except BaseException as error:  # pylint: disable=broad-except # raised by the call that runs
            self._fail(error)
            return lib.CLO_ERR_STATE
        finally:
            library.thread.depth -= 1

    def _event(self, _, view, event):
        library.thread.depth += 1
        try:
            if self.is_stopped:
                return
            self._call(self.policy.event, view, Event(_EVENTS.get(event.kind, event.kind), event.job, event.stage, event.executor,
                                                      event.count))
        except BaseException as error:  # pylint: disable=broad-except # likewise
            self._fail(error)
        finally:
            library.thread.depth -= 1

    def _decide(self, _, view, choice):
        library.thread.depth += 1
        try:
            if self.is_stopped:
                return False
            answer, is_late = self._call(self.policy.decide, view)
            if is_late:
                self._late(view)
                return False
            made = as_choice(answer, self.policy.name)
            if made is None:
                return False
            for field, value in zip(Choice._fields, made):
                setattr(choice, field, value)
            return True
        except BaseException as error:  # pylint: disable=broad-except # likewise
            self._fail(error)
            return False
        finally:
            library.thread.depth -= 1


class Built:
    """A policy of the library with its argument, as long as a call or a runtime uses it."""

    policy = error = None
    is_stopped = False

    def __init__(self, words):
        name, _, argument = words.partition(":")
        self.pointer, self.argument = lib.clo_policy_find(library.encoded(name, "policy")), ffi.NULL
        if self.pointer == ffi.NULL:
            raise errors.ArgumentError("there is no policy '%s'; clotho.names('policies') lists them" % name)
        self._is_parsed = False
        if argument:
            if self.pointer.parse == ffi.NULL:
                raise errors.ArgumentError("policy '%s' takes no argument" % name)
            self._bytes = ffi.new("int64_t[]", self.pointer.argument_bytes // 8 + 1)
            self.argument = ffi.cast("void *", self._bytes)
            library.check(self.pointer.parse(library.c_string(argument, "policy"), self.argument))
            self._is_parsed = True

    def close(self):
        """The library uses it no more."""
        if self._is_parsed and self.pointer.release != ffi.NULL:
            self.pointer.release(self.argument)
        self._is_parsed = False

    def begin(self):
        """It raises nothing."""

    def steps_max(self, asked):
        """The bound that the library is given."""
        return asked


def as_policy(what):
    """An Own or a Built, to be closed, of a name, a Policy or a function of (view)."""
    if isinstance(what, str):
        return Built(what)
    if isinstance(what, type) and issubclass(what, Policy):
        what = what()
    if not isinstance(what, Policy):
        if not callable(what):
            raise TypeError("a policy is a %s; give a name, a clotho.Policy or a function of (view)" % type(what).__name__)
        function, what = what, Policy()
        what.name, what.decide = getattr(function, "__name__", "own").strip("<>"), function
    return Own(what)
