"""clotho serve: the scheduler for somebody else's cluster, over standard input and over a socket."""
import heapq
import json
import os
import random
import signal
import socket
import stat
import subprocess
import sys
import time
import unittest

from support import CLOTHO, LONG, SANITIZED, SOURCE, CommandTest, limit_files

JOBS = 1000 if SANITIZED else 10000


def graph(works, edges=(), **more):
    return {"format": "clotho.graph/1", "name": "g", "tasks": [dict(work_ns=w, **more) for w in works],
            "edges": [{"from": a, "to": b, "bytes": 0} for a, b in edges]}


FORK = graph([1000, 1000, 1000], [(0, 1), (0, 2)])
ONE = graph([1000])


def finish(choice, time_ns, event="finish", **more):
    return {"event": event, "time_ns": time_ns, **more,
            **{key: choice[key] for key in ("job", "stage", "instance", "executor")}}


class Driver:
    """One who sends events and reads what comes of them."""

    def __init__(self, read, write, close):
        self.read, self.write, self.close = read, write, close
        self.state = json.loads(read())["state"]

    def raw(self, line):
        """Sends bytes; the objects of the answer, up to "ok" or "error"."""
        self.write(line + b"\n")
        answer = []
        while not answer or not ("ok" in answer[-1] or "error" in answer[-1]):
            answer.append(json.loads(self.read()))
        return answer

    def all(self, **event):
        return self.raw(json.dumps(event).encode())

    def good(self, **event):
        """The choices and the ends that the event led to."""
        answer = self.all(**event)
        assert "ok" in answer[-1], answer
        return [a["choice"] for a in answer if "choice" in a], [a["ended"] for a in answer if "ended" in a]

    def error(self, **event):
        return self.all(**event)[-1]["error"]


def run_cluster(driver, arrivals, seed, running=(), until=None):
    """Simulates a cluster: arrivals [(time_ns, event)] in order; random times of tasks. Returns all choices, and what runs
    after `until` events."""
    rng, events, choices, count = random.Random(seed), [], [], 0
    for when, event in arrivals:
        events.append((when, len(events), event))
    for choice in running:
        events.append((choice["end_ns"], len(events), choice))
    heapq.heapify(events)
    number = len(events)
    while events and (until is None or count < until):
        when, _, what = heapq.heappop(events)
        count += 1
        event = finish(what, when) if "executor" in what else {"event": "arrive", "time_ns": when, **what}
        for choice in driver.good(**event)[0]:
            choice["end_ns"] = when + rng.randrange(1, 2000)
            number += 1
            heapq.heappush(events, (choice["end_ns"], number, choice))
            choices.append(choice)
    return choices, sorted(events)


