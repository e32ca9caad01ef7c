"""Workflows of remote calls, and services that answer them: libclotho-rpc, which is there where its libraries are.

    service = rpc.Service({"price": lambda request: request.body + b"?"})      # in one process: service.run()
    with rpc.Workflow("shop=" + service.endpoint) as workflow:                 # in another
        first = workflow.call("shop", "price", b"a book")
        second = workflow.call("shop", "price", after=[first], effect="keyed")
        workflow.run()
        print(workflow.answer(second))

include/clotho/rpc.h says what holds for calls. Times are whole nanoseconds."""
import atexit
import multiprocessing
import threading
import traceback
import weakref

from clotho import calls, errors, library
from clotho.library import ffi

lib = library.opened("libclotho-rpc.so.0")
_STATUSES = {name: value for value, name in library.STATUSES.items()}
_live = weakref.WeakSet()
_HANDLER = "clo_status(*)(void *, const clo_rpc_request *, clo_rpc_answer *)"


class Request:
    """What a handler gets: a copy, which it may keep."""

    __slots__ = ("method", "body", "run", "task", "instance", "attempt", "key", "effect", "left_ns", "expected_ns")

    def __init__(self, pointer):
        self.method, self.body = library.text(pointer.method), bytes(ffi.buffer(pointer.body, pointer.body_bytes))
        self.effect = ffi.typeof("clo_rpc_effect").elements[pointer.effect].rpartition("_")[2].lower()
        for name in ("run", "task", "instance", "attempt", "key", "left_ns", "expected_ns"):
            setattr(self, name, getattr(pointer, name))


def _status_of(error):
    """What the caller is told of an exception."""
    if isinstance(error, errors.Error):
        return _STATUSES[error.status] if error.status else _STATUSES["ERR_TASK"]
    if isinstance(error, (TypeError, ValueError, LookupError)):
        return _STATUSES["ERR_ARGUMENT"]
    return _STATUSES["ERR_TIMEOUT"] if isinstance(error, TimeoutError) else _STATUSES["ERR_TASK"]


def _fill(answer, function, pointer):
    try:
        said = function(Request(pointer))
        if not isinstance(said, (bytes, bytearray, memoryview)):
            raise TypeError("the handler has returned a %s; return bytes" % type(said).__name__)
        data = bytes(said)
        answer.count = len(data)
        if len(data) <= answer.room:
            ffi.memmove(answer.bytes, data, len(data))
        return 0
    except BaseException as error:  # pylint: disable=broad-except # the caller is told
        line = (str(error).strip() or type(error).__name__).splitlines()[0].encode("utf-8", "replace")[:159]
        line = line.decode("utf-8", "ignore").encode()  # no part of a letter
        ffi.memmove(answer.text, line + b"\0", len(line) + 1)
        if error.__traceback__ is not None:
            traceback.clear_frames(error.__traceback__.tb_next)
        return _status_of(error)


@ffi.callback(_HANDLER, error=_STATUSES["ERR_TASK"])
def _answer(argument, pointer, answer):
    library.thread.depth += 1
    try:
        return _fill(answer, ffi.from_handle(argument), pointer)
    finally:
        library.thread.depth -= 1


@ffi.callback("void(*)(void *, const char *)")
def _line(argument, line):
    library.thread.depth += 1
    try:
        ffi.from_handle(argument)(library.text(line))
    finally:
        library.thread.depth -= 1


def _listener(function, kept):
    """The fields of a config that have lines told to a function."""
    if function is None:
        return {}
    if not callable(function):
        raise TypeError("a listener is a %s; give a callable" % type(function).__name__)
    kept.append(ffi.new_handle(function))
    return {"argument": kept[-1]}


def _texts(values, what, kept):
    """An array of texts, and how many."""
    if isinstance(values, (str, bytes)):
        raise TypeError("%s is a text; give a list of them" % what)
    values = list(values)
    kept += [library.c_string(value, what) for value in values]
    kept.append(ffi.new("const char *[]", kept[len(kept) - len(values):]))
    return kept[-1], len(values)


