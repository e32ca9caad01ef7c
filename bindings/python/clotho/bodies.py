"""Task bodies: Python callables, compiled functions, those of the library.

A callable gets a Call and runs on the thread of the library that executes the task, with the GIL. What it returns is its value:
successors find it in Call.values, and the result of the run has it. What it raises ends the run: TaskError, from that exception."""
import ctypes
import os
import threading
import traceback

from clotho import errors, library
from clotho.library import ffi, lib

FAILED = 1  # what a body returns for an exception


class Symbol:
    """A compiled body, int NAME(const clo_call *), of a shared object; `argument`: the address that it gets."""

    def __init__(self, path, name, argument=0):
        if not isinstance(name, str):
            raise TypeError("name is a %s; give a str" % type(name).__name__)
        try:
            self._library = ctypes.CDLL(path)
        except OSError as error:
            raise errors.FileError("%s; give a shared object" % error) from None
        try:
            self.address = ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value
        except AttributeError:
            raise errors.ArgumentError("%s has no function '%s'" % (path, name)) from None
        self.argument = library.number(argument, "argument", 0, 2**64 - 1)


class Call:
    """What a body gets. Valid until it returns, and so are the views of its buffers: of the job's memory, or of copies in a simulation,
    whose memory ends with it."""

    __slots__ = ("_pointer", "_run", "_views", "_buffers", "_copy")

    def __init__(self, pointer, run):
        self._pointer, self._run, self._views, self._buffers, self._copy = pointer, run, [], [], None

    @property
    def _is_direct(self):
        return self._run is not None and self._run.viewed is not None

    def _call(self):
        if self._pointer is None:
            raise errors.StateError("the body that this call was made for has returned")
        return self._pointer

    task = property(lambda self: self._call().task, doc="Its id.")
    instance = property(lambda self: self._call().instance, doc="The first instance of this call.")
    instances = property(lambda self: self._call().instances, doc="Instances of the task.")
    count = property(lambda self: self._call().count, doc="Instances that this call serves.")
    executor = property(lambda self: self._call().executor, doc="Index into the platform.")
    is_replica = property(lambda self: bool(self._call().is_replica), doc="A replica.")
    expected_ns = property(lambda self: self._call().expected_ns, doc="What the cost says.")
    release = property(lambda self: self._call().release, doc="Number of the release.")

    def _view(self, pointer, size, is_writable):
        if pointer == ffi.NULL:
            return None
        buffer = ffi.buffer(ffi.cast("char *", pointer), size)
        self._buffers.append(buffer if self._is_direct else bytearray(buffer))
        return self._view_of(self._buffers[-1], is_writable)

    def _view_of(self, buffer, is_writable):
        whole = memoryview(buffer)
        view = whole if is_writable else whole.toreadonly()
        self._views += [view] if view is whole else [view, whole]
        return view

    @property
    def inputs(self):
        """The outputs of the executions that this one waited for, as read-only views of bytes; None for those without."""
        call = self._call()
        return [self._view(call.inputs[k], call.inputs_bytes[k], False) for k in range(call.inputs_count)]

    @property
    def output(self):
        """This execution's buffer, as a view of bytes; None without."""
        call = self._call()
        if self._is_direct or call.output == ffi.NULL:
            return self._view(call.output, call.output_bytes, True)
        if self._copy is None:
            self._copy = bytearray(ffi.buffer(ffi.cast("char *", call.output), call.output_bytes))
            self._buffers.append(self._copy)
        return self._view_of(self._copy, True)

    @property
    def values(self):
        """What the bodies of the predecessors have returned, in order of the edges, all instances of each; None where nothing."""
        call = self._call()
        return self._run.inputs_of(call.task, call.release)

    def end(self):
        """The body has returned: takes the views back. False if somebody keeps one: then the memory stays until it is gone."""
        pointer, self._pointer = self._pointer, None
        if self._copy is not None:
            ffi.memmove(pointer.output, self._copy, len(self._copy))
            self._copy = None
        view, is_free = None, True
        while self._views:
            view = self._views.pop()
            try:
                view.release()
            except BufferError:  # an array was made of it
                is_free = False
        del view
        if library.in_use(self._buffers):  # a slice of a view lives
            is_free = False
            if self._is_direct:
                self._run.viewed += self._buffers
            self._buffers = []
        self._run = None  # an exception may have this call
        return is_free


