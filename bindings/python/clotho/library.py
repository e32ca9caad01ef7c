"""The library itself: cffi's handle to it, what its calls return, and who frees what.

An object of the library is held by a Handle. It is freed when its owner is gone and so is every object that uses it, in whatever
order Python collects them. What waits for threads (a runtime, a job) is never freed on a worker, which would wait for itself, but
later by the next call; and never in a forked child."""
import contextlib
import operator
import os
import pathlib
import sys
import threading
import weakref

import numpy

from clotho import _declarations, errors

ffi, CONSTANTS = _declarations.ffi, _declarations.CONSTANTS
NONE, TIME_NEVER = CONSTANTS["CLO_NONE"], CONSTANTS["CLO_TIME_NEVER"]
NAME = "libclotho-io.so.0"


def _candidates(library):
    """Where the library may be: CLOTHO_LIBRARY, the wheel, where the build or the installation has put it, the loader's own list."""
    here = pathlib.Path(__file__).resolve().parent
    if "CLOTHO_LIBRARY" in os.environ:
        return [os.path.join(os.environ["CLOTHO_LIBRARY"], library)]
    places = [here / "lib" / library]
    try:
        from clotho._place import LIBRARY
        places.append((here / LIBRARY / library).resolve())
    except ImportError:
        pass
    return [str(place) for place in places if place.exists()] + [library]


def opened(library):
    """The library of that name, or an ImportError."""
    failures = []
    for name in _candidates(library):
        try:
            return ffi.dlopen(name)
        except OSError as error:
            failures.append(str(error))
    raise ImportError("%s cannot be loaded: %s; set CLOTHO_LIBRARY to its folder" % (library, "; ".join(failures)))


def _of_this_version(found_library):
    """Structs without a size (tasks, placements, planners) are those of one version."""
    found, wanted = ffi.string(found_library.clo_version()).decode(), _declarations.VERSION
    if found.split(".")[:2] != wanted.split(".")[:2]:
        raise ImportError("%s is version %s, this package is for %s; set CLOTHO_LIBRARY to the folder of that one" % (NAME, found, wanted))
    return found_library


lib = _of_this_version(opened(NAME))
_everything = ffi.dlopen(None)  # its free() is the one of the process, also where another malloc is loaded before the C library's
STATUSES = {value: name[4:] for value, name in ffi.typeof("clo_status").elements.items()}
_lock = threading.RLock()  # a collection may free one object within the freeing of another
_later, _viewed = [], []


_locks = weakref.WeakSet()


class Lock:
    """A lock that a forked child finds open: no other thread would give it back there."""

    def __init__(self):
        self.renew()
        _locks.add(self)

    def renew(self):
        """Nobody has it."""
        self._lock = threading.RLock()

    def __enter__(self):
        self._lock.acquire()

    def __exit__(self, *_):
        self._lock.release()


def _renew_locks():
    global _lock
    _lock = threading.RLock()
    for lock in _locks:
        lock.renew()


os.register_at_fork(after_in_child=_renew_locks)


def text(pointer):
    """A text of the library; None for NULL."""
    return None if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "backslashreplace")


def taken_text(pointer):
    """A malloc'ed text, freed here."""
    try:
        return text(pointer)
    finally:
        _everything.free(pointer)


def encoded(value, what):
    """A str as the bytes that the library takes; None stays None."""
    if value is None:
        return ffi.NULL
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, (str, bytes)):
        raise TypeError("%s is a %s; give a str" % (what, type(value).__name__))
    data = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    if b"\0" in data:
        raise errors.ArgumentError("%s holds a 0 byte; leave it out" % what)
    return data


def c_string(value, what):
    """The same as a char[] that the caller keeps; NULL for None."""
    data = encoded(value, what)
    return data if data is ffi.NULL else ffi.new("char[]", data)


def failure(status, line=None):
    """The exception of a status, with the line of this thread."""
    made = errors.CLASSES.get(STATUSES.get(status), errors.Error)(line or text(lib.clo_last_error()) or text(lib.clo_status_text(status)))
    return made


def check(status):
    """Raises what a status other than CLO_OK stands for."""
    if status != 0:
        raise failure(status)


