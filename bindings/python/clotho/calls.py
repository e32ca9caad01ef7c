"""Long calls that Ctrl-C can end: the library works on a thread of its own while the main thread waits and hears signals."""
import threading

from clotho import errors, library


def interruptible(work, stop=None):
    """work(), which may take long. An exception of a signal handler (Ctrl-C) calls stop(), waits until work() has ended, and is raised
    then; KeyboardInterrupt as Interrupted, with what work() has returned. Elsewhere than on the main thread: work() alone."""
    library.free_later_ones()
    if threading.current_thread() is not threading.main_thread() or library.is_inside():
        return work()
    outcome, done, gate = {}, threading.Event(), threading.Lock()

    def run():
        with gate:
            outcome["begun"] = True
            if "left" in outcome:
                return
        try:
            outcome["result"] = work()
        except BaseException as error:  # pylint: disable=broad-except # raised in the caller
            outcome["error"] = error
        finally:
            done.set()

    signalled = None
    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()
        done.wait()
    except BaseException as error:  # pylint: disable=broad-except # raised below
        signalled = error
        with gate:
            outcome.setdefault("begun", False)
            outcome.update({} if outcome["begun"] else {"left": True})
    while "left" not in outcome and not done.is_set():
        try:
            if stop is not None:
                stop()
            done.wait()
        except BaseException as error:  # pylint: disable=broad-except # the first one is raised
            signalled = signalled or error
    if signalled is None and "error" in outcome:
        raise outcome["error"]
    if isinstance(signalled, KeyboardInterrupt):
        raise errors.Interrupted(outcome.get("result")) from None
    if signalled is not None:
        raise signalled
    return outcome["result"]