class Run:
    """What the bodies of one run have returned and raised."""

    def __init__(self, before, viewed=None):
        self.error, self._before, self._releases, self._lock = None, before, {}, threading.Lock()
        self.viewed, self.process = viewed, os.getpid()  # Handle.viewed of the job; None: in a simulation

    def inputs_of(self, task, release):
        """The values of the predecessors."""
        values = self._releases.get(release, {})
        return [values.get(key) for key in self._before(task)]

    def keep(self, task, instance, release, value):
        """Keeps a value; those of releases that no body can be in any more are dropped."""
        with self._lock:
            if release not in self._releases:
                self._releases[release] = {}
                self._releases.pop(release - library.CONSTANTS["CLO_IN_FLIGHT_MAX"], None)
            self._releases[release][task, instance] = value

    @property
    def values(self):
        """{(task, instance): value} of the last release."""
        return dict(self._releases[max(self._releases)]) if self._releases else {}

    def fail(self, error):
        """Keeps the first exception."""
        with self._lock:
            self.error = self.error or error


class _Box:
    """Where the entries of a graph find the run in progress."""

    run = None


class _Entry:
    __slots__ = ("function", "box")

    def __init__(self, function, box):
        self.function, self.box = function, box

    def enter(self, pointer):
        """One execution; returns what the library takes."""
        run, call = self.box.run, Call(pointer, self.box.run)
        task, instance, release = pointer.task, pointer.instance, pointer.release
        try:
            value = self.function(call)
            if not call.end():
                raise errors.StateError("the body of task %d keeps a view of a buffer; copy what must stay" % task)
            if value is not None and run is not None:
                run.keep(task, instance, release, value)
            return 0
        except BaseException as error:  # pylint: disable=broad-except # raised by the call that waits
            if error.__traceback__ is not None:
                traceback.clear_frames(error.__traceback__.tb_next)  # they may hold views
            call.end()
            if run is not None:
                run.fail(error)
            run = call = None  # the exception has this frame
            return FAILED


def _outside(_, error, __):
    """An interrupt before or behind the lines that catch it, where bodies are called on the main thread."""
    _local.error = error


def take_outside():
    """That interrupt, once; None: there was none."""
    error, _local.error = getattr(_local, "error", None), None
    return error


_local = threading.local()


@ffi.callback("int(*)(const clo_call *)", error=FAILED, onerror=_outside)
def _enter(pointer):
    library.thread.depth += 1  # first, and without anything that may collect
    try:
        return ffi.from_handle(pointer.argument).enter(pointer)
    finally:
        library.thread.depth -= 1


class Bodies:
    """The bodies of one graph: keeps alive what its tasks point to."""

    def __init__(self):
        self.box, self._handles, self._kept, self._before = _Box(), {}, [], None

    def add(self, body):
        """(function, argument) of a body, as addresses."""
        if isinstance(body, Symbol):
            self._kept.append(body)
            return body.address, body.argument
        if body == "spin":
            return int(ffi.cast("uintptr_t", lib.clo_body_spin)), 0
        if isinstance(body, ffi.CData):
            return int(ffi.cast("uintptr_t", ffi.cast("clo_task_fn", body))), 0
        if isinstance(body, int) and not isinstance(body, bool):
            return library.number(body, "body", 1, 2**64 - 1), 0
        if not callable(body):
            raise TypeError("a body is a %s; give a callable, a clotho.Symbol, an address or 'spin'" % type(body).__name__)
        handle = self._handles.get(body) if body.__hash__ else None
        if handle is None:
            handle = ffi.new_handle(_Entry(body, self.box))
            self._kept.append(handle)
            if body.__hash__:
                self._handles[body] = handle
        return int(ffi.cast("uintptr_t", _enter)), int(ffi.cast("uintptr_t", handle))

    @property
    def are_python(self):
        """Whether some body is a callable."""
        return any(isinstance(kept, ffi.CData) for kept in self._kept)

    def begin(self, graph, viewed=None):
        """A run begins: only one at a time can have values. One of the process that this one was forked from is no run here."""
        if not self.are_python:
            return None
        if self.box.run is not None:
            library.free_later_ones()  # a job that was dropped where nothing may wait for it
        if self.box.run is not None and self.box.run.process == os.getpid():
            raise errors.StateError("graph '%s' has bodies in Python and runs already; wait for that run" % graph.name)
        self.box.run = Run(lambda task: self._predecessors(graph).get(task, ()), viewed)
        return self.box.run

    def _predecessors(self, graph):
        """{task: (task, instance) of what it waits for}, of a sealed graph; found once."""
        if self._before is None:
            before, counts = {}, graph.tasks()["instances"].tolist()
            edges = graph.edges()
            for source, target in zip(edges["from"].tolist(), edges["to"].tolist()):
                before.setdefault(target, []).extend((source, instance) for instance in range(counts[source]))
            self._before = before
        return self._before

    def end(self, run):
        """The run has ended."""
        if run is not None and self.box.run is run:
            self.box.run = None

    def is_of(self, viewed):
        """Whether the run in progress is one of the job with this Handle.viewed."""
        run = self.box.run
        return run is not None and run.viewed is viewed
