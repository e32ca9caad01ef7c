"""train parametric and train lachesis: what they print and write, that they go on where they were interrupted, and bad
input."""
import json
import os
import signal
import unittest

from support import CommandTest, instead

SMALL = ("--jobs", 6, "--seeds", "1-4", "--validation", "10-12", "--each", 2, "--population", 6, "--platform", "uniform:4")


class Train(CommandTest):
    def workload(self):
        path = self.path("stream.jsonl")
        self.good("generate", "stream", "--jobs", 12, "-n", 20, "-o", path)
        return path

    def train(self, workload, *more):
        return json.loads(self.good("train", "parametric", workload, *instead(SMALL, "--json", *more)))

    def test_the_argument_is_one_of_the_policy(self):
        workload, output = self.workload(), self.path("argument.txt")
        trained = self.train(workload, "--generations", 2, "-o", output)
        with open(output, encoding="utf-8") as file:
            self.assertEqual(file.read(), trained["argument"] + "\n")
        self.assertEqual(trained["generations"], 2)
        self.assertLess(trained["validation"], 2)
        run = json.loads(self.good("simulate", workload, "--jobs", 6, "--arrivals", "batch", "--platform", "uniform:4", "--json",
                                   "--policy", "parametric:" + trained["argument"]))
        self.assertTrue(run["valid"])

    def test_fit_is_searched_where_machines_differ(self):
        platform = {"resources": ["memory"], "machines": [{"memory": 4}, {"memory": 8}],
                    "executors": [{"kind": "cpu", "machine": e % 2} for e in range(4)]}
        graph = {"format": "clotho.graph/1", "resources": ["memory"],
                 "tasks": [{"work_ns": 1000 * (n + 1), "instances": 3, "demand": {"memory": 2 * n + 1}} for n in range(4)]}
        lines = [{"format": "clotho.workload/1", "platform": platform}, {"graph": graph}, {"graph": 0}, {"graph": 0}]
        workload = self.file("classes.jsonl", "\n".join(json.dumps(line) for line in lines) + "\n")
        options = ("--jobs", 3, "--seeds", "1-2", "--validation", "10-11", "--each", 2, "--population", 4, "--generations", 1)
        trained = json.loads(self.good("train", "parametric", workload, *options, "--json", "--start",
                                       "1,0,0,0,0,9,0,0,1,fit=5"))
        self.assertIn(",fit=", trained["argument"])
        self.good("simulate", workload, "--policy", "parametric:" + trained["argument"])
        self.bad(2, "train", "parametric", workload, *options, "--start", "1,0,0,0,0,9,0,0,1,for=p95", holds="add --for p95")
        self.bad(2, "train", "parametric", workload, *options, "--start", "1,0,0,0,0,9,0,0,1,fit=x", holds="write nine numbers")
        self.assertNotIn("fit", self.train(self.workload(), "--generations", 1)["argument"])

    def test_the_numbers_of_easy_parametric_are_found_too(self):
        workload, checkpoint = self.workload(), self.path("checkpoint")
        options = ("--policy", "easy-parametric", "--baseline", "easy-sjf", "--start", "behind=0,wait=1,first=-1")
        trained = self.train(workload, *options, "--generations", 2, "--threads", 1)
        self.assertTrue(trained["argument"].startswith("fit="), trained["argument"])
        self.assertEqual(trained["argument"].count("="), 11)
        self.good("simulate", workload, "--platform", "uniform:4", "--policy", "easy-parametric:" + trained["argument"])
        self.train(workload, *options, "--generations", 1, "--threads", 2, "--checkpoint", checkpoint)
        resumed = self.train(workload, *options, "--generations", 2, "--threads", 2, "--checkpoint", checkpoint)
        self.assertEqual(resumed["argument"], trained["argument"])
        starts = ("fit=1", "fit=9,fit=1", "fit=1,fit=9")
        one, last, other = (self.train(workload, *options[:4], "--start", start, "--generations", 1)["argument"] for start in starts)
        self.assertEqual(one, last)
        self.assertNotEqual(one, other)

    def test_the_numbers_of_graphene_are_found_too(self):
        workload, checkpoint = self.workload(), self.path("checkpoint")
        options = ("--policy", "graphene", "--baseline", "tetris", "--start", "path=0,kappa=3")
        trained = self.train(workload, *options, "--generations", 1, "--checkpoint", checkpoint)
        self.assertEqual(trained["policy"], "graphene")
        self.assertTrue(trained["argument"].startswith("kappa=3.0000,srpt="), trained["argument"])
        self.assertLess(trained["validation"], 2)
        self.good("simulate", workload, "--platform", "uniform:4", "--policy", "graphene:" + trained["argument"])
        self.bad(1, "train", "parametric", workload, *SMALL, "--checkpoint", checkpoint, holds="other jobs or options")
        for start in ("sprt=1", "srpt=x", "srpt=4", "1,2,3", "srpt=1,", ""):
            self.bad(2, "train", "parametric", workload, *SMALL, "--policy", "graphene", "--start", start, holds="write srpt=1,order=0.1")
        self.bad(2, "train", "parametric", workload, *SMALL, "--policy", "fair", holds="write parametric, graphene or easy-parametric")
        for scene in ("uniform:4", "uniform:4/x/batch", "uniform:4/-1/batch", "uniform:4/0/batch", "/5/batch"):
            self.bad(2, "train", "parametric", workload, "--scene", scene, holds="write SPEC/JOBS/ARRIVALS")
        self.bad(2, "train", "parametric", workload, "--scene", "uniform:4/5/batch", "--jobs", 3, holds="--scene is in place of")
        self.bad(2, "train", "parametric", workload, *SMALL, "--for", "fun", holds="write mean, weighted")

    def test_deadlines_are_drawn(self):
        workload, options = self.workload(), ("--generations", 2, "--for", "tardy")
        due, other, none = (self.train(workload, *options, *more)["argument"] for more in (("--deadlines", "1-2"), ("--deadlines", "2-4"), ()))
        self.assertEqual(len({due, other, none}), 3)

    def test_an_objective_stands_in_the_argument(self):
        workload = self.workload()
        late = self.train(workload, "--generations", 1, "--for", "late", "--deadlines", "1-3", "--baseline", "auto")
        self.assertTrue(late["argument"].endswith(",for=late,auto"), late["argument"])
        p95 = self.train(workload, "--generations", 1, "--for", "p95")
        self.assertTrue(p95["argument"].endswith(",for=p95,auto"), p95["argument"])
        self.assertNotIn("for=", self.train(workload, "--generations", 1, "--for", "makespan")["argument"])
        for argument in (late["argument"], p95["argument"], "late", "p95"):
            self.good("simulate", workload, "--platform", "uniform:4", "--policy", "parametric:" + argument)
        for text in ("", "2", "2-", "-2", "3-2", "0-2", "1-x", "1-2x", "1-inf", "nan-2"):
            self.bad(2, "train", "parametric", workload, *SMALL, "--deadlines", text, holds="two factors")
        self.bad(2, "train", "parametric", workload, *SMALL, "--for", "late", holds="no job has one; write --deadlines X-Y")
        self.good("generate", "stream", "--jobs", 12, "-n", 20, "--deadline", 2, "-o", self.path("due.jsonl"))
        self.train(self.path("due.jsonl"), "--generations", 1, "--for", "late")

    def test_a_deadline_beyond_all_times_is_told(self):
        self.bad(1, "train", "parametric", self.workload(), *SMALL, "--scale", "1e9", "--deadlines", "900000-1000000", holds="146 years")

    def test_any_number_of_threads_finds_the_same(self):
        workload = self.workload()
        one, three = (self.train(workload, "--generations", 2, "--threads", n) for n in (1, 3))
        self.assertEqual(one["argument"], three["argument"])
        self.assertEqual(one["validation"], three["validation"])
        self.assertNotEqual(one["argument"], self.train(workload, "--generations", 2, "--seed", 7)["argument"])

    def test_it_goes_on_from_its_checkpoint(self):
        workload, checkpoint = self.workload(), self.path("checkpoint")
        self.train(workload, "--generations", 1, "--checkpoint", checkpoint)
        resumed = self.train(workload, "--generations", 3, "--checkpoint", checkpoint)
        self.assertEqual(resumed["argument"], self.train(workload, "--generations", 3)["argument"])
        self.bad(1, "train", "parametric", workload, *SMALL, "--seed", 5, "--checkpoint", checkpoint,
                 holds="was written for other jobs or options")
        self.bad(1, "train", "parametric", workload, *SMALL, "--checkpoint", self.file("broken", "clotho.checkpoint/1 x\n"),
                 holds="is no checkpoint")

    def test_a_damaged_checkpoint_is_refused(self):
        workload, checkpoint = self.workload(), self.path("checkpoint")
        self.train(workload, "--generations", 1, "--checkpoint", checkpoint)
        with open(checkpoint, "rb") as file:
            whole = file.read()
        digits = [at for at in range(whole.index(b"\n"), len(whole)) if whole[at:at + 1].isdigit()]
        spoilt = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:] for at in digits[::len(digits) // 9]]
        for text in (*spoilt, whole[:-1], whole[:len(whole) // 2], whole + b"\n", b""):
            with open(checkpoint, "wb") as file:
                file.write(text)
            self.bad(1, "train", "parametric", workload, *SMALL, "--checkpoint", checkpoint, holds="or is damaged; name another file, or delete it to begin anew")
        for old in (b"/1 parametric ", b"/3 parametric "):
            with open(checkpoint, "wb") as file:
                file.write(whole.replace(b"/2 parametric ", old))
            self.bad(1, "train", "parametric", workload, *SMALL, "--checkpoint", checkpoint, holds="of another version of clotho; delete it")
        self.bad(1, "train", "parametric", workload, *SMALL, "--checkpoint", self.path(""), holds="Is a directory")

    def test_seeds_of_the_tests_are_refused(self):
        workload = self.workload()
        self.bad(2, "train", "parametric", workload, "--seeds", "8990-9000", holds="are kept for tests")
        self.bad(2, "train", "parametric", workload, "--validation", "9050-9060", holds="are kept for tests")
        self.bad(2, "train", "parametric", workload, "--seeds", "1-20", "--validation", "20-30", holds="share seeds")

    def test_bad_options(self):
        workload = self.workload()
        for more, text in ((("--population", 3), "write 4 to 10000"), (("--seeds", "5"), "write two whole numbers"),
                           (("--seeds", "9-5"), "write two whole numbers"), (("--start", "1,2,x"), "write nine numbers"),
                           (("--start", "stream"), "write nine numbers"), (("--start", "1,2,3,4,5,6,7,8,9,1s,"), "write nine numbers"),
                           (("--start", ""), "write nine numbers"), (("--start", "1,2,3,4,5,6,7,8"), "write nine numbers"),
                           (("--baseline", "nobody"), "nobody"), (("--threads", 300), "at most 256"),
                           (("--arrivals", "poisson:0"), "arrivals")):
            self.bad(2, "train", "parametric", workload, *more, holds=text)
        self.bad(2, "train", "magic", workload, holds="'train magic' is not known")
        self.bad(1, "train", "parametric", self.path("nothing.jsonl"), holds="nothing.jsonl")


# Five batches of one to three jobs on four executors.
NETWORK = ("--jobs", "1-3", "--seeds", "1-3", "--validation", "10-11", "--instances", 3, "--rollouts", 4, "--width", 4,
           "--executors", 4, "--validate", 2, "--rate", "0.05")


class Network(CommandTest):
    def workload(self):
        path = self.path("stream.jsonl")
        self.good("generate", "stream", "--jobs", 6, "-n", 10, "-o", path)
        return path

    def train(self, workload, *more):
        return json.loads(self.good("train", "lachesis", workload, *instead(NETWORK, "--json", *more)))

    def test_it_writes_a_model_and_a_curve(self):
        workload, model, curve = self.workload(), self.path("l.model"), self.path("l.svg")
        trained = self.train(workload, "--updates", 4, "-o", model, "--curve", curve)
        self.assertEqual(trained["updates"], 4)
        self.assertLessEqual(trained["validation"], 1)  # of DEFT's makespan, where it began
        self.assertGreater(trained["agreement"], 0.5)
        self.good("model", "verify", model)
        with open(curve, encoding="utf-8") as file:
            self.assertIn("<svg", file.read())
        text = self.good("train", "lachesis", workload, workload, *NETWORK, "--updates", 2, "--tune", 2)
        for word in ("seeds", "validation 10-11 (list", "prior", "2/2", "integers", "hash"):
            self.assertIn(word, text)

    def test_any_number_of_threads_makes_the_same_model(self):
        workload = self.workload()
        one, three = (self.train(workload, "--updates", 3, "--tune", 1, "--threads", n) for n in (1, 3))
        self.assertEqual(one["model_hash"], three["model_hash"])

    def test_it_goes_on_from_its_checkpoint(self):
        workload, checkpoint = self.workload(), self.path("checkpoint")
        options = ("--updates", 4, "--checkpoint", checkpoint)
        first = self.train(workload, *options)
        again = self.train(workload, *options)
        self.assertEqual(first["model_hash"], again["model_hash"])
        self.assertEqual(again["updates"], 4)
        self.bad(1, "train", "lachesis", workload, *NETWORK, *options, "--seed", 9, holds="checkpoint")

    def test_interrupted_it_makes_the_same_bytes_later(self):
        workload, model, curve = self.workload(), self.path("l.model"), self.path("l.svg")
        options = ("--updates", 80, "--tune", 1, "-o", model, "--curve", curve)
        self.train(workload, *options)
        whole = self.bytes(model), self.bytes(curve)
        for number in (signal.SIGINT, signal.SIGKILL):
            checkpoint = self.path(f"checkpoint{number}")
            os.remove(model)
            self.interrupt(number, checkpoint, "train", "lachesis", workload, *NETWORK, *options, "--checkpoint", checkpoint)
            self.assertFalse(os.path.exists(model))
            self.train(workload, *options, "--checkpoint", checkpoint)
            self.assertEqual((self.bytes(model), self.bytes(curve)), whole)

    def test_integers_are_compared_with_real_numbers_on_batches_held_aside(self):
        workload, model = self.workload(), self.path("l.model")
        options = ("--jobs", "2-4", "--ccr", 5, "--updates", 10, "--validate", 1, "--prior", 1, "--agree", 0, "-o", model)
        plain, bytes_of = self.train(workload, *options), self.bytes(model)
        report = self.train(workload, *options, "--compare", "20-27")
        self.assertEqual(self.bytes(model), bytes_of)
        self.assertNotIn("compared", plain)
        self.assertEqual(report["compared"], 8)
        self.assertGreater(report["compared_decisions"], 20)
        self.assertLess(report["compared_agreement"], 0.99)  # as on validation, see below
        self.assertGreaterEqual(report["compared_change_error"], 0)
        self.assertIn("held aside   8 batches", self.good("train", "lachesis", workload, *NETWORK, "--updates", 1, "--compare", "20-27"))
        for seeds, text in (("3-8", "shares seeds"), ("11-13", "shares seeds"), ("9000-9003", "are kept for tests")):
            self.bad(2, "train", "lachesis", workload, *NETWORK, "--compare", seeds, holds=text)

    def test_a_network_whose_integers_choose_otherwise_is_left_out(self):
        workload, model = self.workload(), self.path("l.model")
        options = ("--jobs", "2-4", "--ccr", 5, "--updates", 10, "--validate", 1, "--prior", 1, "-o", model)
        kept = self.train(workload, *options, "--agree", 0)
        self.assertFalse(kept["prior_alone"])
        self.assertGreater(kept["best_update"], 0)
        self.assertLess(kept["agreement"], 0.99)
        left_out = self.train(workload, *options)
        self.assertTrue(left_out["prior_alone"])
        self.assertEqual(left_out["best_update"], 0)
        self.assertEqual(left_out["agreement_of_network"], kept["agreement"])
        self.assertGreaterEqual(left_out["agreement"], 0.99)
        self.assertIn("is left out, the prior alone is kept", self.good("train", "lachesis", workload, *instead(NETWORK, *options)))

    def test_bad_options(self):
        workload = self.workload()
        for more, text in ((("--agree", 101), "--agree is from 0 to 100"),
                           (("--seeds", "8990-9000"), "are kept for tests"), (("--validation", "9000-9001"), "are kept for tests"),
                           (("--seeds", "1-20", "--validation", "20-30"), "share seeds"), (("--jobs", "0-3"), "--jobs is '0-3'"),
                           (("--ccr", "1,x"), "--ccr is '1,x'"), (("--speeds", "3"), "--speeds is '3'"), (("--edges", "odd"), "even, producer"),
                           (("--width", 65), "--width is from 1"), (("--rollouts", 1), "--rollouts from 2"), (("--prior", 0), "--prior is above 0"),
                           (("--threads", 300), "at most 256"), (("--updates", 0), "--updates is from 1")):
            self.bad(2, "train", "lachesis", workload, *more, holds=text)
        self.bad(1, "train", "lachesis", self.path("nothing.jsonl"), holds="nothing.jsonl")


if __name__ == "__main__":
    unittest.main()
