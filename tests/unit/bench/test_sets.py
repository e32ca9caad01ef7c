"""bench/sets.py: conversions are right on small files, what calls is refused, nothing is written that has another checksum."""
import hashlib
import io
import json
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SCRIPT = os.path.join(SOURCE, "bench/sets.py")
DATA = os.environ.get("CLO_DATA", "")
sys.path.insert(0, os.path.dirname(SCRIPT))
import conversions
import sets

STG = """         2
         0         0         0
         1         5         1         0
         2         7         2         1         0
         3         0         1         2
# Precedence constraints generator : sameprob
# Task processing time generator : unifproc
"""
SM = """jobs (incl. supersource/sink ):  4
horizon                       :  12
PRECEDENCE RELATIONS:
jobnr.    #modes  #successors   successors
   1        1          2           2   3
   2        1          1           4
   3        1          1           4
   4        1          0
************
REQUESTS/DURATIONS:
jobnr. mode duration  R 1  R 2
------------
  1      1     0       0    0
  2      1     5       3    0
  3      1     7       1    2
  4      1     0       0    0
************
RESOURCEAVAILABILITIES:
  R 1  R 2
    3    2
************
"""


def npy(kind, shape, data):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)).encode()
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data


class Convert(unittest.TestCase):
    def test_a_task_graph(self):
        times, before, comments = sets.read_stg(STG)
        self.assertEqual((times, before), ([0, 5, 7, 0], [[], [0], [0, 1], [2]]))
        self.assertEqual(comments["Precedence constraints generator"], "sameprob")
        self.assertEqual(sets.longest_path(times, before), 12)
        for wrong in ("5\n0 0 0\n", STG.replace("2         7         2", "2         7         3")):
            with self.assertRaises(sets.Wrong):
                sets.read_stg(wrong)

    def test_a_project(self):
        self.assertEqual(sets.read_sm(SM), {"n": 4, "capacity": [3, 2], "horizon": 12, "duration": [0, 5, 7, 0],
                                            "demand": [[0, 0], [3, 0], [1, 2], [0, 0]], "successors": [[1, 2], [3], [3], []]})
        with self.assertRaises(sets.Wrong):
            sets.read_sm(SM.replace(":  4", ":  5"))

    def test_bounds(self):
        self.assertEqual(sets.read_optima("problem,optimum\na.sm,7\nb.sm,3..5\nc.sm,9..8\nd.sm,..6\n"),
                         {"a": (7, 7), "b": (3, 5), "c": (8, 9), "d": (None, 6)})

    def test_rows_of_numbers(self):
        import struct
        for kind, letter in (("<f8", "d"), ("<i8", "q")):
            self.assertEqual(sets.read_npy(npy(kind, (2, 2), struct.pack("<4" + letter, 0, 1, 2, 3))), [(0, 1), (2, 3)])
        for wrong in (b"", b"\x93NUMPX", npy("<f4", (1, 1), b"0000")):
            with self.assertRaises(sets.Wrong):
                sets.read_npy(wrong)

    def test_an_object_of_numpy(self):
        array = (b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01)cnumpy\ndtype\nU\x02O8K\x00K\x01\x87R"
                 b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tb\x89]}K\x07]K\x05asatb.")
        self.assertEqual(sets.read_npy(npy("|O", "()", array)), {7: [5]})

    def test_stages_of_a_query(self):
        stage = {"spark_stage": 0, "n_tasks": 3, "fresh": {"2": [7]}, "first": {"2": [7, 4]}, "rest": {"2": [1]}}
        job = {"job": "q", "query": 3, "size_gb": 2, "n_stages": 3, "edges": [[2, 0], [0, 1], [2, 1]],
               "stages": [{**stage, "id": 0}, {**stage, "id": 1}, {**stage, "id": 2, "rest": {"2": []}}]}
        self.assertEqual(list(sets.stage_rows(job)), [(3, "2g", 0, 3, "2", 1, 1.0, 5.5, 7.0, 1, 7, 3),
                                                      (3, "2g", 1, 3, "0 2", 2, 1.0, 5.5, 7.0, 1, 7, 3),
                                                      (3, "2g", 2, 3, "", 0, "", 5.5, 7.0, 4, 7, 2)])
        with self.assertRaisesRegex(sets.Wrong, "circle"):
            list(sets.stage_rows({**job, "edges": [[0, 1], [1, 0]]}))

    def test_a_file_that_calls_is_refused(self):
        class Evil:
            def __reduce__(self):
                return os.system, ("true",)

        out = io.BytesIO()
        pickle.dump(Evil(), out, protocol=2)
        with self.assertRaisesRegex(sets.Wrong, "which no data do"):
            sets.read_npy(npy("|O", "()", out.getvalue()))

    @unittest.skipUnless(os.path.exists(os.path.join(DATA, "stg/50_rand0000.stg")), "no workloads at %s" % DATA)
    def test_files_of_the_sources_become_the_lines_of_the_sets(self):
        with open(os.path.join(DATA, "stg/50_rand0001.stg"), encoding="utf-8") as file:
            times, before, _ = sets.read_stg(file.read())
        with open(os.path.join(DATA, "stg/stg50.jsonl"), encoding="utf-8") as file:
            row = json.loads(file.readlines()[1])
        self.assertEqual((row["proc_time"], row["pred"], row["cp"]), (times, before, sets.longest_path(times, before)))
        samples = os.path.join(DATA, "psplib/sm_samples")
        rows = {}
        for size in (30, 60, 90, 120):
            with open(os.path.join(DATA, "psplib/j%d.jsonl" % size), encoding="utf-8") as file:
                rows.update((row["name"], row) for row in map(json.loads, file))
        for name in sorted(os.listdir(samples)):
            with open(os.path.join(samples, name), encoding="utf-8") as file:
                project = sets.read_sm(file.read())
            self.assertEqual({**rows[name[:-3]], **project}, rows[name[:-3]], name)


