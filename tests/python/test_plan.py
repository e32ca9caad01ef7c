"""Plans: equal to the command's to the bit; own planners, good and bad; interrupts."""
import csv
import json
import os
import signal
import threading
import unittest

import numpy
from support import DATA, SANITIZED, PackageTest, fifo_policy, layered, needs, needs_data, rank_planner

import clotho
from clotho import calls, errors

PLANNERS = ("heft", "deft", "peft", "cpop", "tds", "lachesis", "exact", "graphene", "edges", "best")
FIGURES = ("makespan_ns", "lower_bound_ns", "gap", "slr", "speedup", "utilization", "transfers", "transferred_bytes", "duplicates",
           "energy_nj")


class Equal(PackageTest):
    """What the package plans is what the command plans: every figure, every byte of the plan file."""

    def test_plans_are_those_of_the_command(self):
        graphs = {"layered": layered(40), "cholesky": clotho.Graph.generate("cholesky", tasks=35, ccr=1, duplicable=1, seed=2),
                  "fft": clotho.Graph.generate("fft", tasks=30, ccr=2, instances_min=1, instances_max=3),
                  "demands": layered(30, demands=2)}
        for name, graph in graphs.items():
            graph.save(self.path("g.json"))
            loaded = clotho.load(self.path("g.json"))
            for platform in ("rk3588", "uniform:3"):
                for planner in PLANNERS[::3] if SANITIZED else PLANNERS:
                    with self.subTest(graph=name, platform=platform, planner=planner):
                        said = self.command("plan", "g.json", "--platform", platform, "--planner", planner, "--budget", 60, "--seed", 5,
                                            "--out", "theirs.json", "--json")
                        theirs = json.loads(said)
                        ours = clotho.plan(loaded, platform, planner, schedules_max=60, seed=5).check()
                        measured = ours.measure()
                        self.assertEqual({k: theirs.get(k, -1) for k in FIGURES}, {k: measured[k] for k in FIGURES})
                        self.assertEqual((theirs["planner"], theirs["schedules"], theirs["optimal"]),
                                         (ours.planner, ours.schedules, ours.is_optimal or measured["gap"] <= 0))
                        ours.save(self.path("ours.json"))
                        with open(self.path("ours.json"), "rb") as a, open(self.path("theirs.json"), "rb") as b:
                            self.assertEqual(a.read(), b.read())

    @needs_data("wfformat/blast-chameleon-small-001.json")
    def test_so_they_are_of_a_workflow_of_wfcommons(self):
        path = os.path.join(DATA, "wfformat/blast-chameleon-small-001.json")
        theirs = json.loads(self.command("plan", path, "--platform", "rk3588", "--planner", "peft", "--json"))
        measured = clotho.plan(clotho.load(path), "rk3588", "peft").check().measure()
        self.assertEqual({k: theirs.get(k, -1) for k in FIGURES}, {k: measured[k] for k in FIGURES})

    def test_justified_and_pipelined_plans_too(self):
        graph = layered(40)
        graph.save(self.path("g.json"))
        graph = clotho.load(self.path("g.json"))
        theirs = json.loads(self.command("plan", "g.json", "--platform", "rk3588", "--planner", "heft", "--justify", "--json"))
        self.assertEqual(theirs["makespan_ns"], clotho.plan(graph, "rk3588", justify=True).makespan_ns)
        self.command("plan", "g.json", "--platform", "rk3588", "--pipeline", "--out", "theirs.json")
        ours = clotho.pipeline(graph, "rk3588")
        ours.check().save(self.path("ours.json"))
        with open(self.path("ours.json"), "rb") as a, open(self.path("theirs.json"), "rb") as b:
            self.assertEqual(a.read(), b.read())
        self.assertEqual(ours.measure_pipeline()["interval_ns"], ours.interval_ns)
        self.assertEqual(clotho.Plan.load(self.path("theirs.json"), graph, "rk3588").makespan_ns, ours.makespan_ns)

    def test_keys_choose_the_order_of_deft(self):
        cost = clotho.Cost(layered(50), "rk3588")
        by_rank = clotho.plan(cost, planner="deft", keys=cost.rank_u)
        self.assertEqual(by_rank.makespan_ns, clotho.plan(cost, planner="deft").makespan_ns)
        self.assertNotEqual(clotho.plan(cost, planner="deft", keys=-cost.rank_u).placements.tolist(), by_rank.placements.tolist())
        for error, keys in ((ValueError, [1, 2]), (TypeError, [0.5] * 50), (TypeError, "abc")):
            with self.assertRaises(error):
                clotho.plan(cost, planner="deft", keys=keys)
        with self.assertRaisesRegex(errors.ArgumentError, "takes no keys"):
            clotho.plan(cost, planner="heft", keys=1)