class Serve(CommandTest):
    def start(self, *arguments, pipe=True):
        process = subprocess.Popen([CLOTHO, "serve", *map(str, arguments)], cwd=self.temporary.name,
                                   stdin=subprocess.PIPE if pipe else subprocess.DEVNULL,
                                   stdout=subprocess.PIPE if pipe else subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        if process.poll() is None:
            process.kill()
        process.wait(LONG)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass

    def driver(self, *arguments):
        """A service on pipes, and its driver."""
        process = self.start(*arguments)

        def write(line):
            process.stdin.write(line)
            process.stdin.flush()
        return process, Driver(process.stdout.readline, write, process.stdin.close)

    def connect(self, process, path="s"):
        """A driver on the socket of a service, once that listens."""
        link = socket.socket(socket.AF_UNIX)
        self.addCleanup(link.close)
        while True:
            try:
                link.connect(self.path(path))
                break
            except (FileNotFoundError, ConnectionRefusedError):
                self.assertIsNone(process.poll(), "the service has ended")
                time.sleep(0.01)
        file = link.makefile("rb")
        self.addCleanup(file.close)

        def close():
            file.close()
            link.close()
        return Driver(file.readline, link.sendall, close)

    def ended(self, process, code=0, said=""):
        self.assertEqual(process.wait(LONG), code)
        error = process.stderr.read().decode()
        self.assertEqual(error, "") if said == "" else self.assertIn(said, error)

    def replays(self, workload="w.jsonl", log="s.log"):
        return self.json("simulate", self.path(workload), "--replay", self.path(log))

    FILES = ("--log", "s.log", "--workload", "w.jsonl")


class Events(Serve):
    def test_choices_follow_arrivals_and_reports(self):
        process, driver = self.driver("--platform", "uniform:2", "--policy", "fifo", *self.FILES)
        self.assertEqual((driver.state["format"], driver.state["executors"]), ("clotho.service/1", 2))
        self.assertEqual((driver.state["policy"], driver.state["clock"], driver.state["runs"]), ("fifo", "client", []))
        choices, ends = driver.good(event="arrive", time_ns=10, graph=FORK, name="first")
        self.assertEqual((len(choices), ends), (1, []))
        self.assertEqual((choices[0]["job"], choices[0]["stage"], choices[0]["chosen_ns"]), (0, 0, 10))
        choices, _ = driver.good(**finish(choices[0], 500))
        self.assertEqual(sorted(c["stage"] for c in choices), [1, 2])
        self.assertEqual(driver.good(**finish(choices[0], 900))[1], [])
        self.assertEqual(driver.good(**finish(choices[1], 950))[1],
                         [{"job": 0, "how": "ok", "arrival_ns": 10, "end_ns": 950}])
        self.assertIn({"ok": 5}, driver.all(event="end"))
        self.ended(process)
        self.assertTrue(self.replays()["equal"])
        self.good("check", self.path("w.jsonl"), self.path("s.log"))

    def test_a_job_may_have_the_graph_of_another_one_and_weights_and_bands(self):
        process, driver = self.driver("--platform", "uniform:1", "--policy", "sjf", *self.FILES)
        driver.good(event="arrive", time_ns=0, graph=graph([5000]))
        driver.good(event="arrive", time_ns=1, graph=0, weight=3, deadline_ns=10000, group=2, limit=1)
        driver.good(event="arrive", time_ns=2, graph=graph([100]), band=1)
        last = driver.good(**finish({"job": 0, "stage": 0, "instance": 0, "executor": 0}, 3))[0]
        self.assertEqual([c["job"] for c in last], [1])  # the job of band 1 is shorter, but comes later
        process.stdin.close()
        self.ended(process)
        self.assertTrue(self.replays()["equal"])

    def test_what_is_wrong_is_one_error_each_and_changes_nothing(self):
        process, driver = self.driver("--platform", "uniform:2", "--policy", "fifo", *self.FILES)
        choice = driver.good(event="arrive", time_ns=100, graph=FORK)[0][0]
        job = {"event": "arrive", "time_ns": 100}
        before = driver.all(event="state")[0]
        for line, text in [
                (b"garbage", "value"), (b"\xff\xfe", "UTF-8"), (b"[1]", "event"), (b"{}", "event"), (b"{\"event\":", "truncated"),
                (b"{\"event\": \"finish\", \"event\": \"end\"}", "event"), (b"\"end\"", "event"), (b"[" * 100000, "deep"),
                (b"{\"event\": \"x\"}", "arrive, finish")]:
            answer = driver.raw(line)
            self.assertEqual(len(answer), 1, line[:40])
            self.assertIn(text, answer[0]["error"])
        plain = b"\"event\": \"finish\", \"time_ns\": 100, \"job\": 0, \"stage\": 0, \"instance\": 0, \"executor\": "
        for rest in (b"00", b"0,", b"0 0", b"-0.5", b"1e1", b"0x0", b"0, \"job\": 0", b"0, \"Job\": 0", b"0}", b"0, \"arm\": 4294967295",
                     b"0, \"event\": \"finish\"", b"0, \"start_ns\": null", b"18446744073709551616", b"4294967296", b"\"0\"",
                     b"0\0"):
            answer = driver.raw(b"{" + plain + rest + b"}")
            self.assertIn("error", answer[0], rest)
        for event, text in [
                ({"event": "end", "when": 3}, "when"), ({"event": "heartbeat", "time_ns": -1}, "time_ns"),
                ({"event": "heartbeat", "time_ns": 99}, "backwards"), ({"event": "heartbeat", "time_ns": 1e30}, "time_ns"),
                ({"event": "heartbeat", "time_ns": 2 ** 53 + 2}, "time_ns"), ({"event": "cancel", "time_ns": 100}, "job"),
                ({"event": "cancel", "time_ns": 100, "job": 1}, "arrived"), ({"event": "lost", "time_ns": 100, "executor": 2}, "exist"),
                ({"event": "back", "time_ns": 100, "executor": 0}, "not lost"), ({"event": "back", "time_ns": 99}, "backwards"),
                (finish(choice, 99), "backwards"), (finish({**choice, "job": 1}, 100), "not job 1"),
                (finish({**choice, "executor": 1}, 100), "nothing"), (finish({**choice, "executor": 9}, 100), "exist"),
                (finish({**choice, "stage": 1}, 100), "stage 1"), (finish({**choice, "instance": 1}, 100), "instance 1"),
                (finish(choice, 100, arm=0), "no branch"), (finish(choice, 200, start_ns=99), "began"),
                (finish(choice, 200, start_ns=201), "began"), (job, "graph"), ({**job, "graph": 1}, "arrived"),
                ({**job, "graph": "g"}, "graph"), ({**job, "graph": {"tasks": []}}, "format"),
                ({**job, "graph": graph([1], [(0, 0)])}, "graph"), ({**job, "graph": graph([1, 1], [(0, 1), (1, 0)])}, "wait for each other"),
                ({**job, "graph": graph([1], kind="nowhere")}, "graph"), ({**job, "graph": FORK, "limit": 3}, "limit"),
                ({**job, "graph": FORK, "band": 99}, "band"), ({**job, "graph": FORK, "weight": 0}, "weight"), ({**job, "graph": FORK, "period_ns": 5}, "period_ns"),
                ({"event": "save", "to": "x"}, "to")]:
            answer = driver.all(**event)
            self.assertEqual(len(answer), 1, (event, answer))
            self.assertIn(text, answer[0]["error"], event)
        self.assertEqual(driver.all(event="state")[0], before)
        self.assertEqual(len(driver.good(**finish(choice, 100))[0]), 2)
        self.assertIn("already", driver.error(**finish(choice, 100)))  # twice
        process.stdin.close()
        self.ended(process)
        self.assertTrue(self.replays()["equal"])

    def test_a_job_that_the_policy_refuses_leaves_the_time_as_it_was(self):
        process, driver = self.driver("--platform", "uniform:1", "--policy", "lachesis")
        driver.good(event="arrive", time_ns=5, graph=ONE)
        self.assertIn("65536", driver.all(event="arrive", time_ns=1000, graph=graph([1] * 65536))[0]["error"])
        self.assertEqual(driver.good(event="finish", time_ns=6, job=0, stage=0, instance=0, executor=0)[1][0]["end_ns"], 6)
        driver.good(event="end")
        self.ended(process)

    def test_lines_are_counted_empty_ones_too_and_a_long_one_is_skipped_once(self):
        process, driver = self.driver("--platform", "uniform:1")
        self.assertEqual(driver.raw(b"\n  \nx")[0]["line"], 3)
        long = driver.raw(b"{\"event\": \"" + b"x" * (40 << 20) + b"\"}")
        self.assertEqual((long[0]["line"], len(long)), (4, 1))
        self.assertIn("longer", long[0]["error"])
        self.assertEqual(driver.all(event="heartbeat"), [{"ok": 5}])
        driver.close()
        self.ended(process)

    def test_more_live_jobs_than_allowed_are_refused_until_one_has_ended(self):
        process, driver = self.driver("--platform", "uniform:1", "--policy", "fifo", "--live", "2", *self.FILES)
        choice = driver.good(event="arrive", time_ns=0, graph=ONE)[0][0]
        driver.good(event="arrive", time_ns=0, graph=0)
        self.assertIn("2 jobs live", driver.error(event="arrive", time_ns=0, graph=ONE))
        driver.good(**finish(choice, 5))
        driver.good(event="arrive", time_ns=5, graph=ONE)
        self.assertEqual(driver.all(event="state")[0]["state"]["live"], [1, 2])
        driver.close()
        self.ended(process)
        self.assertTrue(self.replays()["equal"])

    def test_a_cancelled_job_is_over_when_its_last_report_has_come(self):
        process, driver = self.driver("--platform", "uniform:1", "--policy", "fifo", *self.FILES)
        choice = driver.good(event="arrive", time_ns=0, graph=FORK)[0][0]
        self.assertEqual(driver.good(event="cancel", time_ns=1, job=0), ([], []))
        self.assertIn("already", driver.error(event="cancel", time_ns=1, job=0))
        self.assertEqual([e["how"] for e in driver.good(**finish(choice, 2))[1]], ["cancelled"])
        driver.good(event="arrive", time_ns=2, graph=0)
        self.assertEqual([e["how"] for e in driver.good(**finish({**choice, "job": 1}, 3, "failed"))[1]], ["failed"])
        driver.close()
        self.ended(process)
        self.assertTrue(self.replays()["equal"])

    def test_reports_are_read_with_any_blanks_and_order_of_keys(self):
        process, driver = self.driver("--platform", "uniform:1", "--policy", "fifo", *self.FILES)
        driver.good(event="arrive", time_ns=0, graph=graph([1000], instances=4))
        for k, form in enumerate(["{\"executor\":0,\"instance\":%d,\"stage\":0,\"job\":0,\"time_ns\":%d,\"event\":\"finish\"}",
                                  " { \"event\" :\t\"finish\" , \"instance\" : %d , \"time_ns\": %d, \"start_ns\": 0, \"job\":0,"
                                  "\"stage\":0,\"executor\":0 } \r",
                                  "{\"event\": \"finis\\u0068\", \"instance\": %d, \"time_ns\": %d, \"job\": 0, \"stage\": 0, "
                                  "\"executor\": 0}"]):
            answer = driver.raw((form % (k, 0 if k < 2 else 5)).encode())
            self.assertEqual([c["choice"]["instance"] for c in answer[:-1]], [k + 1])
        driver.close()
        self.ended(process)
        self.assertTrue(self.replays()["equal"])

    def test_a_branch_takes_the_arm_that_the_driver_names(self):
        for arm in (0, 1):
            process, driver = self.driver("--platform", "uniform:1", "--policy", "fifo", *self.FILES)
            choice = driver.good(event="arrive", time_ns=0, graph=BRANCHED)[0][0]
            self.assertIn("fewer arms", driver.error(**finish(choice, 5, arm=2)))
            choice = driver.good(**finish(choice, 5, arm=arm))[0][0]
            self.assertEqual(choice["task"], ["left", "right"][arm])
            choice = driver.good(**finish(choice, 6))[0][0]
            self.assertEqual(choice["task"], "last")
            self.assertEqual(driver.good(**finish(choice, 7))[1][0]["how"], "ok")
            driver.close()
            self.ended(process)
            self.assertTrue(self.replays()["equal"])


BRANCHED = {"format": "clotho.graph/1", "name": "b",
            "tasks": [{"name": "choose", "work_ns": 10, "arms": 2}, {"name": "left", "work_ns": 10},
                      {"name": "right", "work_ns": 10}, {"name": "last", "work_ns": 10, "merge": True}],
            "edges": [{"from": 0, "to": 1, "arm": 0}, {"from": 0, "to": 2, "arm": 1}, {"from": 1, "to": 3},
                      {"from": 2, "to": 3}]}


class Lost(Serve):
    def test_a_job_whose_executor_is_lost_fails_and_nothing_is_chosen_there_until_it_is_back(self):
        process, driver = self.driver("--platform", "uniform:2", "--policy", "fifo", *self.FILES)
        a = driver.good(event="arrive", time_ns=0, graph=ONE)[0][0]
        b = driver.good(event="arrive", time_ns=0, graph=0)[0][0]
        for _ in range(3):
            driver.good(event="arrive", time_ns=0, graph=0)
        choices, ends = driver.good(event="lost", time_ns=1, executor=a["executor"])
        self.assertEqual((choices, [(e["job"], e["how"]) for e in ends]), ([], [(a["job"], "failed")]))
        self.assertIn("already", driver.error(event="lost", time_ns=1, executor=a["executor"]))
        self.assertIn("lost", driver.error(**finish(a, 2)))
        for k in range(2):
            b = driver.good(**finish(b, 2 + k))[0][0]
            self.assertNotEqual(b["executor"], a["executor"])
        choices, _ = driver.good(event="back", time_ns=5, executor=a["executor"])
        self.assertEqual([c["executor"] for c in choices], [a["executor"]])
        driver.close()
        self.ended(process)
        self.assertTrue(self.replays()["equal"])

    def test_what_is_chosen_for_an_idle_lost_executor_waits_until_it_is_back(self):
        process, driver = self.driver("--platform", "uniform:1", "--policy", "fifo", *self.FILES)
        driver.good(event="lost", time_ns=0)
        self.assertEqual(driver.good(event="arrive", time_ns=1, graph=ONE), ([], []))
        state = driver.all(event="state")[0]["state"]
        self.assertEqual((state["lost"], state["runs"], state["live"]), ([0], [], [0]))
        choices, _ = driver.good(event="back", time_ns=2)
        self.assertEqual([c["job"] for c in choices], [0])
        driver.good(**finish(choices[0], 3))
        driver.good(event="lost", time_ns=3)
        driver.good(event="arrive", time_ns=4, graph=ONE)
        self.assertEqual([e["how"] for e in driver.good(event="cancel", time_ns=4, job=1)[1]], ["cancelled"])
        self.assertEqual(driver.good(event="back", time_ns=5), ([], []))
        driver.close()
        self.ended(process)
        self.assertTrue(self.replays()["equal"])

    def test_a_driver_that_falls_silent_loses_its_executors(self):
        process = self.start("--platform", "uniform:2", "--policy", "fifo", "--heartbeat", "50ms", "--socket", "s",
                             *self.FILES, pipe=False)
        driver = self.connect(process)
        choices, ends = driver.good(event="arrive", time_ns=0, graph=ONE)
        while not choices and not ends:  # on a busy machine we have been silent for too long already
            choices, ends = driver.good(event="back", time_ns=0)
        end = ends[0] if ends else json.loads(driver.read())["ended"]  # it comes by itself
        self.assertEqual((end["job"], end["how"]), (0, "failed"))
        self.assertIn("silent", process.stderr.readline().decode())
        self.assertEqual(driver.good(event="back", time_ns=1), ([], []))
        driver.close()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(LONG), 0)
        self.assertTrue(self.replays()["equal"])


