"""Workloads: jobs that arrive over time."""
import contextlib

from clotho import errors, library
from clotho.graph import Graph
from clotho.library import check, ffi, lib
from clotho.platform import Platform


class Workload:
    """Jobs that arrive over time; made by add(), load() or arrivals()."""

    def __init__(self, name=None):
        out = ffi.new("clo_workload **")
        check(lib.clo_workload_create(library.encoded(name, "name"), out))
        self._start(library.Handle(out[0], lib.clo_workload_destroy))

    def _start(self, handle):
        self.handle, self._lock, self._readers = handle, library.Lock(), 0

    @classmethod
    def _wrap(cls, handle):
        made = cls.__new__(cls)
        made._start(handle)
        return made

    @contextlib.contextmanager
    def reading(self):
        """Calls that read the jobs: meanwhile nobody may change them, not even a policy that they call."""
        with self._lock:
            self._readers += 1
        try:
            yield self.pointer
        finally:
            with self._lock:
                self._readers -= 1

    @contextlib.contextmanager
    def _changing(self):
        with self._lock:
            if self._readers > 0:
                raise errors.StateError("the workload is being simulated or read; change it afterwards")
            yield self.pointer

    @classmethod
    def load(cls, path, *, scale=None, body=None):
        """A workload from a file: clotho.workload/1, or any file of graphs."""
        out, name = ffi.new("clo_workload **"), library.c_string(body, "body")
        check(lib.clo_workload_load(library.encoded(path, "path"), library.config("clo_load_config", {"scale": scale, "body": name}), out))
        return cls._wrap(library.Handle(out[0], lib.clo_workload_destroy))

    def add(self, graph, arrival_ns=0, *, name=None, **fields):
        """Adds a job: fields of clo_workload_job, such as weight, deadline_ns, band, group, limit. Seals the graph."""
        if not isinstance(graph, Graph):
            raise TypeError("graph is a %s; give a clotho.Graph" % type(graph).__name__)
        label = library.c_string(name, "name")
        asked = library.config("clo_workload_job", dict(fields, name=label, arrival_ns=arrival_ns))
        asked.graph = graph.sealed().pointer
        with self._changing() as pointer:
            check(lib.clo_workload_add(pointer, asked))
            self.handle.hold(graph.handle)

    def sort(self):
        """Puts the jobs into the order of their arrivals; returns the workload."""
        with self._changing() as pointer:
            check(lib.clo_workload_sort(pointer))
        return self

    def arrivals(self, kind="batch", *, jobs=0, mean_ns=0, seed=0, shuffled=False):
        """Another workload of these jobs with new arrivals: "batch", "poisson" (mean_ns between two) or "trace"."""
        out = ffi.new("clo_workload **")
        asked = library.config("clo_arrivals_config", {"kind": kind, "jobs": jobs, "mean_ns": mean_ns, "seed": seed,
                                                       "shuffled": int(bool(shuffled))})
        with self.reading() as pointer:
            check(lib.clo_workload_arrivals(pointer, asked, out))
        return self._wrap(library.Handle(out[0], lib.clo_workload_destroy, self.handle))

    def save(self, path):
        """Writes a file clotho.workload/1."""
        with self.reading() as pointer:
            check(lib.clo_workload_save(pointer, library.encoded(path, "path")))

    @property
    def pointer(self):
        """The clo_workload."""
        return self.handle.pointer

    def __len__(self):
        return lib.clo_workload_jobs(self.pointer)

    @property
    def name(self):
        """Its name."""
        return library.text(lib.clo_workload_name(self.pointer))

    @property
    def platform(self):
        """The platform of its file; None: there was none."""
        own = lib.clo_workload_platform(self.pointer)
        return None if own == ffi.NULL else Platform(library.Handle(ffi.cast("clo_platform *", own), lambda _: None, self.handle))

    def job(self, index):
        """A job's row as a dict: name, arrival_ns, weight ..."""
        with self.reading() as pointer:
            row = lib.clo_workload_get(pointer, library.number(index, "index", 0, library.NONE))
            if row == ffi.NULL:
                raise IndexError("the workload has %d jobs" % len(self))
            found = library.plain(row, ("size", "graph"))
            found["name"] = library.text(found["name"])
            return found

    def __repr__(self):
        return "<clotho.Workload %r: %d jobs>" % (self.name, len(self))