class Service:
    """A service that listens, and answers once run() is called; a context manager.

    methods  {name: function}: it gets a Request and returns bytes. "" answers the methods that no other does. What it raises is told:
             TypeError, ValueError, LookupError: the request is wrong; errors.LimitError: come again later; TimeoutError: no time is
             left; anything else: it may go better another time. It runs on a thread of libuv's pool.
    listen   "ADDRESS:PORT"; port 0 is any that is free.
    keys     file of the table of keys and answers: so an effect is not repeated where the service was killed.
    allowed  patterns of endpoints that a route may pass on to.
    log      gets one line an event, on the thread of run().
    fields   of clo_rpc_service_config: slots, queue, is_durable, beat_ns, unsent_bytes."""

    def __init__(self, methods, *, listen=None, keys=None, allowed=(), log=None, **fields):
        kept, out = [], ffi.new("clo_rpc_service **")
        names, count = _texts(allowed, "allowed", kept)
        fields.update(_listener(log, kept), listen=library.c_string(listen, "listen"), keys=library.c_string(keys, "keys"),
                      allowed=names, allowed_count=count, log=_line if log is not None else None)
        library.check(lib.clo_rpc_service_create(library.config("clo_rpc_service_config", fields), out))
        self._handle = library.Handle(out[0], lib.clo_rpc_service_destroy, waits=True, kept=kept)
        try:
            for name, function in methods.items():
                if not callable(function):
                    raise TypeError("method '%s' is a %s; give a callable" % (name, type(function).__name__))
                kept.append(ffi.new_handle(function))
                library.check(lib.clo_rpc_service_add(out[0], library.encoded(name, "a method"), _answer, kept[-1], 0))
        except BaseException:
            self._handle.close()
            raise
        _live.add(self)
        self.endpoint = library.text(lib.clo_rpc_service_endpoint(out[0]))

    def run(self):
        """Answers requests until stop(). Ctrl-C stops it, and raises Interrupted."""
        with self._handle.use("service") as pointer:
            calls.interruptible(lambda: library.check(lib.clo_rpc_service_run(pointer)), lambda: lib.clo_rpc_service_stop(pointer))

    def start(self):
        """run() on a thread of its own, which is returned."""
        thread = threading.Thread(target=self.run, daemon=True)
        thread.start()
        return thread

    def stop(self):
        """Ends run(), which was called or will be. Any thread."""
        with self._handle.use("service") as pointer:
            lib.clo_rpc_service_stop(pointer)

    def close(self):
        """Stops it; it is freed when run() has ended."""
        if self._handle.is_open and self._handle.is_of_this_process:
            self.stop()
        self._handle.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _serve(told, methods, options):
    try:
        service = Service(methods, **options)
    except Exception as error:  # pylint: disable=broad-except # fork raises it
        told.send(error)
        return
    told.send(service.endpoint)
    service.run()


