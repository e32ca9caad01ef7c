"""train decima: what it writes runs, that it goes on where it was interrupted, the same bytes with any number of threads, and bad
input."""
import json
import os
import unittest

from support import CommandTest, instead

SMALL = ("--jobs", 6, "--seeds", "1-4", "--validation", "10-12", "--each", 2, "--pairs", 2, "--platform", "uniform:4",
         "--validate-every", 1, "--parametric", "1,2,3,0.5,0.2,2,0.3,0.6,-1,20us", "--force")


class TrainDecima(CommandTest):
    def workload(self):
        path = self.path("stream.jsonl")
        self.good("generate", "stream", "--jobs", 12, "-n", 20, "-o", path)
        return path

    def train(self, workload, *more):
        return json.loads(self.good("train", "decima", workload, *instead(SMALL, "--json", *more)))

    def simulate(self, workload, policy):
        run = json.loads(self.good("simulate", workload, "--jobs", 12, "--arrivals", "poisson:0.00001", "--platform", "uniform:4",
                                   "--json", "--policy", policy))
        self.assertTrue(run["valid"])
        return {key: run[key] for key in ("avg_jct_s", "p95_jct_s", "makespan_ns", "decisions", "fallbacks")}

    def test_it_writes_a_model_and_a_curve(self):
        workload, model, curve = self.workload(), self.path("r.model"), self.path("r.svg")
        trained = self.train(workload, "--generations", 2, "-o", model, "--svg", curve)
        self.assertEqual(trained["generations"], 2)
        self.assertLessEqual(trained["validation"], 1)  # of parametric, where it began
        self.assertGreater(trained["agreement"], 0.9)
        self.good("model", "verify", model)
        self.simulate(workload, f"residual:{model},1,2,3,0.5,0.2,2,0.3,0.6,-1,20us")
        with open(curve, encoding="utf-8") as file:
            self.assertIn("<svg", file.read())
        link = self.path("null")  # a link: the test cannot harm the device
        os.symlink(os.devnull, link)
        self.train(workload, "--generations", 1, "-o", link)
        self.assertTrue(os.path.islink(link))
        text = self.good("train", "decima", workload, workload, *SMALL, "--generations", 1, "--all")
        for word in ("seeds", "validation 10-12 (list", "of them move", "hash"):
            self.assertIn(word, text)

    def test_a_residual_of_zero_is_parametric(self):
        workload, model = self.workload(), self.path("zero.model")
        self.train(workload, "--zero-residual", "-o", model)
        for numbers in ("batch", "stream", "1,2,3,0.5,0.2,2,0.3,0.6,-1,20us"):
            self.assertEqual(self.simulate(workload, f"residual:{model},{numbers}"), self.simulate(workload, f"parametric:{numbers}"))
        self.assertEqual(self.simulate(workload, f"residual:{model}"), self.simulate(workload, "parametric"))

    def test_any_number_of_threads_makes_the_same_model(self):
        workload = self.workload()
        one, two = (self.train(workload, "--generations", 2, "--threads", n) for n in (1, 2))
        self.assertEqual(one["model_hash"], two["model_hash"])
        self.assertEqual(one["validation"], two["validation"])
        self.assertNotEqual(one["model_hash"], self.train(workload, "--generations", 2, "--seed", 7)["model_hash"])

    def test_along_principal_components_with_common_times(self):
        waves = {"fresh": {"5": [900], "10": [950]}, "first": {"5": [900, 500], "10": [950, 550]}, "rest": {"5": [300, 310, 320], "10": [350]}}
        stages = [{"id": i, "n_tasks": 30, **waves} for i in range(2)]
        workload = self.file("q.jsonl", json.dumps({"job": "q", "query": 1, "stages": stages, "edges": [[0, 1]]}) + "\n")
        options = ("--environment", "decima", "--arrivals", "poisson:5", "--generations", 2, "--jobs", 30, "--whiten")
        own = self.train(workload, *options)
        one, two = (self.train(workload, *options, "--common", "--threads", n) for n in (1, 2))
        self.assertEqual(one["model_hash"], two["model_hash"])
        self.assertNotEqual(one["model_hash"], own["model_hash"])
        self.bad(2, "train", "decima", workload, *SMALL, "--whiten", "--all", holds="different numbers")
        self.bad(2, "train", "decima", workload, *SMALL, "--common", holds="--environment")

    def test_integers_are_compared_with_real_numbers(self):
        workload = self.workload()
        options = ("--generations", 2, "--sigma", 0.5, "--rate", 0.5)
        plain, compared, again = (self.train(workload, *options, *more) for more in ((), ("--compare", "20-27"), ("--compare", "20-27", "--threads", 1)))
        self.assertEqual(plain["model_hash"], compared["model_hash"])
        self.assertNotIn("compared", plain)
        for key in ("compared", "objective_change", "objective_change_error", "objective_change_before_grid"):
            self.assertEqual(compared[key], again[key], key)
        self.assertLess(abs(compared["objective_change"]), 0.002)
        self.assertLess(abs(compared["objective_change_before_grid"]), 0.002)
        self.assertGreater(compared["agreement_before_grid"], 0.99)
        zero = self.train(workload, "--zero-residual", "--compare", "20-27")
        self.assertEqual((zero["compared"], zero["objective_change"], zero["objective_change_error"]), (1, 0, 0))
        self.assertIn("before the grid", self.good("train", "decima", workload, *SMALL, "--generations", 1, "--compare", "20-21"))
        for seeds, text in (("4-8", "shares seeds"), ("12-13", "shares seeds"), ("9000-9003", "are kept for tests"), ("20", "two whole numbers")):
            self.bad(2, "train", "decima", workload, *SMALL, "--compare", seeds, holds=text)

    def test_it_goes_on_from_its_checkpoint(self):
        workload, checkpoint = self.workload(), self.path("checkpoint")
        options = ("--generations", 3)
        whole = self.train(workload, *options)
        states = []
        for stop in (1, 2):  # the states after the first and the second generation
            self.train(workload, *options, "--checkpoint", checkpoint, "--stop", stop)
            with open(checkpoint, encoding="utf-8") as file:
                states.append(file.read())
        self.assertNotEqual(states[0], states[1])
        resumed = self.train(workload, *options, "--checkpoint", checkpoint)
        self.assertEqual(resumed["model_hash"], whole["model_hash"])
        self.assertEqual(resumed["validation"], whole["validation"])
        self.bad(1, "train", "decima", workload, *SMALL, *options, "--seed", 5, "--checkpoint", checkpoint,
                 holds="was written for other jobs or options")
        for text in ("", "clotho.checkpoint/1 decima x\n", states[1][:-40], states[1].replace("number ", "number n", 1)):
            self.bad(1, "train", "decima", workload, *instead(SMALL, *options), "--checkpoint", self.file("broken", text), holds="broken")

    def test_without_room_it_stops_unless_forced(self):
        workload, model = self.workload(), self.path("none.model")
        asks = [word for word in SMALL if word != "--force"]
        for more in ((), ("--json",)):  # a job that is alone: no order and no limit makes it end earlier
            self.bad(1, "train", "decima", workload, *instead(asks, "--jobs", 1, "--generations", 1, "-o", model, *more),
                     holds="there is nothing to learn")
        self.assertFalse(os.path.exists(model))
        text = self.good("train", "decima", workload, *instead(asks, "--generations", 1, "--parametric", "-9,0,0,0,0,9,0,0,-1,20us"))
        self.assertIn("an oracle that knows all is", text)  # the longest job goes first

    def test_deadlines(self):
        workload, model = self.workload(), self.path("due.model")
        one, two = (self.train(workload, "--deadlines", "1-3", "--whiten", "--generations", 2, "--threads", n, "-o", model) for n in (1, 2))
        self.assertEqual(one["model_hash"], two["model_hash"])
        self.simulate(workload, f"residual:{model},1,2,3,0.5,0.2,2,0.3,0.6,-1,20us")
        for more in (("--whiten", "--generations", 2), ("--deadlines", "1-2", "--whiten", "--generations", 2)):
            self.assertNotEqual(one["model_hash"], self.train(workload, *more)["model_hash"])
        self.assertIn("mean tardiness", self.good("train", "decima", workload, *SMALL, "--generations", 1, "--deadlines", "1-2"))
        for text in ("", "3", "3-2", "0-2", "2-x", "1-2-3", "1-nan"):
            self.bad(2, "train", "decima", workload, *SMALL, "--deadlines", text, holds="two factors")

    def test_bad_options(self):
        workload = self.workload()
        for more, text in ((("--seeds", "8990-9000"), "are kept for tests"), (("--validation", "9050-9060"), "are kept for tests"),
                           (("--seeds", "1-20", "--validation", "20-30"), "share seeds"), (("--pairs", 0), "--pairs"),
                           (("--sigma", 0), "--sigma"), (("--rate", 11), "--rate"), (("--threads", 300), "at most 256"),
                           (("--parametric", "1,2,x"), "parametric"), (("--parametric", "1" * 300), "too long"),
                           (("--arrivals", "trace"), "batch or poisson"), (("--name", "n" * 40), "too long"),
                           (("--generations", 0), "--generations")):
            self.bad(2, "train", "decima", workload, *instead(SMALL, *more), holds=text)
        self.bad(1, "train", "decima", self.path("nothing.jsonl"), holds="nothing.jsonl")
        self.bad(1, "train", "decima", workload, *instead(SMALL, "--jobs", 1), "--scale", "0.000001", holds="")

    def test_models_that_do_not_fit(self):
        workload = self.workload()
        self.good("simulate", workload, "--policy", "residual", "--platform", "uniform:4")  # the built-in one, for batches
        self.bad(2, "simulate", workload, "--policy", "residual:,batch", "--platform", "uniform:4", holds="begins with no file")
        self.bad(1, "simulate", workload, "--policy", "residual:" + self.path("none.model"), "--platform", "uniform:4", holds="none.model")
        self.bad(1, "simulate", workload, "--policy", "residual:" + self.file("x.model", "x" * 64), "--platform", "uniform:4", holds="x.model")


if __name__ == "__main__":
    unittest.main()
