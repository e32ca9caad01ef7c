"""Task graphs: from arrays, networkx, files (WfCommons and the others of docs/FORMATS.md), generators, or one task at a time."""
import functools
import os

import numpy

from clotho import bodies, errors, library
from clotho.library import check, ffi, lib

TASK, EDGE = library.dtype("clo_task"), library.dtype("clo_edge")


def column(name, value, count, kind):
    """A number or an array of `count` whole numbers as an array of `kind`; refuses what that cannot hold."""
    array = numpy.asarray(value)
    if array.dtype == bool and numpy.dtype(kind) == "u1":
        array = array.astype("u1")
    if array.dtype.kind not in "iu":
        if array.size == 0 and array.ndim == 1:
            return array.astype(kind)
        raise TypeError("%s is an array of %s; give whole numbers" % (name, array.dtype))
    if array.ndim > 1 or (array.ndim == 1 and len(array) != count):
        raise errors.ArgumentError("%s has the shape %s; give one number, or %d of them" % (name, array.shape, count))
    if array.dtype != numpy.dtype(kind) and array.size:
        limits = numpy.iinfo(kind)
        low, high = int(array.min()), int(array.max())
        if low < limits.min or high > limits.max:
            raise errors.ArgumentError("%s holds %d; give %d to %d" % (name, low if low < limits.min else high, limits.min, limits.max))
    return array.astype(kind, copy=False)


def _length(columns):
    """How many tasks the columns describe: the length of those that are arrays."""
    lengths = {name: len(value) for name, value in columns.items()
               if value is not None and not isinstance(value, (str, bytes, dict)) and hasattr(value, "__len__")}
    if not lengths:
        raise errors.ArgumentError("from_arrays needs one array at least, such as work_ns")
    if len(set(lengths.values())) > 1:
        raise errors.ArgumentError("columns differ in length: %s" % ", ".join("%s %d" % item for item in lengths.items()))
    return next(iter(lengths.values()))


def _name_pointers(names, count):
    """Addresses of the names, and the bytes that they point into."""
    names = list(names)
    if len(names) != count:
        raise errors.ArgumentError("there are %d names for %d tasks" % (len(names), count))
    try:
        block = ("\0".join(names) + "\0").encode("utf-8", "surrogateescape")
    except TypeError:
        wrong = next(name for name in names if not isinstance(name, str))
        raise TypeError("a name is a %s; give str" % type(wrong).__name__) from None
    ends = numpy.flatnonzero(numpy.frombuffer(block, "u1") == 0)
    if len(ends) != count:
        raise errors.ArgumentError("a name holds a 0 byte; leave it out")
    kept = ffi.from_buffer(block)
    starts = numpy.concatenate([[0], ends[:-1] + 1]).astype("u8")
    return starts + numpy.uint64(int(ffi.cast("uintptr_t", kept))), kept


def _alone(call):
    """One thread at a time on an open graph; calls of the library release the GIL."""
    @functools.wraps(call)
    def locked(self, *arguments, **named):
        with self._lock:
            return call(self, *arguments, **named)
    return locked