class Clock(Serve):
    def test_the_real_clock_goes_on_from_a_log_of_a_later_time(self):
        process, driver = self.driver("--platform", "uniform:1", "--policy", "fifo", *self.FILES)
        driver.good(event="arrive", time_ns=1 << 52, graph=ONE)
        driver.good(event="end")
        self.ended(process)
        process, driver = self.driver("--restart", "s.log", "--workload", "w.jsonl", "--clock", "real")
        self.assertEqual(driver.good(event="finish", job=0, stage=0, instance=0, executor=0)[1][0]["how"], "ok")
        driver.good(event="end")
        self.ended(process)
        self.assertTrue(self.replays()["equal"])

    def test_under_the_real_clock_events_need_no_time_and_none_comes_from_the_future(self):
        process, driver = self.driver("--platform", "uniform:1", "--policy", "fifo", "--clock", "real", *self.FILES)
        choice = driver.good(event="arrive", graph=ONE)[0][0]
        self.assertIn("future", driver.error(**finish(choice, 2 ** 50)))
        choice_ns = choice["chosen_ns"]
        end = driver.good(**{k: v for k, v in finish(choice, 0).items() if k != "time_ns"})[1][0]
        self.assertGreaterEqual(end["end_ns"], choice_ns)
        self.assertIn("backwards", driver.error(event="heartbeat", time_ns=0))
        driver.close()
        self.ended(process)
        self.assertTrue(self.replays()["equal"])


