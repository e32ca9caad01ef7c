"""train edges WORKLOAD...: the same bytes from the same seed, that it goes on where it was interrupted, and bad input."""
import json
import os
import signal
import unittest

from support import CommandTest, instead

SMALL = ("--jobs", "1-2", "--edges", 3, "--lessons", 1, "--instances", 2, "--rollouts", 2, "--seeds", "1-8", "--validation",
         "10-12", "--validate-every", 1)


class TrainEdges(CommandTest):
    def workload(self):
        path = self.path("stream.jsonl")
        self.good("generate", "stream", "--jobs", 6, "-n", 12, "-o", path)
        return path

    def train(self, workload, output, *more):
        report = json.loads(self.good("train", "edges", workload, *instead(SMALL, "--json", "-o", output, *more)))
        with open(output, "rb") as file:
            return report, file.read()

    def test_the_model_is_one_and_any_number_of_threads_makes_its_bytes(self):
        workload, path, curve = self.workload(), self.path("a.model"), self.path("curve.svg")
        report, model = self.train(workload, path, "--updates", 2, "--threads", 1, "--svg", curve)
        self.assertEqual(report["updates"], 3)
        self.assertEqual(report["bytes"], len(model))
        self.assertLess(len(model), 100000)
        self.assertGreater(report["agreement"], 0.9)
        self.assertGreaterEqual(report["validation"], report["validation_before"])
        self.assertAlmostEqual(report["validation_integers"], report["validation"], delta=0.2)
        self.assertIn("golden vectors agree", self.good("model", "verify", path))
        with open(curve, encoding="utf-8") as file:
            self.assertIn("<svg", file.read())
        self.assertEqual(model, self.train(workload, path, "--updates", 2, "--threads", 3)[1])
        self.assertNotEqual(model, self.train(workload, path, "--updates", 2, "--seed", 7)[1])

    def test_it_goes_on_from_its_checkpoint(self):
        workload, path, checkpoint = self.workload(), self.path("a.model"), self.path("checkpoint")
        first = self.train(workload, path, "--updates", 2, "--checkpoint", checkpoint)
        self.assertEqual(first[1], self.train(workload, path, "--updates", 2, "--checkpoint", checkpoint)[1])
        self.bad(1, "train", "edges", workload, *SMALL, "--updates", 2, "--seed", 5, "--checkpoint", checkpoint,
                 holds="was written for other jobs or options")

    def test_interrupted_it_makes_the_same_bytes_later(self):
        workload, path, curve = self.workload(), self.path("a.model"), self.path("curve.svg")
        options = ("--updates", 100, "--svg", curve)
        whole = self.train(workload, path, *options)[1], self.bytes(curve)
        for number in (signal.SIGINT, signal.SIGKILL):
            checkpoint = self.path(f"checkpoint{number}")
            os.remove(path)
            self.interrupt(number, checkpoint, "train", "edges", workload, *SMALL, *options, "-o", path, "--checkpoint", checkpoint)
            self.assertFalse(os.path.exists(path))
            again = self.train(workload, path, *options, "--checkpoint", checkpoint)[1], self.bytes(curve)
            self.assertEqual(again, whole)

    def test_a_model_whose_integers_choose_otherwise_is_not_written(self):
        workload, path = self.workload(), self.path("a.model")
        for more, text in ((("--rate", 0.3), "% of 21 decisions, less than 99 %, and it is not written"),
                           (("--rate", 2), "longer by 0.715 % than real numbers, more than 0.2 %")):
            options = ("--jobs", "1-3", "--validation", "10-13", "--updates", 6, *more)
            self.bad(1, "train", "edges", workload, *instead(SMALL, *options), "-o", path, holds=text)
            self.assertFalse(os.path.exists(path))
            self.train(workload, path, *options, "--agree", 0)
            os.remove(path)

    def test_integers_are_compared_with_real_numbers_on_instances_held_aside(self):
        workload, path = self.workload(), self.path("a.model")
        plain, model = self.train(workload, path, "--updates", 2)
        report, same = self.train(workload, path, "--updates", 2, "--compare", "20-27")
        self.assertEqual(model, same)
        self.assertNotIn("compared", plain)
        self.assertEqual(report["compared"], 8)
        self.assertGreater(report["compared_decisions"], 8)
        self.assertGreater(report["compared_agreement"], 0.9)
        self.assertLess(abs(report["compared_change"]), 0.002)
        self.assertIn("held aside   seeds 20-27", self.good("train", "edges", workload, *SMALL, "--updates", 1, "--compare", "20-27"))
        # A model of other numbers than the trained ones: the comparison sees it.
        options = ("--jobs", "1-3", "--validation", "10-13", "--updates", 6, "--rate", 2, "--agree", 0, "--compare", "20-51")
        rough, _ = self.train(workload, path, *options)
        self.assertLess(rough["compared_agreement"], 0.99)
        for seeds, text in (("8-9", "shares seeds"), ("12-13", "shares seeds"), ("9000-9003", "are kept for tests")):
            self.bad(2, "train", "edges", workload, *SMALL, "--compare", seeds, holds=text)

    def test_seeds_of_the_tests_are_refused_and_the_lists_are_shown(self):
        workload = self.workload()
        self.bad(2, "train", "edges", workload, "--seeds", "8990-9000", holds="are kept for tests")
        self.bad(2, "train", "edges", workload, "--validation", "9050-9060", holds="are kept for tests")
        self.bad(2, "train", "edges", workload, "--seeds", "1-20", "--validation", "20-30", holds="share seeds")
        text = self.good("train", "edges", workload, *SMALL, "--updates", 1)
        self.assertIn("seeds        1-8 (list ", text)
        self.assertIn("left", text)

    def test_bad_options(self):
        workload = self.workload()
        for more, text in ((("--jobs", "0"), "write a number from 1 to"), (("--jobs", "5-3"), "write a number from 1 to"),
                           (("--rule", "best"), "write cp, sjf, tetris or any"), (("--edges", 0), "from 1 to"),
                           (("--rollouts", 1), "from 2 to"), (("--threads", 300), "at most 256"),
                           (("--agree", 101), "from 0 to 100"), (("--lessons", 0, "--updates", 0), "nothing would be trained"), (("--rate", 0), "number > 0")):
            self.bad(2, "train", "edges", workload, *more, holds=text)
        self.bad(1, "train", "edges", self.path("nothing.jsonl"), holds="nothing.jsonl")


if __name__ == "__main__":
    unittest.main()