class Bound:
    """Called by a pickle, it would say so."""

    def __reduce__(self):
        return os.getcwd, ()


class More(unittest.TestCase):
    """Sets of several sources, and what Python has pickled."""

    TABLE = "Model name;Lower bound;Objective\nrcpsp_j60_j601_1;70;77\nrcpsp_j60_j601_1;75;80\nrcpsp_j60_j601_2;;90\nrcpsp_CV_x;1;1\n"

    def test_the_tightest_of_several_bounds_counts(self):
        found = conversions.solved([self.TABLE, self.TABLE.replace("77", "76")])
        self.assertEqual(found, {"j601_1": (75, 76), "j601_2": (None, 90)})
        self.assertEqual(conversions.tighter((None, 5), (3, None)), (3, 5))
        self.assertEqual(conversions.record_list("Par\tInst\tMakespan\n====\n9\t5\t139\t\tMon\n10\t1\t7\t\tTue\n"),
                         {"j909_5": (None, 139), "j9010_1": (None, 7)})

    def test_large_projects_take_the_bounds_of_all_sources(self):
        def projects(path):
            name = "problem,optimum\n" + "".join("%s%d_%d.sm,5..9\n" % (kind, cell, rep) for kind in ("j60", "j90", "j120")
                                                 for cell in range(1, 61) for rep in range(1, 11))
            return (name if path.endswith(".csv") else SM).encode()

        made = dict(conversions.make_large_projects(sets.read_sm, sets.read_optima, projects, lambda _: self.TABLE.replace("77", "8").encode(),
                                                    lambda _: b"1\t1\t7\t\tMon\n"))
        first = {path: json.loads(data.decode().splitlines()[0]) for path, data in made.items()}
        self.assertEqual({path: (row["name"], row["lb"], row["ub"]) for path, row in first.items()},
                         {"psplib/j60.jsonl": ("j601_1", 75, 8), "psplib/j90.jsonl": ("j901_1", 5, 7), "psplib/j120.jsonl": ("j1201_1", 5, 9)})
        self.assertEqual([len(data.splitlines()) for data in made.values()], [288, 288, 360])

    def test_pickles_that_call_are_refused(self):
        for reader in (conversions.Jobs, conversions.Weights):
            with self.assertRaises(conversions.Refused):
                reader(io.BytesIO(pickle.dumps(Bound()))).load()

    def test_a_task_of_a_trace(self):
        task = conversions.Task("J3_1_2", "j_1", 5.0, "Terminated", 10, 18, 8.0, 50.0, 0.49)
        self.assertEqual(conversions.task_row(task), {"id": 3, "name": "J3_1_2", "parents": [1, 2], "instances": 5, "start": 10, "end": 18,
                                                      "dur": 8.0, "cpu": 0.5, "mem": 0.49})
        self.assertIsNone(conversions.task_row(conversions.Task("M1", "j_1", 5.0, "Terminated", 10, 18, 8.0, float("nan"), 0.49)))

    def test_jobs_with_a_task_that_did_not_end_are_left_out(self):
        text = ("create, end, job, task, n, status, cpu, memory\n10,15,5,2,3,Terminated,50,0.1\n11,12,5,1,1,Terminated,100,0.2\n"
                "1,2,6,1,1,Failed,50,0.1\n1,2,7,1,1,Terminated,,\n1,2,1,1,1,Terminated,50,0.1\n")
        (path, data), = conversions.make_batch_jobs(lambda _: text.encode())
        self.assertEqual((path, data.decode().splitlines()[1:]), ("alibaba/v2017_batch_jobs.csv", ["5,1,11,1,1,1,0.2", "5,2,10,5,3,0.5,0.1"]))

    def test_first_waves_lose_what_was_fresh(self):
        times = {"first_wave": {2: [1, 1, 5], 4: [7]}, "fresh_durations": {2: [1], 4: [7]}}
        self.assertEqual(conversions.first_waves(times), {2: [1, 5], 4: [1, 5]})