class Sockets(Serve):
    def test_ten_thousand_jobs_over_a_socket_replay_with_every_choice_equal(self):
        process = self.start("--platform", "uniform:8", "--policy", "fair", "--socket", "s", *self.FILES, pipe=False)
        driver, rng = self.connect(process), random.Random(1)
        arrivals, now = [], 0
        for k in range(JOBS):
            now += rng.randrange(0, 900)
            shape = graph([rng.randrange(1, 3000) for _ in range(3)], [(0, 1), (0, 2)]) if k % 50 == 0 else k // 50 * 50
            arrivals.append((now, {"graph": shape, "weight": 1 + k % 3}))
        choices, _ = run_cluster(driver, arrivals, 2)
        self.assertEqual(len(choices), 3 * JOBS)
        driver.good(event="end")
        self.ended(process)
        said = self.replays()
        self.assertEqual((said["equal"], said["decisions"]), (True, 3 * JOBS))
        self.good("check", self.path("w.jsonl"), self.path("s.log"))

    def test_the_example_drives_it_to_the_end(self):
        self.good("generate", "stream", "--jobs", 20, "--arrivals", "batch", "-o", self.path("stream.jsonl"))
        process = self.start("--platform", "uniform:4", "--policy", "auto", "--socket", "s", *self.FILES, pipe=False)
        self.connect(process).close()
        drive = [sys.executable, "-B", os.path.join(SOURCE, "examples", "serve", "drive.py"), self.path("s"),
                 self.path("stream.jsonl")]
        for seed in ("1", "2"):  # numbers of jobs go on
            said = subprocess.run([*drive, "--seed", seed], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  check=False, timeout=LONG)
            self.assertEqual((said.returncode, said.stderr), (0, ""))
            self.assertTrue(said.stdout.startswith("20 jobs, mean completion "), said.stdout)
        process.send_signal(signal.SIGTERM)
        self.ended(process)
        self.assertTrue(self.replays()["equal"])

    def test_every_policy_serves_and_replays(self):
        for policy in json.loads(self.good("list", "policies", "--json"))["policies"]:
            name = policy["name"] if isinstance(policy, dict) else policy
            with self.subTest(name):
                process, driver = self.driver("--platform", "uniform:3", "--policy", name, *self.FILES)
                rng = random.Random(4)
                arrivals = [(300 * k, {"graph": graph([rng.randrange(1, 3000) for _ in range(4)], [(0, 1), (0, 2), (1, 3)],
                                                      duplicable=True)}) for k in range(20)]
                choices, _ = run_cluster(driver, arrivals, 5)
                self.assertGreaterEqual(len(choices), 80)
                driver.close()
                self.ended(process)
                self.assertTrue(self.replays()["equal"])

    def test_the_schedule_outlives_a_driver_that_dies_in_the_middle_of_a_line(self):
        process = self.start("--platform", "uniform:2", "--policy", "fifo", "--socket", "s", *self.FILES, pipe=False)
        driver = self.connect(process)
        choice = driver.good(event="arrive", time_ns=0, graph=FORK)[0][0]
        driver.write(b"{\"event\": \"cancel\", \"job\":")
        driver.close()
        driver = self.connect(process)
        self.assertEqual([(c["job"], c["stage"]) for c in driver.state["runs"]], [(0, 0)])
        self.assertEqual(driver.state["live"], [0])
        choices, _ = driver.good(**finish(choice, 1))
        self.assertEqual(len(choices), 2)
        driver.write(b"{\"event\": \"heartbeat\"}\n" * 100)
        driver.close()  # and hears nothing of it
        driver = self.connect(process)
        self.assertEqual(len(driver.state["runs"]), 2)
        driver.good(event="end")
        self.ended(process)
        self.assertTrue(self.replays()["equal"])

    def test_a_second_driver_is_refused_while_there_is_one(self):
        process = self.start("--platform", "uniform:2", "--socket", "s", pipe=False)
        first = self.connect(process)
        second = socket.socket(socket.AF_UNIX)
        second.connect(self.path("s"))
        with second, second.makefile("rb") as file:
            self.assertIn("has a driver", json.loads(file.readline())["error"])
            self.assertEqual(file.readline(), b"")
        self.assertEqual(first.all(event="heartbeat"), [{"ok": 1}])
        process.send_signal(signal.SIGINT)
        self.ended(process)
        self.assertFalse(os.path.exists(self.path("s")))

    def test_a_driver_that_is_silent_makes_room_for_the_next_one(self):
        process = self.start("--platform", "uniform:2", "--heartbeat", "20ms", "--socket", "s", pipe=False)
        silent = self.connect(process)
        self.assertIn("silent", process.stderr.readline().decode())
        second = self.connect(process)  # its greeting has been read: it is the driver
        self.assertEqual(second.good(event="back", time_ns=0), ([], []))
        silent.close()

    def test_a_driver_that_reads_late_is_told_everything(self):
        process = self.start("--platform", "uniform:200", "--policy", "fifo", "--socket", "s", pipe=False)
        driver = self.connect(process)
        driver.good(event="arrive", time_ns=0, graph=graph([1] * 200))
        driver.close()
        link = socket.socket(socket.AF_UNIX)
        link.connect(self.path("s"))
        with link, link.makefile("rb") as file:
            link.sendall(b'{"event": "state"}\n' * 400)  # each answer has 200 choices: megabytes that nobody reads yet
            link.shutdown(socket.SHUT_WR)
            self.assertEqual(sum(b'"state"' in line for line in file), 401)

    def test_the_socket_is_ours_alone_and_takes_the_place_of_a_dead_one(self):
        process = self.start("--platform", "uniform:1", "--socket", "s", pipe=False)
        self.connect(process)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("s")).st_mode), 0o600)
        self.bad(1, "serve", "--platform", "uniform:1", "--socket", self.path("s"), holds="listens there already")
        process.kill()
        process.wait(LONG)
        self.assertTrue(os.path.exists(self.path("s")))
        process = self.start("--platform", "uniform:1", "--socket", "s", pipe=False)
        self.connect(process).good(event="end")
        self.ended(process)
        self.file("s", "a file of somebody")
        self.bad(1, "serve", "--platform", "uniform:1", "--socket", self.path("s"), holds="no socket")
        self.assertEqual(self.bytes("s"), b"a file of somebody")
        self.bad(1, "serve", "--platform", "uniform:1", "--socket", "x" * 200, holds="too long")
        self.bad(1, "serve", "--platform", "uniform:1", "--socket", "none/s", holds="none/s")

    @unittest.skipUnless(os.geteuid() == 0, "needs the right to be another user")
    def test_another_user_is_let_in_only_by_name(self):
        os.chmod(self.temporary.name, 0o755)
        speak = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(s.recv(4096).decode())"

        def other():
            return subprocess.run(["python3", "-c", speak, self.path("s")], user=65534, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, check=False)
        for users, text in (((), ""), (("--allow-uid", "1"), "another user"), (("--allow-uid", "65534"), "clotho.service/1")):
            process = self.start("--platform", "uniform:1", "--socket", "s", *users, pipe=False)
            self.connect(process).close()
            said = other()
            self.assertIn(text, said.stdout)
            self.assertEqual(said.returncode != 0, users == ())
            process.send_signal(signal.SIGTERM)
            self.ended(process)


