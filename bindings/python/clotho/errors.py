"""Failures of the library as exceptions: a class for each status, and the one line of clo_last_error as its text."""


class Error(Exception):
    """What the library refused. `status` is the name of its status, such as "ERR_CYCLE"."""

    status = ""


class ArgumentError(Error, ValueError):
    """An argument that cannot be."""


class OutOfMemory(Error, MemoryError):
    """Out of memory."""


class CycleError(Error, ValueError):
    """The graph has a dependency cycle."""


class PlatformError(Error):
    """The platform cannot do what is asked."""


class FormatError(Error, ValueError):
    """A malformed file."""


class StateError(Error, RuntimeError):
    """Not allowed in this state: a sealed graph, a closed runtime, a forked process."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class LimitError(Error, OverflowError):
    """A number is out of range or overflows."""


class TaskError(Error):
    """A task of the job failed. `task` is its id, `code` what its body returned; __cause__ is what a body in Python raised."""

    task = code = None


class Cancelled(Error):
    """The job was cancelled."""


class InvalidError(Error):
    """A plan that breaks a constraint: the checker's line."""


class HostError(Error, OSError):
    """The operating system refused."""


class UnsupportedError(Error, NotImplementedError):
    """Not built into this library, or not for this graph or platform."""


class TimeLimitError(Error, TimeoutError):
    """It took longer than it was allowed to."""


class Aborted(Error):
    """The run was cut short at its deadline."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. `result` is what there was by then: the best plan so far, the result of a cancelled run, the rows of a table; or None."""

    def __init__(self, result=None):
        super().__init__("interrupted")
        self.result = result


CLASSES = {
    "ERR_ARGUMENT": ArgumentError, "ERR_MEMORY": OutOfMemory, "ERR_CYCLE": CycleError, "ERR_PLATFORM": PlatformError,
    "ERR_FORMAT": FormatError, "ERR_STATE": StateError, "ERR_IO": FileError, "ERR_LIMIT": LimitError, "ERR_TASK": TaskError,
    "ERR_CANCELLED": Cancelled, "ERR_INVALID": InvalidError, "ERR_SYSTEM": HostError, "ERR_UNSUPPORTED": UnsupportedError,
    "ERR_TIMEOUT": TimeLimitError, "ERR_ABORTED": Aborted}
for _name, _class in CLASSES.items():
    _class.status = _name


def optional(module, package, what):
    """Imports what Clotho can do without, or says which package has it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError("%s needs %s; install the Debian package %s" % (what, module.split(".")[0], package)) from error