class Script(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def say(self, *arguments):
        return subprocess.run([sys.executable, "-B", SCRIPT, *arguments], capture_output=True, text=True, check=False)

    def test_a_source_that_is_not_there_is_named_once(self):
        said = self.say(self.folder, "--clones", os.path.join(self.folder, "none"))
        lines = said.stderr.splitlines()
        self.assertEqual((said.returncode, len(lines)), (1, len(sets.SETS) + len(sets.OTHERS)))
        for name in (*sets.SETS, *sets.OTHERS):
            self.assertEqual(len([line for line in lines if line.startswith("sets.py: %s is missing: " % name)]), 1, name)
        self.assertEqual(os.listdir(self.folder), [])

    def source(self, files, *settings):
        """A repository at OWNER/NAME below the folder; returns the set that is made of its files as they are, and its server."""
        clone = os.path.join(self.folder, "server/owner/name")
        os.makedirs(clone)
        git = ["git", "-C", clone, "-c", "user.name=t", "-c", "user.email=t@t.invalid"]
        subprocess.run([*git, "init", "-q"], check=True)
        for path, data in files.items():
            os.makedirs(os.path.dirname(os.path.join(clone, path)), exist_ok=True)
            with open(os.path.join(clone, path), "wb") as file:
                file.write(data)
        for words in (["add", "."], ["commit", "-q", "-m", "x"], *(["config", name, "true"] for name in settings)):
            subprocess.run([*git, *words], check=True)
        commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        one = sets.Set(lambda read: ((path, read(path)) for path in files if path.startswith("stg/")), sets.Source("owner/name", commit, "stg"))
        patches = (mock.patch.dict(sets.SETS, {"stg": one}),
                   mock.patch.dict(sets.CHECKSUMS, {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}, clear=True))
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        return os.path.dirname(os.path.dirname(clone))

    FILES = {"stg/a.jsonl": b"a\n", "stg/b.jsonl": b"b" * 100000, "large/c": b"c"}

    def test_files_come_from_a_clone(self):
        clones, out = self.source(self.FILES), os.path.join(self.folder, "out")
        self.assertEqual(sets.get_all(out, ["stg"], clones), {})
        with open(os.path.join(out, "stg/b.jsonl"), "rb") as file:
            self.assertEqual(file.read(), self.FILES["stg/b.jsonl"])
        self.assertEqual(sorted(os.listdir(os.path.join(out, "stg"))), ["a.jsonl", "b.jsonl"])
        self.assertEqual(sets.check(out, ["stg"]), 0)

    def test_files_are_fetched_from_a_server_that_filters_and_one_that_does_not(self):
        for settings in ((), ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant")):
            with tempfile.TemporaryDirectory() as self.folder:
                server, out = self.source(self.FILES, *settings), os.path.join(self.folder, "out")
                with mock.patch.dict(os.environ, {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "url.file://%s/.insteadOf" % server,
                                                  "GIT_CONFIG_VALUE_0": sets.HOST}):
                    self.assertEqual(sets.get_all(out, ["stg"], None), {})
                self.assertEqual(sets.check(out, ["stg"]), 0)

    def test_what_has_another_checksum_is_not_written(self):
        clones, out = self.source(self.FILES), os.path.join(self.folder, "out")
        sets.CHECKSUMS["stg/a.jsonl"] = "0"
        self.assertIn("has not the checksum", sets.get_all(out, ["stg"], clones)["stg"])
        self.assertFalse(os.path.exists(out))
        sets.SETS["stg"].sources[0].commit = "1" * 40
        self.assertIn("git cat-file", sets.get_all(out, ["stg"], clones)["stg"])

    def test_what_is_there_stays_and_is_checked(self):
        there = os.path.join(self.folder, "decima_model/decima_weights.json")
        os.mkdir(os.path.dirname(there))
        with open(there, "w", encoding="utf-8") as file:
            file.write("mine")
        said = self.say(self.folder, "--only", "decima_model")
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        with open(there, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        said = self.say(self.folder, "--check", "--only", "decima_model")
        self.assertEqual((said.returncode, said.stdout), (1, "%s: not what the tables were made of\n" % there))

    @unittest.skipUnless(os.path.exists(os.path.join(DATA, "stg/stg50.jsonl")), "no workloads at %s" % DATA)
    def test_the_checksums_are_those_of_the_workloads(self):
        self.assertEqual((self.say(DATA, "--check").returncode, self.say(DATA).returncode), (0, 0))

    def test_wrong_words(self):
        self.assertEqual(self.say("--only", "none").returncode, 2)


if __name__ == "__main__":
    unittest.main()