def choice(kind, word, what):
    """The value of an enum by the last word of its name: "virtual" is CLO_CLOCK_VIRTUAL."""
    found = {name: value for value, name in kind.elements.items()}
    for name, value in found.items():
        if name.endswith("_" + word.upper()):
            return value
    raise errors.ArgumentError("%s is '%s'; give one of %s" % (what, word, ", ".join(name.lower() for name in found)))


def config(kind, fields):
    """A struct `kind` with its size, and the fields that are not None; they hold plain numbers and pointers."""
    made, known = ffi.new(kind + " *"), dict(ffi.typeof(kind).fields)
    if "size" in known:
        made.size = ffi.sizeof(kind)
    for name, value in fields.items():
        if name == "size" or name not in known:  # the size says what the library may read: only this function knows it
            raise TypeError("%s has no field '%s'" % (kind, name))
        if value is not None:
            value = _whole(known[name].type, value, "%s.%s" % (kind, name))
            try:
                setattr(made, name, value)
            except OverflowError as error:
                raise errors.ArgumentError("%s.%s: %s" % (kind, name, error)) from None
            except TypeError as error:
                raise TypeError("%s.%s: %s" % (kind, name, error)) from None
    return made


def _whole(kind, value, what):
    """The value of a field; of whole numbers only whole numbers: cffi would cut off what is behind the point."""
    if kind.kind == "enum" and isinstance(value, str):
        return choice(kind, value, what.partition(".")[2])
    if kind.kind not in ("enum", "primitive") or kind.cname in ("double", "float"):
        return value
    if isinstance(value, (bool, numpy.bool_)):
        return int(value)
    return number(value, what, *_bounds(kind))


def _bounds(kind):
    """What a kind of whole numbers can hold."""
    if kind.cname in ("_Bool", "bool"):
        return 0, 1
    if kind.kind == "enum":
        return -2**31, 2**32 - 1
    limits = numpy.iinfo(_KINDS[kind.cname])
    return int(limits.min), int(limits.max)


def plain(struct, skip=("size",)):
    """The fields of a struct of numbers and texts as a dict."""
    found = {}
    for name, field in ffi.typeof(struct).item.fields if ffi.typeof(struct).kind == "pointer" else ffi.typeof(struct).fields:
        if name in skip:
            continue
        value = getattr(struct, name)
        if field.type.kind == "array":
            value = ffi.string(value).decode("utf-8", "replace") if field.type.item.cname == "char" else list(value)
        elif field.type.kind == "struct":
            value = plain(value)
        found[name] = value
    return found


def number(value, what, low=0, high=2**63 - 1):
    """A whole number within bounds, numpy's included."""
    try:
        if isinstance(value, bool):
            raise TypeError
        value = operator.index(value)
    except TypeError:
        raise TypeError("%s is a %s; give a whole number" % (what, type(value).__name__)) from None
    if not low <= value <= high:
        raise errors.ArgumentError("%s is %d; give %d to %d" % (what, value, low, high))
    return value


_KINDS = {"int64_t": "i8", "uint64_t": "u8", "int32_t": "i4", "uint32_t": "u4", "uint16_t": "u2", "int16_t": "i2", "uint8_t": "u1",
          "int": "i4", "size_t": "u8", "double": "f8"}


def dtype(kind):
    """The numpy dtype of a struct, made from its declaration; pointers are whole numbers."""
    names, formats, offsets = [], [], []
    for name, field in ffi.typeof(kind).fields:
        inner = field.type.item if field.type.kind == "array" else field.type
        code = "u8" if inner.kind in ("pointer", "function") else "i4" if inner.kind == "enum" else _KINDS[inner.cname]
        names.append(name)
        formats.append((code, (field.type.length,)) if field.type.kind == "array" else code)
        offsets.append(field.offset)
    return numpy.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": ffi.sizeof(kind)})


class _Shown:
    """Memory of the library as numpy sees it: keeps who owns it alive."""

    def __init__(self, pointer, count, kind, owner):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "shape": (count,), "typestr": "|V%d" % kind.itemsize, "strides": None,
                                    "data": (int(ffi.cast("uintptr_t", pointer)), True)}


def shown(pointer, count, kind, owner):
    """A read-only array over memory that `owner` keeps, without a copy."""
    if count == 0:
        return numpy.zeros(0, kind)
    return numpy.asarray(_Shown(pointer, count, kind, owner)).view(kind)