class Own(PackageTest):
    def setUp(self):
        super().setUp()
        self.cost = clotho.Cost(layered(30), "rk3588")

    def test_a_function_a_class_and_placements(self):
        plan = clotho.plan(self.cost, planner=rank_planner)
        self.assertEqual(plan.planner, "rank_planner")
        plan.check()

        class Mine(clotho.Planner):
            name, summary = "mine", "HEFT again"

            def plan(self, cost, seed):
                return clotho.plan(cost, seed=seed).placements

        heft = clotho.plan(self.cost)
        for own in (Mine, Mine(), clotho.Planner("mine", lambda cost, seed: heft.placements.tolist())):
            made = clotho.plan(self.cost, planner=own)
            self.assertEqual((made.planner, made.placements.tolist()), ("mine", heft.placements.tolist()))
        again = clotho.Plan.from_placements(self.cost, heft.placements, "copy").check()
        self.assertEqual((again.planner, again.makespan_ns), ("copy", heft.makespan_ns))

    def test_instances_and_ranges_are_placed(self):
        graph = clotho.Graph()
        a = graph.task(work_ns=10, instances=5)
        graph.task(work_ns=10, instances=7, grain=3, after=[(a, 1000)])
        clotho.plan(graph, "rk3588", rank_planner).check()

    def test_replicas_have_room_if_asked(self):
        apart = clotho.Platform.from_arrays(["k"] * 4, bandwidth=numpy.ones((4, 4)))
        cost = clotho.Cost(clotho.Graph.generate("outtree", tasks=15, ccr=5.0, duplicable=1, outputs=1), apart)
        deft = clotho.plan(cost, planner="deft")
        self.assertGreater(deft.measure()["duplicates"], 0)
        again = clotho.Planner("again", lambda cost, seed: deft.placements)
        with self.assertRaisesRegex(errors.InvalidError, "planner 'again': .*room"):
            clotho.plan(cost, planner=again)
        again.executions_each = 2
        made = clotho.plan(cost, planner=again)
        self.assertEqual((made.makespan_ns, made.measure()["duplicates"]), (deft.makespan_ns, deft.measure()["duplicates"]))
        with self.assertRaisesRegex(errors.InvalidError, "planner 'again': .*replicas"):
            clotho.plan(cost, planner=again, no_duplicates=True)
        with self.assertRaises((errors.ArgumentError, TypeError)):
            again.executions_each = -1
            clotho.plan(cost, planner=again)

    def test_nonsense_is_the_checkers_line_with_its_name(self):
        heft = clotho.plan(self.cost).placements
        early = heft.copy()
        early["start_ns"] -= early["start_ns"]
        early["finish_ns"] = heft["finish_ns"] - heft["start_ns"]
        nowhere = heft.copy()
        nowhere["executor"][3] = 99
        for name, error, text, made in (
                ("early", errors.InvalidError, "planner 'early': ", early), ("none", errors.InvalidError, "planner 'none': ", []),
                ("twice", errors.InvalidError, "planner 'twice': .*room for 30", numpy.concatenate([heft, heft])),
                ("half", errors.InvalidError, "planner 'half': ", heft[:7]),
                ("nowhere", errors.InvalidError, "planner 'nowhere': ", nowhere),
                ("nothing", TypeError, "planner 'nothing' has returned a NoneType", None),
                ("text", TypeError, "planner 'text' has returned a str", "heft"),
                ("number", TypeError, "planner 'number' has returned a int", 42),
                ("short", TypeError, "planner 'short' has returned a list that is no list of placements: rows have 2 fields", [(1, 2)]),
                ("floats", TypeError, "task is no whole number", [(0.5, 0, 0, 0, 0, 1)]),
                ("huge", TypeError, "a task is out of range", [(2**40, 0, 0, 0, 0, 1)]),
                ("minus", TypeError, "a executor is out of range", [(0, 0, -1, 0, 0, 1)]),
                ("shape", TypeError, "array of 2 dimensions", numpy.zeros((2, 2), clotho.PLACEMENT))):
            with self.subTest(name=name):
                with self.assertRaisesRegex(error, text) as caught:
                    clotho.plan(self.cost, planner=clotho.Planner(name, lambda cost, seed, made=made: made))
                self.assertNotIn("\n", str(caught.exception))

    def test_what_a_planner_raises_comes_out(self):
        def broken(cost, seed):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            clotho.plan(self.cost, planner=broken)
        with self.assertRaises(NotImplementedError):
            clotho.plan(self.cost, planner=clotho.Planner)
        with self.assertRaisesRegex(errors.ArgumentError, "before its predecessor"):
            clotho.plan(self.cost, planner=lambda cost, seed: clotho.Schedule(cost).place(len(cost.graph) - 1))
        clotho.plan(self.cost)  # goes on

    def test_no_planner(self):
        for error, wrong in ((errors.ArgumentError, "nobody"), (TypeError, 7), (TypeError, None), (TypeError, ["heft"])):
            with self.subTest(wrong=wrong), self.assertRaises(error):
                clotho.plan(self.cost, planner=wrong)
        for how in ({"colour": 1}, {"seed": "x"}, {"budget_ns": 1.5}, {"progress": print}):
            with self.subTest(how=how), self.assertRaises(TypeError):
                clotho.plan(self.cost, **how)
        with self.assertRaisesRegex(TypeError, "has its platform"):
            clotho.plan(self.cost, "rk3588")
        with self.assertRaises(errors.UnsupportedError):
            clotho.plan(layered(demands=1), "rk3588", rank_planner)

    def test_many_threads_plan_at_once(self):
        plans, failures = [], []

        def work(k):
            try:
                plans.append(clotho.plan(self.cost, planner=rank_planner if k % 2 else "deft").check().makespan_ns)
            except BaseException as error:  # pylint: disable=broad-except # shown below
                failures.append(error)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(set(plans)), len({clotho.plan(self.cost, planner=p).makespan_ns for p in (rank_planner, "deft")}))


