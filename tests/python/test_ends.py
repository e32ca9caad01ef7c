"""How runs on this machine end: Ctrl-C, things closed and dropped, forks, the end of the interpreter."""
import contextlib
import gc
import os
import signal
import sys
import threading
import time
import unittest

from support import PackageTest, hello

import clotho
from clotho import calls, errors


class Ends(PackageTest):
    def test_ctrl_c_ends_a_run_cleanly(self):
        graph, done = clotho.Graph(), []

        def body(call):
            if call.task == 3:
                os.kill(os.getpid(), signal.SIGINT)
            while call.task > 3 and not done:
                time.sleep(0.001)  # until the main thread has heard it
            return call.task

        before = 0
        for k in range(40):
            before = graph.task(body=body, after=[before] if k else ())
        with clotho.Runtime() as runtime, runtime.job(graph) as job:
            real = calls._Call.heard
            calls._Call.heard = lambda call, *how: (real(call, *how), call._stop(), done.append(True))
            self.addCleanup(setattr, calls._Call, "heard", real)
            with self.assertRaises(clotho.Interrupted) as caught:
                job.run()
            result = caught.exception.result
            self.assertEqual(errors.Cancelled.status, "ERR_CANCELLED")
            self.assertEqual(clotho.library.STATUSES[result.status], "ERR_CANCELLED")
            self.assertGreaterEqual(result.executed, 4)
            self.assertEqual(result.values[3], 3)
            self.assertEqual(runtime.run(hello()).values[2], 42)  # goes on
            done.clear()

    def test_ctrl_c_in_a_wait_with_a_timeout(self):
        begun, go, graph, heard = threading.Event(), threading.Event(), clotho.Graph(), threading.Event()
        graph.task(body=lambda call: (begun.set(), go.wait(), 5)[2])
        real, lib = calls._Call.heard, clotho.library.lib

        class Library:
            """Ctrl-C comes while the wait with a timeout lasts; the body goes on until somebody waits for it without one."""

            def __getattr__(self, name):
                return getattr(lib, name)

            @staticmethod
            def clo_job_wait_for(pointer, _, result):
                begun.wait()
                os.kill(os.getpid(), signal.SIGINT)
                heard.wait()
                return lib.clo_job_wait_for(pointer, 0, result)

            @staticmethod
            def clo_job_wait(pointer, result):
                go.set()
                return lib.clo_job_wait(pointer, result)

        calls._Call.heard = lambda call, *how: (real(call, *how), heard.set())
        self.addCleanup(setattr, calls._Call, "heard", real)
        runs = sys.modules["clotho.run"]
        runs.lib = Library()
        self.addCleanup(setattr, runs, "lib", lib)
        with clotho.Runtime() as runtime, runtime.job(graph) as job, contextlib.ExitStack() as end:
            end.callback(go.set)
            for start in (lambda: (job.submit(), job.wait(timeout=60)), lambda: job.run(timeout=60)):
                for event in (begun, go, heard):
                    event.clear()
                with self.assertRaises(clotho.Interrupted) as caught:
                    start()
                self.assertTrue(go.is_set())
                self.assertEqual((caught.exception.result.executed, caught.exception.result.values), (1, {0: 5}))
                self.assertIsNone(graph.bodies.box.run)

    def test_closed_things_are_refused(self):
        graph = hello()
        runtime = clotho.Runtime()
        job = runtime.job(graph)
        job.run()
        runtime.close()
        runtime.close()
        for use in (lambda: runtime.run(graph), lambda: runtime.job(graph), job.submit, job.run, lambda: job.output(0)):
            with self.assertRaisesRegex(errors.StateError, "closed"):
                use()

    def test_closed_by_another_thread(self):
        for close in ("job", "runtime"):
            begun, graph, failures = threading.Event(), clotho.Graph(), []
            graph.task(body=lambda call, begun=begun: (begun.set(), time.sleep(0.01)) and None)
            for k in range(30):
                graph.task(body=lambda call: time.sleep(0.001), after=[k])
            runtime = clotho.Runtime()
            job = runtime.job(graph)

            def runs(job=job, failures=failures):
                try:
                    job.run()
                except errors.Error as error:
                    failures.append(type(error))

            thread = threading.Thread(target=runs)
            thread.start()
            begun.wait()
            (job if close == "job" else runtime).close()
            thread.join()
            self.assertIn(failures, ([errors.Cancelled], []))
            runtime.close()

    def test_dropped_in_any_order_in_a_body_and_while_running(self):
        for _ in range(10):
            runtime = clotho.Runtime()
            job = runtime.job(hello())
            job.submit()
            runtime.cycle, job.cycle = job, runtime
            del runtime, job
            gc.collect()
        held = [clotho.Runtime()]
        held.append(held[0].job(hello()))
        held[1].run()
        graph = clotho.Graph()
        graph.task(body=lambda call: (held.clear(), gc.collect()) and None)
        clotho.run(graph)  # on a worker, where nothing may wait for workers
        self.assertEqual(held, [])
        clotho.library.free_later_ones()

    def test_a_fork_with_a_runtime_alive(self):
        said = self.python("""
import os, sys, clotho
graph = clotho.Graph("g")
graph.task(body=lambda call: 42)
runtime = clotho.Runtime()
job = runtime.job(graph)
assert job.run().values == {0: 42}
for how in ("_exit", "exit", "del"):
    child = os.fork()
    if child == 0:
        for use in (job.run, job.submit, lambda: runtime.run(graph), lambda: job.output(0), lambda: runtime.report):
            try: use()
            except clotho.errors.StateError as error: assert "forked" in str(error), error
            else: os._exit(1)
        assert clotho.plan(clotho.Graph.generate("chain", tasks=5), "rk3588").makespan_ns > 0
        assert clotho.run(graph).values == {0: 42}   # a runtime of its own
        if how == "del":
            job.close(); runtime.close()
            del job, runtime
        if how == "_exit": os._exit(0)
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0, how
    assert job.run().values == {0: 42}
print("good")
""")
        self.assertEqual(said, "good\n")

    def test_a_fork_while_bodies_run(self):
        said = self.python("""
import os, threading, clotho
graph, begun, go, parent = clotho.Graph("p"), threading.Event(), threading.Event(), os.getpid()
graph.task(body=lambda call: (begun.set(), os.getpid() != parent or go.wait(), 3)[2])
with clotho.Runtime("slots:1") as runtime, runtime.job(graph) as job:
    job.submit()
    begun.wait()
    child = os.fork()
    if child == 0:
        assert clotho.run(graph, "slots:1").values == {0: 3}
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    go.set()
    assert status == 0 and job.wait().values == {0: 3}
print("good")
""")
        self.assertEqual(said, "good\n")

    def test_a_fork_while_another_thread_has_a_lock(self):
        said = self.python("""
import os, threading, clotho
graph, workload, has, go = clotho.Graph(), clotho.Workload(), threading.Event(), threading.Event()
graph.task()
def hold():
    with graph._lock, workload._lock:
        has.set()
        go.wait()
thread = threading.Thread(target=hold)
thread.start()
has.wait()
child = os.fork()
if child == 0:
    workload.add(graph)
    os._exit(len(workload) + len(graph.tasks()))
status = os.waitpid(child, 0)[1]
go.set()
thread.join()
print(os.waitstatus_to_exitcode(status))
""")
        self.assertEqual(said, "2\n")

    def test_the_end_of_an_interpreter_that_starts_no_threads(self):
        said = self.python("""
import atexit
atexit.register(lambda: print([runtime.handle.is_open for runtime in runtimes]))  # after the package's own
import threading, clotho
runtimes = [clotho.Runtime("slots:1") for _ in range(3)]
def refuse(_):
    raise RuntimeError("can't create new thread at interpreter shutdown")
threading.Thread.start = refuse
""")
        self.assertEqual(said, "[False, False, False]\n")

    def test_the_interpreter_ends_while_bodies_run(self):
        said = self.python("""
import threading, time, clotho
graph, begun = clotho.Graph(), threading.Event()
for _ in range(30):
    graph.task(body=lambda call: (begun.set(), time.sleep(0.01)) and None)
runtime = clotho.Runtime()
job = runtime.job(graph)
job.submit()
begun.wait()
print("leaves")
""")
        self.assertEqual(said, "leaves\n")

    def test_an_interrupt_ends_a_program_as_ctrl_c_does(self):
        self.python("""
import os, signal, clotho
graph = clotho.Graph()
graph.task(body=lambda call: os.kill(os.getpid(), signal.SIGINT))
for _ in range(2000):
    graph.task(body=lambda call: None, after=[0])
try:
    clotho.run(graph)
    signal.pause()
except KeyboardInterrupt:
    raise SystemExit(5)
""", code=5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
