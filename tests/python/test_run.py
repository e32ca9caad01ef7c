"""Runs on this machine: bodies in Python and compiled, their views, what they and policies raise."""
import gc
import os
import subprocess
import threading
import time
import unittest

from support import SOURCE, PackageTest, fifo_policy, hello, layered

import clotho
from clotho import errors


class Bodies(PackageTest):
    def test_values_go_along_the_edges(self):
        graph = hello()
        with clotho.Runtime() as runtime:
            cost = clotho.Cost(graph)
            for how in ({}, {"plan": clotho.plan(cost)}, {"policy": "fair"}, {"policy": fifo_policy}):
                result = runtime.run(cost, **how) if "plan" not in how else runtime.run(graph, **how)
                self.assertEqual((result.values, result.executed, result.status), ({0: 6, 1: 36, 2: 42}, 3, 0))
                self.assertEqual(len(result.events), 3)
                self.assertEqual(result.plan().check(is_measured=True).planner, "measured")
        for how in ({}, {"plan": clotho.plan(graph)}, {"plan": clotho.plan(graph, clotho.Platform())}):
            self.assertEqual(clotho.run(graph, **how).values[2], 42)
        self.assertEqual(clotho.run(clotho.Cost(graph)).values[2], 42)
        self.assertEqual(clotho.simulate(graph, "rk3588", execute=True).values[2], 42)

    def test_instances_and_buffers(self):
        graph = clotho.Graph()

        def parts(call):
            call.output[:] = bytes([call.instance] * 4)
            return call.instance

        def join(call):
            self.assertEqual([bytes(view) for view in call.inputs], [bytes([k] * 4) for k in range(5)])
            self.assertTrue(all(view.readonly for view in call.inputs))
            self.assertIsNone(call.output)
            return sum(call.values), call.task, call.instances, call.count, call.is_replica, call.release

        a = graph.task(body=parts, instances=5, output_bytes=4, work_ns=1000)
        b = graph.task(body=join, after=[(a, 20)], work_ns=1000)
        with clotho.Runtime() as runtime, runtime.job(graph) as job:
            result = job.run()
            self.assertEqual(result.values, {a: [0, 1, 2, 3, 4], b: (10, 1, 1, 1, False, 0)})
            self.assertEqual(job.output(a, 3), bytes([3] * 4))
            self.assertIsNone(job.output(b))
            self.assertEqual(job.run().output_hash, result.output_hash)
        simulated = clotho.simulate(graph, "rk3588", execute=True)
        self.assertEqual((simulated.values, simulated.output_hash), (result.values, result.output_hash))

    def test_buffers_of_any_size_in_runs_and_simulations(self):
        for size in (1, 2, 4096):
            graph = clotho.Graph()
            first = graph.task(body=lambda call: (call.output.__setitem__(0, 7), call.output[0])[1], output_bytes=size)
            graph.task(body=lambda call: (len(call.inputs[0]), call.inputs[0][0], call.inputs[0].readonly), after=[(first, size)])
            for result in (clotho.run(graph, "slots:1"), clotho.simulate(graph, "uniform:1", execute=True)):
                self.assertEqual(result.values, {0: 7, 1: (size, 7, True)})

    def test_arrays_over_buffers(self):
        import numpy

        graph = clotho.Graph()

        def fill(call):
            numpy.frombuffer(call.output, "f8")[:] = numpy.arange(16)

        def total(call):
            return float(numpy.frombuffer(call.inputs[0], "f8").sum())

        a = graph.task(body=fill, output_bytes=128)
        b = graph.task(body=total, after=[(a, 128)])
        self.assertEqual(clotho.run(graph).values[b], 120.0)

    def test_a_compiled_body(self):
        with open(self.path("body.c"), "w", encoding="utf-8") as file:
            file.write("#include <clotho/graph.h>\n"
                       "int twice(const clo_call *c) { *(int *)c->output = 2 * *(int *)c->argument; return 0; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-I", os.path.join(SOURCE, "include"), self.path("body.c"), "-o", self.path("body.so")],
                       check=True)
        argument = clotho.library.ffi.new("int *", 21)
        address = int(clotho.library.ffi.cast("uintptr_t", argument))
        graph = clotho.Graph()
        graph.task(body=clotho.Symbol(self.path("body.so"), "twice", address), output_bytes=4)
        graph.task(body="spin", work_ns=1000)
        graph.task(body=clotho.Symbol(self.path("body.so"), "twice", address).address and "spin")
        with clotho.Runtime() as runtime, runtime.job(graph) as job:
            job.run()
            self.assertEqual(int.from_bytes(job.output(0), "little"), 42)
        for error, call in ((errors.FileError, lambda: clotho.Symbol(self.path("none.so"), "f")), (TypeError, lambda: clotho.Symbol("", 1)),
                            (errors.ArgumentError, lambda: clotho.Symbol(self.path("body.so"), "thrice")),
                            (errors.ArgumentError, lambda: clotho.Graph().task(body=-1))):
            with self.assertRaises(error):
                call()

    def test_what_a_body_raises_is_the_cause(self):
        def broken(call):
            raise KeyError("mine")

        graph = hello()
        with clotho.Runtime() as runtime:
            bad = clotho.Graph("bad")
            first = bad.task("fine", body=lambda call: 1)
            bad.task("broken", body=broken, after=[first])
            bad.task("never", body=lambda call: os._exit(9), after=[1])
            for how in ({}, {"policy": "fair"}, {"plan": clotho.plan(bad, runtime.platform)}):
                with self.assertRaisesRegex(errors.TaskError, "broken") as caught:
                    runtime.run(bad, **how)
                self.assertIsInstance(caught.exception.__cause__, KeyError)
                self.assertEqual((caught.exception.task, caught.exception.code), (1, 1))
            self.assertEqual(runtime.run(graph).values[2], 42)  # goes on
        with self.assertRaises(errors.TaskError) as caught:
            clotho.simulate(bad, "rk3588", execute=True)
        self.assertIsInstance(caught.exception.__cause__, KeyError)
        leaves = clotho.Graph()
        leaves.task(body=lambda call: (_ for _ in ()).throw(SystemExit(3)))
        with self.assertRaises(errors.TaskError) as caught:
            clotho.run(leaves)
        self.assertIsInstance(caught.exception.__cause__, SystemExit)

    def test_a_view_that_a_body_keeps_fails_the_task(self):
        import numpy

        for keep in (lambda call: numpy.frombuffer(call.output, "u1"), lambda call: call.output[1:], lambda call: memoryview(call.output),
                     lambda call: numpy.frombuffer(call.output, "u1")[2:]):
            kept, graph = [], clotho.Graph()
            graph.task("keeps", body=lambda call, kept=kept, keep=keep: kept.append(keep(call)), output_bytes=8)
            with self.assertRaises(errors.TaskError) as caught:
                clotho.run(graph)
            self.assertRegex(str(caught.exception.__cause__), "the body of task 0 keeps a view of a buffer; copy what must stay")
        kept, graph = [], clotho.Graph()
        graph.task("fine", body=lambda call: kept.append((call, call.output)), output_bytes=8)
        clotho.run(graph)
        with self.assertRaisesRegex(errors.StateError, "has returned"):
            kept[0][0].task
        with self.assertRaises(ValueError):
            kept[0][1][0]

    def test_memory_stays_as_long_as_its_views(self):
        self.python("""
import gc, numpy, clotho
from clotho import library
for how in ("slice", "numpy", "raise"):
    for run in (lambda graph: clotho.run(graph, "slots:1"), lambda graph: clotho.simulate(graph, "uniform:1", execute=True)):
        kept, graph = [], clotho.Graph()
        def body(call):
            call.output[5] = 77
            kept.append(numpy.frombuffer(call.output, "u1") if how == "numpy" else call.output[0:100_000])
            if how == "raise":
                raise KeyError("mine")
        graph.task(body=body, output_bytes=64 << 20)
        try: run(graph)
        except clotho.errors.TaskError as error: assert type(error.__cause__) is (KeyError if how == "raise" else clotho.errors.StateError)
        else: assert False
        del graph
        gc.collect()
        library.free_later_ones()
        assert bytes(kept[0][:10]) == bytes([0, 0, 0, 0, 0, 77, 0, 0, 0, 0]), bytes(kept[0][:10])
        kept.clear()
        library.free_later_ones()
        assert library._viewed == []
""")

    def test_a_view_that_is_kept_after_the_job_was_dropped(self):
        self.python("""
import threading, clotho
from clotho import library
kept, begun, go, free, graph, runtime = [], threading.Event(), threading.Event(), library.Handle._free, clotho.Graph(), clotho.Runtime("slots:1")
def seen(handle):
    if handle._waits:
        go.set()
    free(handle)
def body(call):
    begun.set()
    go.wait()
    kept.append(call.output[0:100_000])
graph.task(body=body, output_bytes=64 << 20)
job = runtime.job(graph)
job.submit()
begun.wait()
library.Handle._free = seen
del job
assert len(kept) == 1 and bytes(kept[0][:10]) == bytes(10)
runtime.close()
assert bytes(kept[0][:10]) == bytes(10)
""")

    def test_waiting_again_tells_the_same(self):
        go, graph, bad, said = threading.Event(), clotho.Graph(), clotho.Graph(), []
        graph.task(body=lambda call: go.wait() and 7)
        bad.task(body=lambda call: 1 // 0)
        with clotho.Runtime() as runtime, runtime.job(graph) as job, runtime.job(bad) as failing:
            job.submit()
            threads = [threading.Thread(target=lambda: said.append(job.wait().values)) for _ in range(3)]
            for thread in threads:
                thread.start()
            go.set()
            for thread in threads:
                thread.join()
            self.assertEqual(said, [{0: 7}] * 3)
            self.assertEqual(job.wait().values, {0: 7})
            failing.submit()
            for _ in range(2):
                with self.assertRaises(errors.TaskError) as caught:
                    failing.wait()
                self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)

    def test_a_job_that_is_dropped_while_it_runs_leaves_its_graph(self):
        graph, begun = clotho.Graph(), threading.Event()
        graph.task(body=lambda call: begun.set() or 1)
        with clotho.Runtime() as runtime:
            job = runtime.job(graph)
            job.submit()
            begun.wait()
            del job
            gc.collect()
            self.assertEqual(runtime.run(graph).values, {0: 1})
            holder = clotho.Graph()  # where it can only be freed later
            holder.task(body=lambda call: (held.clear(), gc.collect()) and None)
            held = [runtime.job(graph)]
            held[0].submit()
            runtime.run(holder)
            self.assertEqual(held, [])
            again = runtime.job(graph)
            again.submit()
            self.assertEqual(again.wait().values, {0: 1})

    def test_one_run_with_values_at_a_time(self):
        begun, go, graph = threading.Event(), threading.Event(), clotho.Graph("waits")
        graph.task(body=lambda call: (begun.set(), go.wait(), 1)[2])
        with clotho.Runtime() as runtime, runtime.job(graph) as job:
            job.submit()
            begun.wait()
            with self.assertRaisesRegex(errors.StateError, "'waits' has bodies in Python and runs already"):
                clotho.run(graph)
            with self.assertRaises(errors.TimeLimitError):
                job.wait(timeout=0.01)
            with self.assertRaises(errors.StateError):
                job.submit()
            go.set()
            self.assertEqual(job.wait().values, {0: 1})
            with self.assertRaises(errors.StateError):
                runtime.job(layered()).wait()

    def test_values_of_releases_in_flight_do_not_mix(self):
        graph, seen = clotho.Graph(), []
        first = graph.task(body=lambda call: call.release, work_ns=1000)
        second = graph.task(body=lambda call: call.values[0], after=[first], work_ns=1000)
        graph.task(body=lambda call: seen.append((call.release, *call.values)), after=[first, second], work_ns=1000)
        with clotho.Runtime() as runtime, runtime.job(graph, releases_in_flight=4, releases=1500) as job:
            result = job.run()
            self.assertEqual(seen, [(release, release, release) for release in range(1500)])
            self.assertEqual(result.values, {0: 1499, 1: 1499})
        seen.clear()
        plan = clotho.pipeline(graph, "uniform:2")
        clotho.simulate(graph, plan=plan, execute=True, releases_in_flight=3, releases=20)
        self.assertEqual(seen, [(release, release, release) for release in range(20)])

    def test_other_threads_of_python_go_on_during_calls(self):
        with open(self.path("wait.c"), "w", encoding="utf-8") as file:
            file.write("#include <clotho/graph.h>\nint wait(const clo_call *c) { while (!*(volatile int *)c->argument); return 0; }\n")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-I", os.path.join(SOURCE, "include"), self.path("wait.c"), "-o",
                        self.path("wait.so")], check=True)
        flag = clotho.library.ffi.new("int *")
        graph = clotho.Graph()
        graph.task(body=clotho.Symbol(self.path("wait.so"), "wait", int(clotho.library.ffi.cast("uintptr_t", flag))))
        with clotho.Runtime() as runtime, runtime.job(graph) as job:
            threading.Thread(target=lambda: flag.__setitem__(0, 1)).start()
            self.assertEqual(job.run().executed, 1)
            flag[0] = 0
            other = threading.Thread(target=job.run)  # not on the main thread: no thread of its own
            other.start()
            flag[0] = 1
            other.join()
            flag[0] = 0
            real = job._cancel_and_wait  # a body that has begun is waited for
            job._cancel_and_wait = lambda *how: (flag.__setitem__(0, 1), real(*how))[1]
            with self.assertRaises(errors.TimeLimitError):
                job.run(timeout=0)
            self.assertEqual(job.run().executed, 1)

    def test_jobs_that_wait_and_series(self):
        count, graph = [], clotho.Graph()
        graph.task(body=lambda call: count.append(call.executor))
        with clotho.Runtime() as runtime, runtime.job(graph, period_ns=1_000_000, releases=5, on_miss="run_late") as job:
            job.run()
            self.assertEqual((len(count), job.timing()["released"], job.timing()["response_ns"]["count"]), (5, 5, 5))
            self.assertIn("pin", runtime.report + "pin")
            for error, how in ((errors.ArgumentError, {"on_miss": "cry"}), (TypeError, {"colour": 1}), (TypeError, {"plan": "heft"}),
                               (errors.ArgumentError, {"band": 99}), (errors.ArgumentError, {"policy": "nobody"})):
                with self.subTest(how=how), self.assertRaises(error):
                    runtime.job(graph, **how)
        for error, how in ((errors.ArgumentError, {"clock": "sundial"}), (TypeError, {"colour": 1}),
                           (errors.PlatformError, {"platform": "rk3588"}),
                           (TypeError, {"platform": 3})):
            with self.subTest(how=how), self.assertRaises(error):
                clotho.Runtime(**how)

    def test_the_clock_of_a_board(self):
        graph = layered(40)
        plan = clotho.plan(graph, "rk3588")
        with clotho.Runtime(plan.cost.platform, clock="virtual") as runtime:
            self.assertEqual(runtime.run(graph, plan=plan).makespan_ns, plan.makespan_ns)
            policy = runtime.run(plan.cost, policy="fair").makespan_ns
            self.assertEqual(policy, clotho.simulate(plan.cost, policy="fair").makespan_ns)