class Graph:
    """A task graph, open until it is sealed: by seal(), or by the first call that needs it. Sealed, it never changes."""

    def __init__(self, name=None):
        out = ffi.new("clo_graph **")
        check(lib.clo_graph_create(library.encoded(name, "name"), out))
        self._start(library.Handle(out[0], lib.clo_graph_destroy), False)

    def _start(self, handle, is_sealed):
        self.handle, self.is_sealed, self._lock = handle, is_sealed, library.Lock()
        self.bodies, self._half = bodies.Bodies(), None  # why it cannot be sealed

    @classmethod
    def _wrap(cls, handle):
        made = cls.__new__(cls)
        made._start(handle, True)
        return made

    @property
    def pointer(self):
        """The clo_graph."""
        return self.handle.pointer

    # What makes graphs.

    @classmethod
    def from_arrays(cls, work_ns=None, edges=None, *, name=None, names=None, kinds=None, body=None, **columns):
        """A sealed graph of arrays, one entry a task; a number stands for all.

        work_ns    whole numbers, ns; or an array of clotho.TASK, which is taken as it is.
        edges      an array [n, 2] or [n, 3] of from, to (and bytes), or an array of clotho.EDGE, which is taken as it is.
        kinds      {kind of executor: times in ns, one a task}; clotho.TIME_NEVER: not there.
        columns    further fields of a task: output_bytes, instances, task_class, duplicable, grain, demand ([n, 8]) ...
        body       of all tasks: see task()."""
        made = cls(name)
        if isinstance(work_ns, numpy.ndarray) and work_ns.dtype == TASK:
            if columns or names is not None:
                raise errors.ArgumentError("an array of clotho.TASK has all columns; leave the others out")
            tasks = numpy.ascontiguousarray(work_ns)
            if tasks.ndim != 1 or (tasks["name"] != 0).any() or (tasks["body"] != 0).any():
                raise errors.ArgumentError("an array of clotho.TASK has one dimension, and no pointers in name and body")
        else:
            tasks = made._table(dict(columns, work_ns=work_ns), names)
        made._add(tasks, body)
        if edges is not None:
            made._add_edges(edges)
        for kind, times in (kinds or {}).items():
            made.times(kind, times)
        return made.seal()

    @staticmethod
    def _table(columns, names):
        names = names if names is None or isinstance(names, (list, tuple)) else list(names)
        count = _length(dict(columns, names=names))
        tasks = numpy.zeros(count, TASK)
        for name, value in columns.items():
            if value is None:
                continue
            if name not in TASK.names or name in ("name", "body", "argument"):
                raise TypeError("a task has no column '%s'" % name)
            if name == "demand":
                value = numpy.asarray(value)
                if value.ndim != 2 or len(value) != count or value.shape[1] > TASK["demand"].shape[0]:
                    raise errors.ArgumentError("demand has the shape %s; give [%d, 1 to 8]" % (value.shape, count))
                for k in range(value.shape[1]):
                    tasks["demand"][:, k] = column("demand", value[:, k], count, "i8")
            else:
                tasks[name] = column(name, value, count, TASK[name].str)
        if names is not None:
            tasks["name"], kept = _name_pointers(names, count)
            return _Kept(tasks, kept)
        return tasks

    @_alone
    def _add(self, tasks, body=None):
        kept = getattr(tasks, "kept", None)
        tasks = getattr(tasks, "tasks", tasks)
        if body is not None:
            tasks = tasks.copy()
            tasks["body"], tasks["argument"] = self.bodies.add(body)
        first = ffi.new("uint32_t *")
        check(lib.clo_graph_add_tasks(self.pointer, ffi.from_buffer("clo_task[]", tasks), len(tasks), first))
        del kept
        return first[0]

    @_alone
    def _add_edges(self, edges):
        if isinstance(edges, numpy.ndarray) and edges.dtype == EDGE:
            table = numpy.ascontiguousarray(edges)
            if table.ndim != 1:
                raise errors.ArgumentError("edges have %d dimensions; give one" % table.ndim)
        else:
            array = numpy.asarray(edges if not hasattr(edges, "__next__") else list(edges))
            if array.size == 0:
                return
            if array.ndim != 2 or array.shape[1] not in (2, 3):
                raise errors.ArgumentError("edges have the shape %s; give [n, 2] or [n, 3]: from, to, bytes" % (array.shape,))
            table = numpy.zeros(len(array), EDGE)
            for k, (name, kind) in enumerate((("from", "u4"), ("to", "u4"), ("bytes", "u8"))[:array.shape[1]]):
                table[name] = column("edges: " + name, array[:, k], len(array), kind)
        check(lib.clo_graph_add_edges(self.pointer, ffi.from_buffer("clo_edge[]", table), len(table)))

    @classmethod
    def from_networkx(cls, graph, *, work="work_ns", data="bytes", name=None, body=None):
        """A sealed graph of a networkx.DiGraph: nodes in their order, attribute `work` in ns of nodes, `data` in bytes of edges.
        Other attributes that are columns of from_arrays are taken too. The names are str(node)."""
        networkx = errors.optional("networkx", "python3-networkx", "from_networkx")
        if not isinstance(graph, networkx.Graph) or not graph.is_directed() or graph.is_multigraph():
            raise TypeError("from_networkx takes a networkx.DiGraph, not a %s" % type(graph).__name__)
        index = {node: k for k, node in enumerate(graph)}
        if not index:
            raise errors.ArgumentError("the networkx graph has no nodes")
        columns = {}
        for column_name in ("output_bytes", "instances", "task_class", "duplicable", "grain"):
            if any(column_name in values for _, values in graph.nodes(data=True)):
                columns[column_name] = [values.get(column_name, 0) for _, values in graph.nodes(data=True)]
        times = [values.get(work, 0) for _, values in graph.nodes(data=True)]
        edges = [(index[a], index[b], values.get(data, 0)) for a, b, values in graph.edges(data=True)]
        return cls.from_arrays(times, edges, name=name or str(graph.name) or None, names=map(str, index), body=body, **columns)

    @classmethod
    def load(cls, path, *, scale=None, body=None, instance=None):
        """A graph from a file of any format that the library reads: its own, WfCommons, SAGA, DOT, STG ..."""
        name, wanted = library.c_string(body, "body"), library.c_string(instance, "instance")
        out = ffi.new("clo_document **")
        asked = library.config("clo_load_config", {"scale": scale, "body": name, "instance": wanted})
        check(lib.clo_document_load(library.encoded(path, "path"), asked, out))
        return cls._of_document(out[0])

    @classmethod
    def load_all(cls, path, *, scale=None, body=None):
        """All graphs of a file, one after the other; a file of JSON Lines has many."""
        name, opened, out = library.c_string(body, "body"), ffi.new("clo_documents **"), ffi.new("clo_document **")
        check(lib.clo_documents_open(library.encoded(path, "path"), library.config("clo_load_config", {"scale": scale, "body": name}),
                                     opened))
        documents = library.Handle(opened[0], lib.clo_documents_close)
        for _ in range(lib.clo_documents_count(opened[0])):
            check(lib.clo_documents_next(documents.pointer, out))
            yield cls._of_document(out[0])

    @classmethod
    def _of_document(cls, document):
        handle = library.Handle(document, lib.clo_document_destroy)
        graph = library.Handle(ffi.cast("clo_graph *", lib.clo_document_graph(document)), lambda _: None, handle)
        made = cls._wrap(graph)
        made._document = handle
        handle.close()  # the graph's from now on
        return made

    @classmethod
    def generate(cls, family, **fields):
        """A seeded graph of a family (clotho.names("families")): fields of clo_generate_config, such as tasks, seed, ccr."""
        out = ffi.new("clo_graph **")
        check(lib.clo_graph_generate(library.encoded(family, "family"), library.config("clo_generate_config", fields), out))
        return cls._wrap(library.Handle(out[0], lib.clo_graph_destroy))

    # An open graph.

    @_alone
    def task(self, name=None, *, body=None, after=(), demand=None, executors=None, times=None, **fields):
        """Adds a task and returns its id.

        body       a callable that takes a clotho.Call; a clotho.Symbol or the address of a compiled clo_task_fn; or None.
        after      ids of tasks that it waits for, or pairs of id and bytes.
        executors  ids of the executors that it may run on.
        times      {kind: ns}.
        fields     work_ns, output_bytes, instances, task_class, duplicable, grain."""
        for field, value in fields.items():
            if field not in TASK.names or field in ("name", "body", "argument", "demand"):
                raise TypeError("a task has no field '%s'" % field)
            fields[field] = library.number(int(value) if isinstance(value, bool) else value, field, 0, 2**64 - 1)
        asked, label, task = library.config("clo_task", fields), library.c_string(name, "name"), ffi.new("uint32_t *")
        asked.name = label
        if body is not None:
            function, argument = self.bodies.add(body)
            asked.body, asked.argument = ffi.cast("clo_task_fn", function), ffi.cast("void *", argument)
        amounts = [library.number(amount, "demand", -2**63) for amount in (() if demand is None else demand)]
        if len(amounts) > len(asked.demand):
            raise errors.ArgumentError("demand has %d entries; give 1 to %d" % (len(amounts), len(asked.demand)))
        asked.demand[0:len(amounts)] = amounts
        edges = []
        for before in after:
            pair = (before, 0) if hasattr(before, "__index__") else before
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise TypeError("after holds %r; give ids, or pairs of id and bytes" % (before,))
            edges.append((library.number(pair[0], "after", 0, library.NONE - 1), library.number(pair[1], "bytes", 0, 2**64 - 1)))
            if edges[-1][0] >= len(self):
                raise errors.ArgumentError("after holds %d, and the graph has %d tasks" % (edges[-1][0], len(self)))
        if executors is not None:
            executors = numpy.ascontiguousarray(column("executors", executors, numpy.size(executors), "u4").reshape(-1))
        times = [(library.number(time_ns, "times"), self.kind(kind)) for kind, time_ns in (times or {}).items()]
        check(lib.clo_graph_add_task(self.pointer, asked, task))
        try:
            for before, size in edges:
                check(lib.clo_graph_add_edge(self.pointer, before, task[0], size))
            if executors is not None:
                check(lib.clo_graph_set_executors(self.pointer, task[0], ffi.from_buffer("uint32_t[]", executors), len(executors)))
            for time_ns, kind in times:
                check(lib.clo_graph_set_time(self.pointer, task[0], kind, time_ns))
        except BaseException as error:
            self._half = "task %d is not whole: %s; make the graph anew" % (task[0], str(error) or type(error).__name__)
            raise
        return task[0]

    @_alone
    def edge(self, before, after, size=0):
        """Adds an edge that carries `size` bytes."""
        check(lib.clo_graph_add_edge(self.pointer, library.number(before, "before", 0, library.NONE), library.number(
            after, "after", 0, library.NONE), library.number(size, "size", 0, 2**64 - 1)))

    @_alone
    def kind(self, name):
        """The number of a kind of executors in this graph."""
        out = ffi.new("uint32_t *")
        check(lib.clo_graph_kind(self.pointer, library.encoded(name, "kind"), out))
        return out[0]

    @_alone
    def times(self, kind, times):
        """Sets the times of all tasks on a kind of executors, in ns."""
        number = self.kind(kind)
        set_time, pointer = lib.clo_graph_set_time, self.pointer
        for task, time_ns in enumerate(numpy.broadcast_to(column("times", times, len(self), "i8"), len(self)).tolist()):
            status = set_time(pointer, task, number, time_ns)
            if status != 0:
                check(status)

    @_alone
    def resource(self, index, name):
        """Names a resource of the demands."""
        check(lib.clo_graph_set_resource(self.pointer, library.number(index, "index", 0, 7), library.encoded(name, "name")))

    @_alone
    def seal(self):
        """Checks the graph and makes it immutable; returns it."""
        if self._half is not None:
            raise errors.StateError(self._half)
        check(lib.clo_graph_seal(self.pointer))
        self.is_sealed = True
        return self

    @_alone
    def sealed(self):
        """Seals it if it is open; returns it."""
        return self if self.is_sealed else self.seal()

    # Reading.

    def __len__(self):
        return lib.clo_graph_tasks(self.pointer)

    @property
    def name(self):
        """The graph's name."""
        return library.text(lib.clo_graph_name(self.pointer))

    @property
    def instances(self):
        """Instances of all tasks."""
        return lib.clo_graph_instances(self.pointer)

    @property
    def note(self):
        """What the reader of the file had to change; None: nothing."""
        return library.text(lib.clo_document_note(self._document.pointer)) if hasattr(self, "_document") else None

    @property
    def platform(self):
        """The platform that came with the file; None: there was none."""
        from clotho.platform import Platform

        own = lib.clo_document_platform(self._document.pointer) if hasattr(self, "_document") else ffi.NULL
        if own == ffi.NULL:
            return None
        return Platform(library.Handle(ffi.cast("clo_platform *", own), lambda _: None, self.handle))

    @_alone
    def tasks(self):
        """An array of clotho.TASK, without pointers."""
        made, read, pointer = numpy.zeros(len(self), TASK), lib.clo_graph_task, self.pointer
        filled = ffi.from_buffer("clo_task[]", made, require_writable=True) if len(made) else None
        for task in range(len(made)):
            read(pointer, task, filled + task)
        for name in ("name", "body", "argument"):
            made[name] = 0
        return made

    @_alone
    def edges(self):
        """An array of clotho.EDGE, in order of addition."""
        made, read, pointer = numpy.zeros(lib.clo_graph_edges(self.pointer), EDGE), lib.clo_graph_edge, self.pointer
        filled = ffi.from_buffer("clo_edge[]", made, require_writable=True) if len(made) else None
        for index in range(len(made)):
            read(pointer, index, filled + index)
        return made

    @_alone
    def names(self):
        """The names of all tasks."""
        scratch = ffi.new("char[16]")
        return [library.text(lib.clo_graph_task_name(self.pointer, task, scratch)) for task in range(len(self))]

    def to_networkx(self):
        """A networkx.DiGraph: nodes are task ids."""
        networkx = errors.optional("networkx", "python3-networkx", "to_networkx")
        made, tasks = networkx.DiGraph(name=self.name), self.tasks()
        for task, label in enumerate(self.names()):
            made.add_node(task, name=label, work_ns=int(tasks["work_ns"][task]), instances=int(tasks["instances"][task]),
                          output_bytes=int(tasks["output_bytes"][task]))
        made.add_edges_from((int(e["from"]), int(e["to"]), {"bytes": int(e["bytes"])}) for e in self.edges())
        return made

    @_alone
    def save(self, path, format=None):  # pylint: disable=redefined-builtin # the word of the command
        """Writes a file; the format by its ending, or "clotho", "dot", "wfformat", "saga"."""
        if not hasattr(self, "_document"):
            out = ffi.new("clo_document **")
            check(lib.clo_document_create(self.sealed().pointer, ffi.NULL, out))
            self._document = library.Handle(out[0], lib.clo_document_destroy)
            self.handle.hand_over(lambda _: None, self._document)
        check(lib.clo_document_save(self._document.pointer, library.encoded(format, "format"), library.encoded(path, "path")))

    def __repr__(self):
        return "<clotho.Graph %r: %d tasks, %d edges>" % (self.name, len(self), lib.clo_graph_edges(self.pointer))


class _Kept:
    """A table of tasks and the bytes of their names."""

    def __init__(self, tasks, kept):
        self.tasks, self.kept = tasks, kept


def load(path, **how):
    """Graph.load, for short."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError("path is a %s; give a str" % type(path).__name__)
    return Graph.load(path, **how)
