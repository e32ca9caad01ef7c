"""Runs in virtual time: equal to the command's to the bit; own policies, good, bad and slow."""
import csv
import json
import os
import time
import unittest
import warnings

from support import DATA, SANITIZED, PackageTest, fifo_policy, layered, needs, needs_data

import clotho
from clotho import errors


class Equal(PackageTest):
    def test_streams_are_those_of_the_command(self):
        self.command("generate", "stream", "--jobs", 40, "--arrivals", "poisson:1ms", "--weights", 3, "--seed", 4, "-o", "w.jsonl")
        workload = clotho.Workload.load(self.path("w.jsonl"))
        policies = ("fifo", "wfair:0.5", "deft:sjf", "fair", "sjf", "tetris", "parametric", "decima", "auto")
        for policy in policies[:3] if SANITIZED else policies:
            with self.subTest(policy=policy):
                theirs = json.loads(self.command("simulate", "w.jsonl", "--platform", "rk3588", "--policy", policy, "--csv", "jobs.csv",
                                                 "--json"))
                ours = clotho.simulate_stream(workload, "rk3588", policy=policy)
                self.assertEqual([theirs["makespan_ns"], theirs["completions"], theirs["decisions"], theirs["utilization"],
                                  theirs["refused"]],
                                 [ours.makespan_ns, ours.completions, ours.decisions, ours.utilization, ours.refused])
                self.assertEqual(theirs["avg_jct_s"], ours.jct_mean_ns / 1e9)
                with open(self.path("jobs.csv"), encoding="utf-8") as file:
                    rows = list(csv.DictReader(file))
                for field in ("arrival_ns", "start_ns", "finish_ns", "busy_ns", "executions"):
                    self.assertEqual([int(row[field]) for row in rows], ours.outcomes[field].tolist())

    def test_drawn_arrivals_and_times_too(self):
        self.command("generate", "stream", "--jobs", 10, "--seed", 1, "-o", "w.jsonl")
        theirs = json.loads(self.command("simulate", "w.jsonl", "--platform", "uniform:10", "--policy", "fair", "--environment", "decima",
                                         "--seed", 9, "--json"))
        ours = clotho.simulate_stream(clotho.Workload.load(self.path("w.jsonl")), "uniform:10", policy="fair", environment="decima", seed=9)
        self.assertEqual(theirs["makespan_ns"], ours.makespan_ns)
        self.assertGreater(ours.moves, 0)

    @needs_data("tpch/tpch_2g.jsonl")
    def test_so_they_are_of_tpc_h(self):
        path = os.path.join(DATA, "tpch/tpch_2g.jsonl")
        workload = clotho.Workload.load(path)
        for policy in ("decima-fair", "decima"):
            theirs = json.loads(self.command("simulate", path, "--platform", "uniform:50", "--policy", policy, "--environment", "decima",
                                             "--seed", 2, "--json"))
            ours = clotho.simulate_stream(workload, "uniform:50", policy=policy, environment="decima", seed=2)
            self.assertEqual((theirs["makespan_ns"], theirs["avg_jct_s"], theirs["moves"]), (ours.makespan_ns, ours.jct_mean_ns / 1e9,
                                                                                             ours.moves))

    def test_a_plan_replays_as_planned(self):
        plan = clotho.plan(layered(50), "rk3588")
        result = clotho.simulate(plan.cost, plan=plan)
        self.assertEqual(result.makespan_ns, plan.makespan_ns)
        self.assertEqual(result.plan().makespan_ns, plan.makespan_ns)
        self.assertEqual(len(result.events), 50)

    def test_a_graph_by_policies_is_a_stream_of_one(self):
        graph = layered(50)
        workload = clotho.Workload("one")
        workload.add(graph)
        for policy in ("fair", "eft", fifo_policy):
            self.assertEqual(clotho.simulate(graph, "rk3588", policy=policy).makespan_ns,
                             clotho.simulate_stream(workload, "rk3588", policy=policy).makespan_ns)


