"""train easy-residual: what it writes runs, zeros leave easy-parametric as it is, the same bytes with any number of threads and from a
checkpoint, and bad input."""
import json
import os
import random
import re
import unittest

from support import CommandTest, instead

SMALL = ("--jobs", 80, "--arrivals", "poisson:0.00003", "--seeds", "1-4", "--validation", "10-12", "--each", 2, "--pairs", 3, "--validate-every", 1,
         "--force")


class TrainEasyResidual(CommandTest):
    def workload(self):
        """Chains whose stages hold parts of one machine."""
        draw = random.Random(3)
        platform = {"name": "m", "resources": ["a", "b"], "machines": [{"a": 100, "b": 100}], "executors": [{"kind": "cpu", "machine": 0}] * 8}
        lines = [{"format": "clotho.workload/1", "name": "parts", "platform": platform}]
        for job in range(20):
            tasks = [{"name": str(t), "work_ns": draw.randint(1000, 90000), "demand": {"a": draw.randint(1, 60), "b": draw.randint(1, 60)}}
                     for t in range(4)]
            edges = [{"from": str(t), "to": str(t + 1)} for t in range(3) if draw.random() < 0.6]
            lines.append({"graph": {"format": "clotho.graph/1", "name": f"j{job}", "resources": ["a", "b"], "tasks": tasks, "edges": edges}})
        return self.file("parts.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    def train(self, workload, *more):
        return json.loads(self.good("train", "easy-residual", workload, *instead(SMALL, "--json", *more)))

    def simulate(self, workload, policy):
        run = json.loads(self.good("simulate", workload, "--jobs", 20, "--arrivals", "poisson:0.00003", "--seed", 5, "--json", "--policy", policy))
        self.assertTrue(run["valid"])
        return {key: run[key] for key in ("avg_jct_s", "p95_jct_s", "makespan_ns", "fallbacks")}

    def test_it_writes_a_model_that_runs(self):
        workload, model, curve = self.workload(), self.path("r.model"), self.path("r.svg")
        trained = self.train(workload, "--generations", 3, "-o", model, "--svg", curve)
        self.assertLessEqual(trained["validation"], 1)  # of easy-parametric, where it began
        self.assertEqual(trained["agreement_before_grid"], 1)
        self.good("model", "verify", model)
        self.simulate(workload, "easy-residual:" + model)
        self.simulate(workload, f"easy-residual:{model},fit=1,wait=2")
        with open(curve, encoding="utf-8") as file:
            self.assertIn("clotho train easy-residual", file.read())
        text = self.good("train", "easy-residual", workload, *SMALL, "--generations", 1)
        for word in ("on easy-parametric", "128 of them move", "integers", "of what easy-parametric reaches"):
            self.assertIn(word, text)

    def test_zeros_leave_easy_parametric_as_it_is(self):
        workload, model = self.workload(), self.path("zero.model")
        self.train(workload, "--zero-residual", "-o", model)
        for numbers in ("", "fit=2,work=-3", "wait=1,first=-1,pass=0,length=0,left=0"):
            rule, beside = "easy-parametric" + (":" + numbers if numbers else ""), f"easy-residual:{model}" + ("," + numbers if numbers else "")
            self.assertEqual(self.simulate(workload, beside), self.simulate(workload, rule))

    def test_any_number_of_threads_and_any_stop_make_the_same_model(self):
        workload, checkpoint = self.workload(), self.path("checkpoint")
        one, two = (self.train(workload, "--generations", 3, "--threads", n) for n in (1, 2))
        self.assertEqual(one["model_hash"], two["model_hash"])
        self.train(workload, "--generations", 3, "--stop", 1, "--checkpoint", checkpoint)
        self.assertEqual(self.train(workload, "--generations", 3, "--checkpoint", checkpoint)["model_hash"], one["model_hash"])
        self.assertNotEqual(self.train(workload, "--generations", 3, "--seed", 7)["model_hash"], one["model_hash"])
        self.assertNotEqual(self.train(workload, "--generations", 3, "--parametric", "fit=0")["model_hash"], one["model_hash"])
        self.bad(1, "train", "decima", workload, *instead(SMALL, "--generations", 3, "--checkpoint", checkpoint), holds="is no checkpoint of this training")

    def test_its_ranges_are_those_of_many_streams(self):
        workload, model, found = self.workload(), self.path("ranges.model"), []
        for seeds in ("1-1", "1-4"):
            self.train(workload, "--generations", 1, "--seeds", seeds, "-o", model)
            found.append([(int(a), int(b)) for a, b in re.findall(r" >> 0, (-?\d+) to (-?\d+)", self.good("model", "show", model))])
        one, four = found
        self.assertEqual([len(one), len(four)], [36, 36])  # twice 18: of scores, and of who may start
        self.assertTrue(all(b[0] <= a[0] <= a[1] <= b[1] for a, b in zip(one, four)))
        self.assertNotEqual(one, four)

    def test_who_learns_nothing_hears_it(self):
        jobs = [{"graph": {"format": "clotho.graph/1", "name": f"j{job}", "tasks": [{"name": "t", "work_ns": 5000}]}} for job in range(4)]
        equal = self.file("equal.jsonl", "".join(json.dumps(line) + "\n" for line in [{"format": "clotho.workload/1", "name": "equal"}] + jobs))
        text = self.good("train", "easy-residual", equal, *instead(SMALL, "--arrivals", "batch"), "--platform", "uniform:4", "--generations", 1)
        self.assertIn("nothing was learned: the model leaves easy-parametric as it is", text)
        self.assertNotIn("integers", text)

    def test_bad_options(self):
        workload = self.workload()
        for more, text in ((("--whiten",), "--whiten is for clotho train decima"), (("--parametric", "fast=1"), "'fast=1' sets nothing"),
                           (("--parametric", "1" * 300), "too long"), (("--seeds", "8990-9000"), "are kept for tests")):
            self.bad(2, "train", "easy-residual", workload, *instead(SMALL, *more), holds=text)
        model = self.path("decima.model")
        self.good("train", "decima", workload, "--platform", "uniform:4", "--jobs", 80, "--seeds", "1-4", "--validation", "10-12", "--zero-residual",
                  "--force", "-o", model)
        self.bad(2, "simulate", workload, "--policy", "easy-residual:" + model, holds="has not list 6 of features")
        self.bad(1, "simulate", workload, "--policy", "easy-residual:" + self.path("none.model"), holds="none.model")
        self.assertTrue(os.path.exists(model))


if __name__ == "__main__":
    unittest.main()
