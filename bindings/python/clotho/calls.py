"""Long calls that Ctrl-C can end: the library works on a thread of its own while the main thread waits and hears signals."""
import signal
import threading

from clotho import errors, library

FEW = 10_000  # executions that are checked, measured or simulated within milliseconds: not worth a thread
AGAIN_S = 0.05  # a stop that came before there was something to stop is tried again


class _Call:
    """One call of work() on its thread, as the main thread sees it."""

    def __init__(self, work, stop):
        self._work, self._stop, self._gate, self._bell = work, stop, threading.Lock(), threading.Lock()
        self.result = self.error = None
        self.is_interrupted = self._has_begun = self._is_left = self.is_done = False
        self._bell.acquire()

    def _ring(self):
        try:
            self._bell.release()
        except RuntimeError:  # it rings already
            pass

    def run(self):
        """On the thread of its own."""
        with self._gate:
            self._has_begun = True
            if self._is_left:
                return
        try:
            self.result = self._work()
        except BaseException as error:  # pylint: disable=broad-except # raised in the caller
            self.error = error
        finally:
            self.is_done = True
            self._ring()

    def heard(self, *_):
        """The handler of Ctrl-C: raises nothing, so that it can come at any moment, and again."""
        self.is_interrupted = True
        self._ring()

    def leave(self):
        """An exception of another handler has come while the thread began. True: work() will not begin."""
        with self._gate:
            self._is_left = not self._has_begun
        return self._is_left

    def wait(self):
        """Until work() has ended; after an interrupt, stop() again and again until then."""
        while not self.is_done:
            self._bell.acquire(timeout=AGAIN_S if self.is_interrupted else -1)
            if self.is_interrupted and not self.is_done and self._stop is not None:
                self._stop()


def interruptible(work, stop=None, executions=None):
    """work(), which may take long. Ctrl-C calls stop(), waits until work() has ended, and raises Interrupted with what it returned; an
    exception of another signal's handler does the same and is raised. Elsewhere than on the main thread, and for few executions: work()
    alone."""
    library.free_later_ones()
    if executions is not None and executions <= FEW:
        return work()
    if threading.current_thread() is not threading.main_thread() or library.is_inside():
        return work()
    call, before, raised = _Call(work, stop), signal.getsignal(signal.SIGINT), None
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, call.heard)
    try:
        try:
            threading.Thread(target=call.run, daemon=True).start()
            call.wait()
        except BaseException as error:  # pylint: disable=broad-except # raised below
            raised = error
            call.is_interrupted = True
            if not call.leave():
                call.wait()
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)
    if isinstance(raised, KeyboardInterrupt) or (raised is None and call.is_interrupted):
        raise errors.Interrupted(call.result) from None
    if raised is not None or call.error is not None:
        raise raised or call.error
    return call.result