class Own(PackageTest):
    def setUp(self):
        super().setUp()
        self.workload = clotho.Workload()
        for k in range(6):
            self.workload.add(layered(20, seed=k), arrival_ns=100_000 * k, weight=1 + k % 2)

    def run_it(self, policy, **how):
        return clotho.simulate_stream(self.workload, "rk3588", policy=policy, **how)

    def test_a_policy_in_python_decides_as_the_same_in_c(self):
        ours, theirs = self.run_it(fifo_policy), self.run_it("fifo")
        self.assertEqual((ours.jobs_ended, ours.refused, ours.fallbacks), (6, 0, 0))
        self.assertEqual(ours.makespan_ns, self.run_it(fifo_policy).makespan_ns)
        self.assertEqual(theirs.completions, ours.completions)

        class Shortest(clotho.Policy):
            name, heard = "shortest", 0

            def init(self, view):
                type(self).heard = 0
                assert view.executors == 8

            def event(self, view, event):
                type(self).heard += 1
                assert event.kind in ("arrive", "ready", "start", "finish", "end"), event

            def decide(self, view):
                best = None
                for job, stage in view.ready():
                    executor = view.earliest(job, stage)
                    if executor in set(view.free()) and view.fits(job, stage, executor):
                        key = (view.job(job).remaining_ns, -int(view.rank_u(job)[stage]), view.execution_ns(job, stage, executor))
                        found = key, (job, stage, executor)
                        best = found if best is None else min(best, found)
                return None if best is None else best[1]

        result = self.run_it(Shortest)
        self.assertEqual((result.jobs_ended, result.refused), (6, 0))
        self.assertGreater(Shortest.heard, 100)

    def test_a_policy_may_commit_ahead_and_duplicate(self):
        class Ahead(clotho.Policy):
            name, readiness, commits = "ahead", "assigned", True
            ahead = 0

            def init(self, view):
                self.ahead = 0

            def decide(self, view):
                job, stage = next(view.ready(), (None, None))
                if job is None:
                    return None
                self.ahead += view.stage(job, stage).parents_left > 0
                return clotho.Choice(job, stage, view.earliest(job, stage), count=1)

        policy = Ahead()
        result = self.run_it(policy)
        self.assertEqual((result.jobs_ended, result.refused, result.fallbacks), (6, 0, 0))
        self.assertGreater(policy.ahead, 0)

        class Twice(Ahead):
            name = "twice"

            def decide(self, view):
                made = super().decide(view)
                return made._replace(duplicate=0) if made is not None else None

        result = self.run_it(Twice())  # impossible for most: refused, by name
        self.assertIn("twice", result.refusal)
        self.assertEqual(result.jobs_ended, 6)

    def test_the_view_shows_what_is(self):
        seen = []

        def decide(view):
            jobs = list(view.jobs())
            rows = [view.job(job) for job in jobs]
            seen.append((view.now_ns, view.band, len(jobs), sum(row.running for row in rows)))
            first = next(view.ready(), None)
            if first is None:
                return None
            assert view.stage(*first).unstarted > 0 and view.executor(0).is_moving == 0
            assert view.available_ns(0) >= view.now_ns <= view.arrival_ns(*first, 0)
            for wrong in (lambda: view.job(999), lambda: view.stage(jobs[0], 999), lambda: view.executor(8)):
                try:
                    wrong()
                except IndexError:
                    continue
                raise AssertionError("nothing was refused")
            return first

        self.assertEqual(self.run_it(decide).jobs_ended, 6)
        self.assertGreater(max(jobs for _, _, jobs, _ in seen), 1)

    def test_a_view_ends_with_the_call(self):
        kept = []

        def keeps(view):
            kept.append((view, view.ready()))
            return fifo_policy(view)

        self.run_it(keeps)
        for use in (lambda: kept[0][0].now_ns, lambda: next(kept[0][1]), lambda: kept[0][0].job(0)):
            with self.assertRaisesRegex(errors.StateError, "only during the call"):
                use()

    def test_what_a_policy_raises_comes_out(self):
        def broken(view):
            raise KeyError("mine")

        class Hears(clotho.Policy):
            decide = staticmethod(fifo_policy)

            def event(self, view, event):
                raise ZeroDivisionError

        class Begins(clotho.Policy):
            def init(self, view):
                raise OSError("no")

        for error, policy in ((KeyError, broken), (ZeroDivisionError, Hears), (OSError, Begins), (NotImplementedError, clotho.Policy)):
            with self.subTest(error=error):
                with self.assertRaises(error):
                    self.run_it(policy)
                with self.assertRaises(error):
                    clotho.simulate(layered(20), "rk3588", policy=policy)

    def test_nonsense_is_refused_by_name(self):
        for answer in (7, "go", ("a", 1), (1,), (0, 0, 0, 0, 0, 0, 0, 0), (2**40, 0), (-1, 0), (0.5, 1), {"job": 1}):
            with self.subTest(answer=answer), self.assertRaisesRegex(TypeError, "policy 'odd' has decided"):
                policy = clotho.Policy()
                policy.name, policy.decide = "odd", lambda view, answer=answer: answer
                self.run_it(policy)
        impossible = clotho.Policy()
        impossible.name, impossible.decide = "impossible", lambda view: (99, 0)
        result = self.run_it(impossible)  # the scheduler's own rule steps in
        self.assertEqual(result.jobs_ended, 6)
        self.assertGreater(result.refused, 0)
        self.assertIn("impossible", result.refusal)

    def test_a_slow_policy_is_bound_by_time_and_that_is_said(self):
        class Slow(clotho.Policy):
            name, time_limit_s = "slow", 1e-4

            def decide(self, view):
                time.sleep(0.001)
                return fifo_policy(view)

        class Busy(Slow):
            name = "busy"

            def decide(self, view):
                while True:  # the view ends it
                    view.now_ns  # pylint: disable=pointless-statement

        for kind in (Slow, Busy):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                result = self.run_it(kind)
            self.assertEqual(result.jobs_ended, 6)
            self.assertGreater(result.late_decisions, 0)
            self.assertGreater(result.fallbacks, 0)
            self.assertEqual([str(w.message).split(":")[0] for w in said], ["policy '%s'" % kind.name])
            with self.assertRaisesRegex(RuntimeWarning, "time_limit_s"):  # warnings are errors in these tests
                self.run_it(kind)
        for wrong in (0, -1, "1", float("nan")):
            policy = Slow()
            policy.time_limit_s = wrong
            with self.assertRaisesRegex(errors.ArgumentError, "time_limit_s"):
                self.run_it(policy)

    def test_one_object_decides_one_run_at_a_time(self):
        policy = clotho.Policy()

        def decide(view):
            with self.assertRaisesRegex(errors.StateError, "in use"):
                self.run_it(policy)
            return fifo_policy(view)

        policy.decide = decide
        self.run_it(policy)
        self.run_it(policy)

    def test_no_policy(self):
        for error, wrong in ((errors.ArgumentError, "nobody"), (TypeError, 7), (errors.Error, "fair:x"), (errors.ArgumentError, "fifo:1")):
            with self.subTest(wrong=wrong), self.assertRaises(error):
                self.run_it(wrong)
        plan = clotho.plan(layered(20), "rk3588")
        with self.assertRaisesRegex(errors.ArgumentError, "give one"):
            clotho.simulate(plan.cost, plan=plan, policy="fair")
        with self.assertRaises(TypeError):
            clotho.simulate(plan.cost, plan="heft")
        with self.assertRaises(TypeError):
            clotho.simulate_stream([plan.cost.graph])
        with self.assertRaises(errors.ArgumentError):
            clotho.simulate_stream(clotho.Workload(), "rk3588")
        with self.assertRaises(errors.ArgumentError):
            self.run_it("fair", environment="nowhere")