class Policies(PackageTest):
    def test_a_policy_in_python_on_workers(self):
        class Broken(clotho.Policy):
            def decide(self, view):
                raise ZeroDivisionError

        graph = clotho.Graph()
        for _ in range(50):
            graph.task(body=lambda call: None, work_ns=1000)
        with clotho.Runtime() as runtime:
            policy = clotho.Policy()
            policy.decide = fifo_policy
            result = runtime.run(graph, policy=policy)
            self.assertEqual((result.executed, result.refused), (50, 0))
            with self.assertRaisesRegex(errors.StateError, "in use"):
                clotho.simulate(layered(), "rk3588", policy=policy)
            with self.assertRaises(ZeroDivisionError):
                runtime.run(graph, policy=Broken())
            self.assertEqual(runtime.run(graph, policy=policy).executed, 50)
        clotho.simulate(layered(), "rk3588", policy=policy)  # free again

    def test_what_a_policy_raises_stays_with_its_run(self):
        policy, is_bad, graph = clotho.Policy(), [True], clotho.Graph.from_arrays([1])

        def decide(view):
            if is_bad:
                raise KeyError("mine")
            return fifo_policy(view)

        policy.decide = decide
        with clotho.Runtime("slots:2") as runtime, runtime.job(graph, policy=policy) as first, runtime.job(graph, policy=policy) as second:
            first.submit()
            while not first._own.is_stopped:
                time.sleep(0.001)
            is_bad.clear()
            second.submit()
            for _ in range(2):
                with self.assertRaises(KeyError):
                    first.wait()
                self.assertEqual(second.wait().executed, 1)
            self.assertEqual(first.run().executed, 1)

    def test_a_collection_in_a_decision_frees_no_runtime_there(self):
        self.python("""
import gc, os, threading, time, clotho
from clotho import library, policies
gc.disable()
freed, go, free = [], threading.Event(), library.Handle._free
def seen(handle):
    if handle._waits:
        freed.append(threading.get_ident())
        if freed[-1] != threading.main_thread().ident:
            os._exit(3)  # it would wait for itself
    free(handle)
library.Handle._free = seen
collected = []
class Clock:  # a collection where a line of a callback allocates
    @staticmethod
    def monotonic_ns():
        if go.is_set() and not collected:
            collected.append(gc.collect())
        return time.monotonic_ns()
policies.time = Clock
def decide(view):
    for job, stage in view.ready():
        executor = view.free_for(job, stage)
        if executor is not None:
            return job, stage, executor
def make():
    graph, before = clotho.Graph(), 0
    graph.task(body=lambda call: go.wait() and None)
    for _ in range(20):
        before = graph.task(after=[before])
    runtime = clotho.Runtime("slots:2")
    job = runtime.job(graph, policy=decide)
    job.cycle, runtime.cycle = runtime, job
    job.submit()
make()
go.set()
while len(freed) < 2:
    library.free_later_ones()
    time.sleep(0.001)
assert collected
""")


if __name__ == "__main__":
    unittest.main(verbosity=2)
