"""Platforms: executors, memories and links."""
import os
import weakref

import numpy

from clotho import errors, library
from clotho.graph import column
from clotho.library import check, ffi, lib

ANY = library.CONSTANTS["CLO_RESOURCES_MAX"]


def _matrix(name, value, size, kind):
    array = numpy.asarray(value)
    if array.dtype.kind not in ("iuf" if kind == "f8" else "iu"):
        raise TypeError("%s is an array of %s; give numbers" % (name, array.dtype))
    if array.shape != (size, size):
        raise errors.ArgumentError("%s has the shape %s; give [%d, %d]: from, to" % (name, array.shape, size, size))
    return numpy.ascontiguousarray(array, kind)


class Platform:
    """A platform; never changes. Platform("rk3588") opens one by what `clotho plan --platform` takes: a shipped name (clotho.names(
    "platforms")), "native", "uniform:P", "slots:P", or the path of an hwloc XML file."""

    def __init__(self, spec="native"):
        if isinstance(spec, library.Handle):
            self.handle = spec
            return
        if not isinstance(spec, str):
            raise TypeError("a platform is a %s; give a clotho.Platform or a str" % type(spec).__name__)
        out = ffi.new("clo_platform **")
        check(lib.clo_platform_open(library.encoded(spec, "spec"), out))
        self.handle = library.Handle(out[0], lib.clo_platform_destroy)

    @classmethod
    def from_arrays(cls, kinds, *, speeds=1.0, machines=0, memories=None, names=None, name=None, capacities=None, resources=None,
                    latency_ns=None, bandwidth=None, os_index=-1, coherent=False):
        """A platform of arrays, one entry an executor; a number stands for all.

        kinds       names of kinds, such as ["big", "big", "little"].
        speeds      relative to the reference executor; [n], or [n, 4] by task class.
        memories    index of the memory of each; None: each has its own.
        capacities  [machines, 1 to 8]; negative: unlimited. resources: their names.
        latency_ns, bandwidth  [n, n] from, to; bandwidth in bytes/ns (GB/s), 0: infinite."""
        kinds = list(kinds)
        count, distinct = len(kinds), list(dict.fromkeys(kinds))
        if count == 0:
            raise errors.ArgumentError("kinds is empty; give the kind of each executor")
        rows = numpy.zeros(count, library.dtype("clo_executor"))
        rows["kind"] = [distinct.index(kind) for kind in kinds]
        rows["machine"] = column("machines", machines, count, "u4")
        rows["memory"] = column("memories", numpy.arange(count) if memories is None else memories, count, "u4")
        rows["os_index"] = column("os_index", os_index, count, "i4")
        factors = numpy.asarray(speeds, "f8")
        if factors.ndim > 2 or factors.shape not in ((), (count,), (count, 4)):
            raise errors.ArgumentError("speeds have the shape %s; give one number, [%d] or [%d, 4]" % (factors.shape, count, count))
        q16 = numpy.rint(factors * library.CONSTANTS["CLO_SPEED_ONE"])
        if not ((q16 >= 1) & (q16 < 2**32)).all():
            raise errors.ArgumentError("a speed is out of range; give 1/65536 to 65535")
        rows["speed_q16"] = q16 if q16.ndim == 2 else numpy.broadcast_to(q16, count)[:, None]
        kept = [rows]

        def texts(values, what):
            strings = [library.c_string(value, what) for value in values]
            kept.append(strings)
            return ffi.new("char *[]", strings)

        def pointer(kind, array):
            kept.append(array)
            return ffi.from_buffer(kind, array)

        fields = {"name": library.c_string(name, "name"), "executors_count": count, "kinds_count": len(distinct),
                  "kind_names": texts(distinct, "kinds"), "executors": pointer("clo_executor[]", rows), "coherent": int(coherent),
                  "machines_count": int(rows["machine"].max()) + 1}
        if names is not None:
            names = list(names)
            if len(names) != count:
                raise errors.ArgumentError("there are %d names for %d executors" % (len(names), count))
            fields["executor_names"] = texts(names, "names")
        if capacities is not None:
            given, machines_count = numpy.asarray(capacities), fields["machines_count"]
            if given.dtype.kind not in "iu" or given.ndim != 2 or len(given) != machines_count or given.shape[1] > ANY:
                raise errors.ArgumentError("capacities have the shape %s; give whole numbers, [%d, 1 to 8]" % (given.shape, machines_count))
            all_of = numpy.full((machines_count, ANY), -1, "i8")
            all_of[:, :given.shape[1]] = given
            fields["capacities"] = pointer("int64_t[]", all_of)
        if resources is not None:
            fields["resource_names"] = texts((list(resources) + [None] * ANY)[:ANY], "resources")
        if latency_ns is not None:
            fields["latency_ns"] = pointer("int64_t[]", _matrix("latency_ns", latency_ns, count, "i8"))
        if bandwidth is not None:
            fields["bandwidth_bytes_per_ns"] = pointer("double[]", _matrix("bandwidth", bandwidth, count, "f8"))
        kept.append(fields)
        out = ffi.new("clo_platform **")
        check(lib.clo_platform_create(library.config("clo_platform_desc", fields), out))
        return cls(library.Handle(out[0], lib.clo_platform_destroy))

    @property
    def pointer(self):
        """The clo_platform."""
        return self.handle.pointer

    def __len__(self):
        return lib.clo_platform_executors(self.pointer)

    @property
    def name(self):
        """Its name."""
        return library.text(lib.clo_platform_name(self.pointer))

    @property
    def executors(self):
        """The names of the executors."""
        return [library.text(lib.clo_platform_executor_name(self.pointer, e)) for e in range(len(self))]

    @property
    def kinds(self):
        """The kind of each executor, by name."""
        rows = (lib.clo_platform_executor(self.pointer, e) for e in range(len(self)))
        return [library.text(lib.clo_platform_kind_name(self.pointer, row.kind)) for row in rows]

    @property
    def is_native(self):
        """Whether its executors are CPUs of this machine, or slots."""
        return bool(lib.clo_platform_is_native(self.pointer))

    def transfer_ns(self, size, source, target):
        """Time to move `size` bytes between two executors."""
        last = len(self) - 1
        return lib.clo_platform_transfer_ns(self.pointer, library.number(size, "size", 0, 2**64 - 1),
                                            library.number(source, "source", 0, last), library.number(target, "target", 0, last))

    def __repr__(self):
        return "<clotho.Platform %r: %d executors>" % (self.name, len(self))


_opened = weakref.WeakValueDictionary()


def as_platform(what):
    """A Platform of a Platform or of what Platform() takes. While somebody uses a platform of that name it is the same object: costs and
    runtimes of the name fit together. Files are read again."""
    if not isinstance(what, str):
        return what if isinstance(what, Platform) else Platform(what)
    if "/" in what or os.path.exists(what):
        return Platform(what)
    key = what, os.environ.get("CLOTHO_PLATFORMS"), frozenset(os.sched_getaffinity(0)), os.getpid()
    found = _opened.get(key)
    if found is None:
        found = _opened[key] = Platform(what)
    return found