class Workloads(PackageTest):
    def test_jobs_and_arrivals(self):
        workload = clotho.Workload("w")
        workload.add(layered(10), 5, weight=3, name="a")
        workload.add(layered(12), 2)
        workload.sort().save(self.path("w.jsonl"))
        again = clotho.Workload.load(self.path("w.jsonl"))
        self.assertEqual((len(again), again.job(1)["name"], again.job(1)["weight"]), (2, "a", 3))
        drawn = again.arrivals("poisson", mean_ns=1000, jobs=50, seed=3)
        for k in range(100):  # the drawn one does not depend on the rows
            again.add(layered(5, seed=k), name="x%d" % k)
        self.assertEqual({drawn.job(k)["name"] for k in range(50)}, {"a", "layered"})
        del again
        self.assertEqual(len(drawn), 50)
        self.assertEqual(clotho.simulate_stream(drawn, "rk3588").jobs_ended, 50)
        for error, call in ((IndexError, lambda: drawn.job(50)), (errors.ArgumentError, lambda: drawn.arrivals("sometimes")),
                            (TypeError, lambda: workload.add(7)), (TypeError, lambda: workload.add(layered(5), 1.5)),
                            (errors.ArgumentError, lambda: workload.add(layered(5), -1)),
                            (errors.FileError, lambda: clotho.Workload.load(self.path("nothing")))):
            with self.assertRaises(error):
                call()

    def test_nobody_changes_a_workload_that_is_simulated(self):
        workload, said = clotho.Workload(), []
        for k in range(3):
            workload.add(layered(10), k)

        def adds(view):
            for change in (lambda: workload.add(layered(5)), workload.sort):
                try:
                    change()
                except errors.StateError as error:
                    said.append(str(error))
            workload.arrivals(jobs=2)  # reading is allowed
            return fifo_policy(view)

        self.assertEqual(clotho.simulate_stream(workload, "rk3588", policy=adds).jobs_ended, 3)
        self.assertIn("being simulated", said[0])
        self.assertGreater(len(said), 10)
        workload.add(layered(5))
        self.assertEqual(len(workload), 4)

    @needs("pandas", "matplotlib")
    def test_frames_and_pictures(self):
        import matplotlib

        matplotlib.use("Agg")
        workload = clotho.Workload()
        for k in range(5):
            workload.add(layered(10, seed=k), k)
        result = clotho.simulate_stream(workload, "rk3588")
        self.assertEqual(len(result.frame), 5)
        self.assertEqual(len(clotho.plot.completions({"fifo": result}).lines), 1)
        run = clotho.simulate(layered(10), "rk3588", policy="fair")
        self.assertEqual(len(run.frame), 10)
        self.assertEqual(len(clotho.plot.gantt(run).patches), 10)


if __name__ == "__main__":
    unittest.main(verbosity=2)