class _Thread(threading.local):
    """How deep in calls from the library this thread is. Each function that the library calls counts itself, around all that it does:
    where Python allocates it may collect, and what it collects may have to be freed."""

    depth = 0


thread = _Thread()


def back_to(depth):
    """The call of the library that began at this depth has returned, whatever an interrupt has left undone."""
    thread.depth = depth


def is_inside():
    """True in a call from the library."""
    return thread.depth > 0


def _is_foreign():
    """True on a thread that Python has not started: perhaps a worker that is about to count itself. Takes no lock, and makes nothing."""
    return isinstance(threading._active.get(threading.get_ident()), (type(None), threading._DummyThread))


def in_use(buffers):
    """Takes out of a list what nobody else has; whether something is left."""
    left = []
    while buffers:
        buffer = buffers.pop()
        if sys.getrefcount(buffer) > 2:
            left.append(buffer)
    buffers += left
    return bool(left)


class Handle:
    """A pointer of the library with the call that frees it, and the handles whose objects must outlive it."""

    __slots__ = ("pointer", "_destroy", "_parents", "_users", "_open", "_waits", "_process", "kept", "viewed", "settle", "__weakref__")

    def __init__(self, pointer, destroy, *parents, waits=False, kept=None, settle=None):
        self.kept = kept  # what the library may still call back
        self.viewed, self.settle = [], settle  # buffers over its memory that somebody may still view, all of them after settle()
        self.pointer, self._destroy, self._parents, self._waits = pointer, destroy, list(parents), waits
        self._users, self._open, self._process = 1, True, os.getpid()
        with _lock:
            for parent in parents:
                parent._users += 1

    def hand_over(self, destroy, *parents):
        """The pointer belongs to another object from now on, which `destroy` frees."""
        self.hold(*parents)
        self._destroy = destroy

    def hold(self, *parents):
        """These must outlive it, too."""
        with _lock:
            for parent in parents:
                parent._users += 1
            self._parents += parents

    @property
    def is_open(self):
        """Whether its owner still needs it."""
        return self._open

    @property
    def is_of_this_process(self):
        """False after a fork."""
        return self._process == os.getpid()

    def close(self, is_collected=False):
        """The owner needs it no more."""
        with _lock:
            if not self._open:
                return
            self._open = False
        self._drop(is_collected)

    def _drop(self, is_collected=False):
        with _lock:
            self._users -= 1
            if self._users > 0:
                return
            if self._waits and (is_inside() or (is_collected and _is_foreign())):
                _later.append(self)
                return
        self._free()

    def _free(self):
        if self._process == os.getpid():
            if self.settle is not None:
                self.settle(self.pointer)
            if in_use(self.viewed):
                _viewed.append(self)  # destroyed when the views are gone
                return
        try:
            if not self._waits or self._process == os.getpid():
                self._destroy(self.pointer)
        finally:  # an interrupt is raised behind the call
            self.kept, parents, self._parents = None, self._parents, []
            for parent in parents:
                parent._drop()

    @contextlib.contextmanager
    def use(self, what):
        """The pointer, for one call beside which another thread may close it: it is freed after the call. Refuses what is closed, or
        belongs to the process that this one was forked from."""
        with _lock:
            if not self._open:
                raise errors.StateError("the %s is closed" % what)
            if self._process != os.getpid():
                raise errors.StateError("this process was forked from the one that made the %s; use it there" % what)
            self._users += 1
        try:
            yield self.pointer
        finally:
            self._drop()

    def __reduce_ex__(self, _):
        raise TypeError("an object of the library cannot be copied, only used by several")  # both would free it

    def __del__(self):
        if getattr(self, "_open", False) and _lock is not None:  # else the interpreter ends, and has taken this module apart
            self.close(is_collected=True)


def free_later_ones():
    """Frees what could not be freed where it was dropped, or while somebody had a view of its memory."""
    if _viewed and not is_inside():
        with _lock:
            viewed, _viewed[:] = _viewed[:], []
        for handle in viewed:
            handle._free()
    while _later and not is_inside():
        with _lock:
            handle = _later.pop() if _later else None
        if handle is not None:
            handle._free()
