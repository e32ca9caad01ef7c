"""Costs: what the tasks of a graph take on a platform."""
import numpy

from clotho import library
from clotho.graph import Graph
from clotho.library import check, ffi, lib
from clotho.platform import as_platform


class Cost:
    """Execution and transfer times of one graph on one platform; never changes. Seals the graph."""

    def __init__(self, graph, platform="native"):
        if not isinstance(graph, Graph):
            raise TypeError("graph is a %s; give a clotho.Graph" % type(graph).__name__)
        self.graph, self.platform = graph.sealed(), as_platform(platform)
        out = ffi.new("clo_cost **")
        check(lib.clo_cost_create(self.graph.pointer, self.platform.pointer, out))
        self.handle = library.Handle(out[0], lib.clo_cost_destroy, self.graph.handle, self.platform.handle)
        self._times = None

    @property
    def pointer(self):
        """The clo_cost."""
        return self.handle.pointer

    @property
    def execution_ns(self):
        """[tasks, executors] the time of an instance; clotho.TIME_NEVER: it cannot run there. Read only."""
        if self._times is None:
            times = numpy.empty((len(self.graph), len(self.platform)), "i8")
            ask, pointer, executors = lib.clo_cost_execution_ns, self.pointer, range(len(self.platform))
            for task in range(len(self.graph)):
                times[task] = [ask(pointer, task, executor) for executor in executors]
            times.flags.writeable = False
            self._times = times
        return self._times

    def _ranks(self, call):
        ranks = numpy.zeros(len(self.graph), "i8")
        call(self.pointer, ffi.from_buffer("int64_t[]", ranks, require_writable=True))
        return ranks

    @property
    def rank_u(self):
        """Upward ranks in ns (Topcuoglu 2002, eq. 8)."""
        return self._ranks(lib.clo_cost_rank_u)

    @property
    def rank_d(self):
        """Downward ranks in ns (eq. 9)."""
        return self._ranks(lib.clo_cost_rank_d)

    @property
    def levels(self):
        """Edges on the longest path from an entry to each task."""
        levels = numpy.zeros(len(self.graph), "u4")
        lib.clo_graph_levels(self.graph.pointer, ffi.from_buffer("uint32_t[]", levels, require_writable=True))
        return levels

    def bound(self):
        """Lower bounds on the makespan, as a dict; `best_ns` is the largest."""
        out = library.config("clo_bound", {})
        check(lib.clo_cost_bound(self.pointer, out))
        return library.plain(out)

    def __repr__(self):
        return "<clotho.Cost of %r on %r>" % (self.graph.name, self.platform.name)


def as_cost(what, platform=None):
    """A Cost of a Cost, or of a Graph and a platform (the file's own, or this machine, where none is given)."""
    if isinstance(what, Cost):
        if platform is not None:
            raise TypeError("a clotho.Cost has its platform; leave the other out")
        return what
    if not isinstance(what, Graph):
        raise TypeError("a %s is no graph; give a clotho.Graph or a clotho.Cost" % type(what).__name__)
    return Cost(what, platform if platform is not None else what.platform or "native")