def fork(methods, **options):
    """A Service in a process of its own, which ends with this one: its endpoint. For a program that brings its services along,
    such as an example or a test; multiprocessing.active_children() has the process. Call it before a workflow runs."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(there, methods, options), daemon=True)
    process.start()
    there.close()
    try:
        said = here.recv()
    except EOFError:
        said = errors.HostError("the process of a service has ended before it listened")
    if isinstance(said, Exception):
        process.join()
        raise said
    return said


class Workflow:
    """A graph of calls; a context manager.

    services  "NAME=ENDPOINT,ENDPOINT;NAME=...", or {name: endpoint or list of endpoints}.
    journal   file with which a run that was killed goes on.
    route     endpoints that each call passes on to.
    event     gets one line an attempt and an answer, on a thread of the library.
    fields    of clo_rpc_config: slots, deadline_ns, attempts, no_hedges, hedge_ns, backoff_ns, backoff_max_ns, attempt_ns, beat_ns,
              keeps_going, is_durable, run, seed."""

    def __init__(self, services, *, journal=None, route=(), event=None, **fields):
        kept, out = [], ffi.new("clo_rpc_workflow **")
        if isinstance(services, dict):
            services = ";".join("%s=%s" % (name, at if isinstance(at, str) else ",".join(at)) for name, at in services.items())
        hops, count = _texts(route, "route", kept)
        fields.update(_listener(event, kept), services=library.c_string(services, "services"), journal=library.c_string(journal, "journal"),
                      route=hops, hops=count, event=_line if event is not None else None)
        library.check(lib.clo_rpc_workflow_create(library.config("clo_rpc_config", fields), out))
        self._kept = kept
        self._handle = library.Handle(out[0], lib.clo_rpc_workflow_destroy, waits=True, kept=kept)
        _live.add(self)

    def call(self, service=None, method="", body=b"", after=(), *, name=None, here=None, arrivals_ns=None, **fields):
        """Adds a call and returns its number. Its body is `body` and then the answers of the calls `after`.

        here    a function that answers instead of a service: it gets a Request and returns bytes.
        fields  of clo_rpc_call: effect ("pure", "keyed", "once"), answer_bytes, work_ns, deadline_ns, instances."""
        body, before = bytes(memoryview(body)), [library.number(call, "after", 0, 2**32 - 1) for call in after]
        copy, out = ffi.new("char[]", body), ffi.new("uint32_t *")
        texts = [library.c_string(text, what) for text, what in ((service, "service"), (method, "method"), (name, "name"))]
        numbers, fields = ffi.new("uint32_t[]", before), dict(fields)
        if arrivals_ns is not None:
            arrivals = ffi.new("int64_t[]", [library.number(at, "arrivals_ns") for at in arrivals_ns])
            if fields.setdefault("instances", len(arrivals)) != len(arrivals):
                raise errors.ArgumentError("%d arrivals_ns for %d instances" % (len(arrivals), fields["instances"]))
            fields["arrivals_ns"] = arrivals
        if here is not None:
            if not callable(here):
                raise TypeError("here is a %s; give a callable" % type(here).__name__)
            self._kept.append(ffi.new_handle(here))
            fields.update(here=_answer, here_argument=self._kept[-1])
        fields.update(service=texts[0], method=texts[1], name=texts[2], body=copy, body_bytes=len(body), after=numbers,
                      after_count=len(before))
        with self._handle.use("workflow") as pointer:
            library.check(lib.clo_rpc_workflow_add(pointer, library.config("clo_rpc_call", fields), out))
        return out[0]

    def run(self):
        """Runs it to its end; returns result. Ctrl-C cancels it."""
        with self._handle.use("workflow") as pointer:
            calls.interruptible(lambda: library.check(lib.clo_rpc_workflow_run(pointer)), lambda: lib.clo_rpc_workflow_cancel(pointer))
        return self.result

    def cancel(self):
        """Ends the run that is under way, and each one that follows. Any thread."""
        with self._handle.use("workflow") as pointer:
            lib.clo_rpc_workflow_cancel(pointer)

    def move(self, service, replica, endpoint):
        """A replica is at another endpoint from now on. Any thread."""
        with self._handle.use("workflow") as pointer:
            library.check(lib.clo_rpc_workflow_move(pointer, library.encoded(service, "service"), library.number(
                replica, "replica", 0, 2**32 - 1), library.encoded(endpoint, "endpoint")))

    def answer(self, call, instance=0):
        """The bytes that a call was answered with, after a run."""
        out, count = ffi.new("const void **"), ffi.new("size_t *")
        with self._handle.use("workflow") as pointer:
            library.check(lib.clo_rpc_workflow_answer(pointer, library.number(call, "call", 0, 2**32 - 1),
                                                      library.number(instance, "instance", 0, 2**32 - 1), out, count))
            return bytes(ffi.buffer(out[0], count[0]))

    @property
    def result(self):
        """What the runs have done, as a dict: the fields of clo_rpc_result."""
        made = library.config("clo_rpc_result", {})
        with self._handle.use("workflow") as pointer:
            library.check(lib.clo_rpc_workflow_result(pointer, made))
        found = library.plain(made)
        found["status"] = library.STATUSES[found["status"]]
        return found

    def close(self):
        """Frees it; a run that is under way is ended first."""
        if self._handle.is_open and self._handle.is_of_this_process:
            self.cancel()
        self._handle.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


@atexit.register
def _end():
    """The interpreter ends: nobody calls its functions any more."""
    for made in list(_live):
        made.close()