def interrupted_within(work_name="interruptible"):
    """Sends SIGINT to this process once a long call has begun its work."""
    real = getattr(calls, work_name)

    def instead(work, stop=None, executions=None):
        def begun():
            threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()
            return work()
        return real(begun, stop, executions)

    return instead


class Interrupts(PackageTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(setattr, calls, "interruptible", calls.interruptible)

    def test_ctrl_c_keeps_the_best_plan_so_far(self):
        cost = clotho.Cost(layered(300, ccr=2.0), "rk3588")
        for threads in (1, 3):
            calls_before, calls.interruptible = calls.interruptible, interrupted_within()
            try:
                with self.assertRaises(clotho.Interrupted) as caught:
                    clotho.plan(cost, planner="best", budget_ns=10**15, threads=threads)  # 11 days
            finally:
                calls.interruptible = calls_before
            plan = caught.exception.result.check()
            self.assertLessEqual(plan.makespan_ns, clotho.plan(cost).makespan_ns)
            self.assertEqual(plan.planner, "best")
        self.assertIsInstance(caught.exception, KeyboardInterrupt)

    def test_ctrl_c_in_a_planner_in_python(self):
        def waits(cost, seed):
            os.kill(os.getpid(), signal.SIGINT)
            while True:
                signal.sigtimedwait([], 0.01)

        with self.assertRaises(clotho.Interrupted) as caught:
            clotho.compare([layered(20)], "rk3588", ["heft", waits])
        self.assertEqual([row["planner"] for row in caught.exception.result.rows], ["heft"])

    def test_any_handler_may_end_a_call(self):
        class Mine(Exception):
            pass

        def handler(*_):
            raise Mine

        before = signal.signal(signal.SIGINT, handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        calls.interruptible = interrupted_within()
        with self.assertRaises(Mine):
            clotho.plan(layered(300), "rk3588", "best", budget_ns=10**15)


class Tables(PackageTest):
    def test_two_hundred_graphs_ten_planners_and_an_own_one(self):
        graphs = [layered(20 + k % 30, seed=k) for k in range(200)]
        planners = ["heft", "peft", "cpop", "deft", "etf", "minmin", "sufferage", "dls", "fcp", "tds", rank_planner]
        table = clotho.compare(graphs, "rk3588", planners)
        self.assertEqual(len(table), 200 * 11)
        means = table.by_planner()
        self.assertEqual(set(means), {"rank_planner", *planners[:-1]})
        self.assertEqual({row["graphs"] for row in means.values()}, {200})
        self.assertTrue(all(row["ratio"] >= 1 for row in means.values()))
        self.assertEqual(len(str(table).splitlines()), 12)
        one = clotho.plan(graphs[7], "rk3588", "peft").measure()
        row = [row for row in table.rows if row["index"] == 7 and row["planner"] == "peft"][0]
        self.assertEqual({k: row[k] for k in one}, one)

    def test_ratios_are_those_of_the_command(self):
        planners, graphs = ["heft", "deft", "peft", "olb"], [layered(20 + 7 * k, seed=k) for k in range(5)]
        for k, graph in enumerate(graphs):
            graph.save(self.path("g%d.json" % k))
        theirs = json.loads(self.command("plan", "g[0-4].json", "--platform", "rk3588", "--csv", "rows.csv", "--baseline", "peft", "--json",
                                         *(word for name in planners for word in ("--planner", name))))
        table = clotho.compare([clotho.load(self.path("g%d.json" % k)) for k in range(5)], "rk3588", planners)
        ours = table.by_planner()
        self.assertEqual(list(ours), [row["planner"] for row in theirs["planners"]])
        logs = {name: numpy.log([row["makespan_ns"] for row in table.rows if row["planner"] == name]) for name in planners}
        for row in theirs["planners"]:
            mine, differences = ours[row["planner"]], logs[row["planner"]] - logs["peft"]
            self.assertAlmostEqual(row["over_bound"], mine["ratio"], places=12)
            self.assertEqual((row["graphs"], row["failed"], row["best"]), (mine["graphs"], mine["refused"], mine["best"]))
            half = 2.776 * differences.std(ddof=1) / 5 ** 0.5  # Student's t of 4 degrees of freedom
            found = numpy.log([row["makespan"][key] for key in ("low", "ratio", "high")])
            self.assertLess(abs(found - differences.mean() - [-half, 0, half]).max(), 1e-12)
        with open(self.path("rows.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for row, mine in zip(rows, table.rows):
            self.assertEqual((row["graph"], row["planner"]), (mine["graph"], mine["planner"]))
            for key in ("makespan_ns", "lower_bound_ns", "transfers", "transferred_bytes", "duplicates", "schedules", "gap", "slr", "speedup",
                        "utilization", "optimal"):
                self.assertEqual(float(row[key]), mine[key], key)

    def test_policies_stand_beside_planners(self):
        graphs = [layered(25, seed=k) for k in range(4)]

        class Mine(clotho.Policy):
            name, decide = "mine", staticmethod(fifo_policy)

        table = clotho.compare(graphs, "rk3588", ["heft", rank_planner], ["fair", fifo_policy, Mine])
        self.assertEqual(set(table.by_planner()), {"heft", "rank_planner", "policy fair", "policy fifo_policy", "policy mine"})
        for row in table.rows:
            self.assertGreaterEqual(row["makespan_ns"], row["lower_bound_ns"])
            if row["planner"] == "policy fair":
                self.assertEqual(row["makespan_ns"], clotho.simulate(graphs[row["index"]], "rk3588", policy="fair").makespan_ns)
        wrong = clotho.Policy()
        wrong.name, wrong.decide = "wrong", lambda view: 7
        with self.assertRaisesRegex(TypeError, "policy 'wrong'"):
            clotho.compare(graphs[:1], "rk3588", [], [wrong])
        self.assertEqual(clotho.compare(graphs[:1], "rk3588", [], [wrong], keep_going=True).by_planner()["policy wrong"]["refused"], 1)

    def test_failures_are_rows_if_asked(self):
        def broken(cost, seed):
            return 7

        with self.assertRaisesRegex(TypeError, "planner 'broken'"):
            clotho.compare([layered(10)], "rk3588", ["heft", broken])
        table = clotho.compare([layered(10)], "rk3588", ["heft", broken], keep_going=True)
        self.assertEqual((len(table), table.by_planner()["broken"]["refused"]), (2, 1))
        self.assertIn("planner 'broken'", table.rows[1]["error"])
        str(table)
        self.assertEqual(len(clotho.compare([], "rk3588")), 0)

    @needs("pandas", "matplotlib")
    def test_frames_and_pictures(self):
        import matplotlib

        matplotlib.use("Agg")
        table = clotho.compare([layered(20, seed=k) for k in range(3)], "rk3588", ["heft", "deft", rank_planner])
        frame = table.frame
        self.assertEqual(frame.groupby("planner")["makespan_ns"].count().to_dict(), {"heft": 3, "deft": 3, "rank_planner": 3})
        axes = clotho.plot.ratios(table)
        self.assertEqual(len(axes.get_yticks()), 3)
        plan = clotho.plan(layered(20, duplicable=1, ccr=5.0), "rk3588", "deft")
        self.assertEqual(len(plan.frame), len(plan.placements))
        chart = clotho.plot.gantt(plan)
        self.assertEqual(len(chart.patches), len(plan.placements))
        chart.figure.savefig(self.path("plan.svg"))
        plan.save_svg(self.path("ours.svg"))
        self.assertIn("█", plan.gantt(60))


if __name__ == "__main__":
    unittest.main(verbosity=2)