class Restart(Serve):
    def arrivals(self, count):
        rng = random.Random(7)
        return [(200 * k, {"graph": graph([rng.randrange(1, 3000) for _ in range(4)], [(0, 1), (0, 2), (2, 3)])
                           if k % 3 == 0 else k // 3 * 3, "deadline_ns": 9000 + k}) for k in range(count)]

    def whole(self, policy, until):
        """The choices of a session with a break after so many events, and those of one without."""
        arrivals, kept = self.arrivals(60), ("--log", "s.log", "--workload", "w.jsonl")
        process, driver = self.driver("--platform", "uniform:3", "--policy", policy, *kept)
        first, left = run_cluster(driver, arrivals, 9, until=until)
        driver.good(event="save")
        process.kill()  # what was saved is enough
        process.wait(LONG)
        process, driver = self.driver("--restart", "s.log", *kept)
        self.assertEqual(sorted((c["job"], c["stage"], c["executor"]) for c in driver.state["runs"]),
                         sorted((c["job"], c["stage"], c["executor"]) for _, _, c in left if "executor" in c))
        rest = [(when, what) for when, _, what in left if "executor" not in what]
        second, _ = run_cluster(driver, rest, 10, [what for _, _, what in left if "executor" in what])
        driver.close()
        self.ended(process)
        self.assertTrue(self.replays()["equal"])
        return first + second

    def test_a_restarted_service_chooses_as_one_that_was_never_ended(self):
        for policy in ("fifo", "fair", "auto"):
            broken = self.whole(policy, 75)
            process, driver = self.driver("--platform", "uniform:3", "--policy", policy)
            first, left = run_cluster(driver, self.arrivals(60), 9, until=75)
            rest = [(when, what) for when, _, what in left if "executor" not in what]
            second, _ = run_cluster(driver, rest, 10, [what for _, _, what in left if "executor" in what])
            self.assertEqual(first + second, broken)
            driver.close()
            self.ended(process)

    def test_a_service_goes_on_from_a_log_that_was_ended_as_it_should(self):
        self.whole("fifo", 40)
        process, driver = self.driver("--restart", "s.log", *self.FILES)
        self.assertEqual((driver.state["jobs"], driver.state["live"]), (60, []))
        driver.good(event="arrive", time_ns=driver.state["time_ns"], graph=59)
        driver.close()
        self.ended(process)
        self.assertTrue(self.replays()["equal"])

    def test_what_is_no_beginning_of_this_session_is_refused(self):
        self.whole("fifo", 40)
        log = self.path("s.log")
        for options, code, text in [
                (("--restart", log), 2, "--workload"), (("--restart", log, "--workload", "none.jsonl"), 1, "none.jsonl"),
                (("--restart", self.path("w.jsonl"), "--workload", self.path("w.jsonl")), 1, "w.jsonl"),
                (("--restart", log, "--workload", self.path("w.jsonl"), "--policy", "fair"), 1, "fifo"),
                (("--restart", log, "--workload", self.path("w.jsonl"), "--live", "7"), 1, "--live"),
                (("--restart", log, "--workload", self.path("w.jsonl"), "--platform", "uniform:2"), 1, "executors")]:
            self.bad(code, "serve", *options, stdin="", holds=text)
        lines = self.bytes("w.jsonl").decode().splitlines()[:6]
        self.file("few.jsonl", "\n".join(lines).replace("\"jobs\": 60", "\"jobs\": 5") + "\n")
        said = self.say("serve", "--restart", log, "--workload", self.path("few.jsonl"), stdin="")
        self.assertEqual((said.code, said.err.count("\n")), (1, 1), said.err)


class Options(Serve):
    def test_bad_options_are_named(self):
        self.bad(2, "serve", "--policy", "fiffo", stdin="", holds="fifo")
        self.bad(1, "serve", "--platform", "nowhere", stdin="", holds="nowhere")
        self.bad(2, "serve", "--clock", "wall", stdin="", holds="client or real")
        self.bad(2, "serve", "--allow-uid", "3", stdin="", holds="--socket")
        self.bad(2, "serve", "--allow-uid", "me", "--socket", self.path("s"), stdin="", holds="me")
        self.bad(2, "serve", "--log", "-", stdin="", holds="standard output")
        self.bad(2, "serve", "--socket", "", stdin="", holds="name a path")
        self.bad(2, "serve", "--socket", self.path("s"), "--log", self.path("s"), stdin="", holds="another path")
        self.bad(2, "serve", "--restart", "-", "--workload", self.path("w.jsonl"), stdin="", holds="standard input")
        self.bad(2, "serve", "g.json", stdin="", holds="g.json")

    def test_files_that_cannot_be_written_are_one_line_and_exit_1(self):
        event = json.dumps({"event": "arrive", "time_ns": 0, "graph": graph([1] * 2000)}) + "\n"
        said = self.say("serve", "--platform", "uniform:2", *self.FILES, stdin=event, preexec=limit_files(1000))
        self.assertEqual((said.code, said.err.count("\n")), (1, 1), said.err)
        self.assert_nothing_half_written("s.log", "w.jsonl")

    def test_a_closed_or_full_standard_output_is_one_line_and_exit_1_and_the_files_are_written(self):
        event = json.dumps({"event": "arrive", "time_ns": 0, "graph": ONE}) + "\n"
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.bad(1, "serve", "--platform", "uniform:2", *self.FILES, stdin=event, stdout=full, holds="standard output")
        process, driver = self.driver("--platform", "uniform:2", *self.FILES)
        process.stdout.close()
        driver.write(event.encode())
        self.assertEqual(process.wait(LONG), 1)
        self.assertIn("standard output", process.stderr.read().decode())
        self.assertTrue(self.replays()["equal"])

    def test_signals_end_it_with_its_files_whole(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process, driver = self.driver("--platform", "uniform:2", *self.FILES)
            driver.good(event="arrive", time_ns=0, graph=ONE)
            process.send_signal(number)
            self.ended(process)
            self.assertTrue(self.replays()["equal"])


if __name__ == "__main__":
    unittest.main()
