"""train decima-network: what it writes runs, learns, goes on where it was interrupted, the same bytes with any number of threads, and
bad input."""
import json
import unittest

from support import CommandTest, instead

SMALL = ("--platform", "uniform:6", "--jobs", 5, "--seeds", "1-8", "--validation", "10-12", "--instances", 2, "--rollouts", 2,
         "--imitations", 3, "--updates", 2, "--decisions", 48, "--batch", 12, "--validate-every", 1, "--baseline", "decima-fair", "--force")


def stage(i, tasks, first, rest):
    return {"id": i, "n_tasks": tasks, "fresh": {"5": [2 * first], "10": [2 * first]}, "first": {"5": [first], "10": [first]},
            "rest": {"5": [rest, rest + 90], "10": [rest]}}


class TrainNetwork(CommandTest):
    def workload(self):
        """Jobs that are long, middling and short, each of three stages."""
        jobs = [{"job": name, "query": k + 1, "stages": [stage(0, tasks, 9000, 4000), stage(1, tasks, 7000, 3000), stage(2, 2, 8000, 6000)],
                 "edges": [[0, 2], [1, 2]]} for k, (name, tasks) in enumerate((("long", 90), ("middle", 12), ("short", 3)))]
        return self.file("q.jsonl", "".join(json.dumps(job) + "\n" for job in jobs))

    def train(self, workload, *more):
        return json.loads(self.good("train", "decima-network", workload, *instead(SMALL, "--json", *more)))

    def test_it_learns_and_its_model_runs(self):
        workload, model, curve = self.workload(), self.path("n.model"), self.path("n.svg")
        learns = ("--jobs", 8, "--instances", 4, "--imitations", 10, "--updates", 1, "--decisions", 256, "--batch", 32, "--validate-every", 10)
        trained = self.train(workload, *learns, "--compare", "20-22", "-o", model, "--svg", curve)
        self.assertLess(trained["validation"], 0.7 * trained["validation_first"])
        self.assertGreater(trained["agreement"], 0.9)
        self.assertLess(abs(trained["objective_change"]), 0.05)
        self.good("model", "verify", model)
        for argument in (model, model + ",sampled,seed=3"):
            run = json.loads(self.good("simulate", workload, "--jobs", 8, "--arrivals", "batch", "--platform", "uniform:6", "--environment",
                                       "decima", "--policy", "decima:" + argument, "--json"))
            self.assertTrue(run["valid"])
            self.assertEqual(run["fallbacks"], 0)
        with open(curve, encoding="utf-8") as file:
            self.assertIn("<svg", file.read())

    def test_reinforce_alone_learns(self):
        trained = self.train(self.workload(), "--imitations", 0, "--updates", 12, "--rollouts", 8, "--jobs", 6, "--rate", 0.002, "--entropy", 0.02,
                             "--decisions", 256, "--validate-every", 12)
        self.assertLess(trained["validation"], 0.8 * trained["validation_first"])

    def test_any_number_of_threads_makes_the_same_model(self):
        workload = self.workload()
        one, three = (self.train(workload, "--threads", n) for n in (1, 3))
        self.assertEqual(one["model_hash"], three["model_hash"])
        self.assertEqual(one["validation"], three["validation"])
        self.assertNotEqual(one["model_hash"], self.train(workload, "--seed", 5)["model_hash"])
        text = self.good("train", "decima-network", workload, *SMALL)
        for word in ("by imitation", "by REINFORCE", "imitate", "reinforce", "hash"):
            self.assertIn(word, text)

    def test_it_begins_with_a_model(self):
        workload, model, again = self.workload(), self.path("n.model"), self.path("again.model")
        none = ("--imitations", 0, "--updates", 0)
        trained = self.train(workload, "-o", model)
        read = self.train(workload, *none, "--from", model, "-o", again)
        self.assertLess(abs(read["validation"] / trained["validation"] - 1), 0.02)
        self.assertEqual(read["updates"], 0)
        self.good("model", "verify", again)
        self.assertEqual(self.train(workload, "--from", model, "--imitations", 0, "--updates", 2)["updates"], 2)
        self.bad(2, "train", "decima-network", workload, *instead(SMALL, *none), holds="without --from")
        self.bad(2, "train", "decima-network", workload, *SMALL, "--from", model, "--no-limits", holds="leave --no-messages and --no-limits out")
        for other in ("lachesis", "edges"):
            self.bad(1, "train", "decima-network", workload, *instead(SMALL, *none), "--from", other, holds="is no model that this command makes")

    def test_without_room_it_stops_unless_forced(self):
        asks = [word for word in SMALL if word != "--force"]
        self.bad(1, "train", "decima-network", self.workload(), *instead(asks, "--jobs", 1), holds="there is nothing to learn")

    def test_it_goes_on_from_its_checkpoint(self):
        workload, checkpoint = self.workload(), self.path("checkpoint")
        whole = self.train(workload)
        for stop in (1, 4):  # within the imitation, within REINFORCE
            self.assertEqual(self.train(workload, "--checkpoint", checkpoint, "--stop", stop)["updates"], stop)
        with open(checkpoint, encoding="utf-8") as file:
            text = file.read()
        resumed = self.train(workload, "--checkpoint", checkpoint)
        self.assertEqual((resumed["model_hash"], resumed["validation"]), (whole["model_hash"], whole["validation"]))
        self.bad(1, "train", "decima-network", workload, *SMALL, "--seed", 5, "--checkpoint", checkpoint, holds="other jobs or options")
        for broken in ("", "clotho.checkpoint/1 decima-network x\n", text[:-40], text.replace("0x1", "nan", 1)):
            self.bad(1, "train", "decima-network", workload, *SMALL, "--checkpoint", self.file("broken", broken), holds="broken")

    def test_a_checkpoint_whose_counts_do_not_fit_is_refused(self):
        """Its sum is right; it says that nothing is done, and has the points of all updates."""
        workload, checkpoint = self.workload(), self.path("checkpoint")
        self.train(workload, "--checkpoint", checkpoint)
        with open(checkpoint, encoding="utf-8") as file:
            lines = file.read().splitlines(keepends=True)
        for place, text in ((0, "0"), (1, "9"), (3, "1e300"), (4, "5"), (4, "6.5")):
            words = lines[1].split()
            words[place] = text
            body = "".join([lines[0], " ".join(words) + "\n", *lines[2:-1]])
            total = 14695981039346656037
            for byte in body.encode():
                total = (total ^ byte) * 1099511628211 % 2**64
            last = lines[-1].split()[0] + " %016x\n" % total
            self.bad(1, "train", "decima-network", workload, *SMALL, "--checkpoint", self.file("broken", body + last),
                     holds="broken: is damaged; delete it")

    def test_parts_can_be_left_out(self):
        workload = self.workload()
        whole, *parts = (self.train(workload, *more)["model_hash"] for more in ((), ("--no-messages",), ("--no-limits",)))
        self.assertEqual(len({whole, *parts}), 3)
        scenes = ("--scene", "uniform:6/4/batch", "--scene", "uniform:4/6/poisson:3", "--horizon", 20, "--jobs-first", 2)
        two = json.loads(self.good("train", "decima-network", workload, *SMALL[4:], *scenes, "--json"))
        self.assertEqual(two["updates"], 5)
        self.bad(2, "train", "decima-network", workload, *SMALL, *scenes, holds="--scene is in place of")

    def test_bad_options(self):
        workload = self.workload()
        for more, text in ((("--seeds", "8990-9000"), "are kept for tests"), (("--validation", "9050-9060"), "are kept for tests"),
                           (("--seeds", "1-20", "--validation", "20-30"), "share seeds"), (("--compare", "5-6"), "shares seeds"),
                           (("--rollouts", 1), "--rollouts"), (("--rate", 0), "--rate"), (("--threads", 300), "at most 256"),
                           (("--imitations", 0, "--updates", 0), "--imitations"), (("--name", "n" * 40), "too long"),
                           (("--baseline", "nothing"), "nothing"), (("--decisions", 100001), "--decisions")):
            self.bad(2, "train", "decima-network", workload, *instead(SMALL, *more), holds=text)
        self.bad(1, "train", "decima-network", self.path("nothing.jsonl"), *SMALL, holds="nothing.jsonl")


if __name__ == "__main__":
    unittest.main()
