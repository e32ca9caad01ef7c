"""Files that the command writes: each once, none that is read, looked at before the work, kept whole under every error.

The last is shown by strace, which lets each system call of a verb fail in turn (one in EIGHT, drawn by CLO_SAMPLE, unless
CLO_FULL is set): the exit status is 1 with one line, and the file is the old one or the new one, whole."""
import json
import os
import random
import re
import stat
import subprocess
import unittest

from support import CLOTHO, LONG, SANITIZED, CommandTest

OLD = b"what was there before\n"
# Calls that a verb makes for its files, and the errors that it must live through.
FAULTS = [("write", "error=ENOSPC"), ("write", "error=EIO"), ("write", "error=EINTR"), ("fsync", "error=EIO"),
          ("fsync", "error=EINTR"), ("openat", "error=EMFILE"), ("openat", "error=EACCES"), ("renameat", "error=EIO"),
          ("fchmod", "error=EPERM"), ("read", "error=EIO"), ("read", "error=EINTR"), ("newfstatat", "error=EIO"),
          ("mmap", "error=ENOMEM"), ("brk", "retval=0"), ("flock", "error=ENOLCK"), ("getdents64", "error=EIO")]
PARTS = 1 if os.environ.get("CLO_FULL") else 8


class Outputs(CommandTest):
    def setUp(self):
        super().setUp()
        self.diamond()
        self.good("generate", "stream", "--jobs", "20", "-o", "s.jsonl")

    def test_two_outputs_have_two_names(self):
        os.mkdir(self.path("d"))
        for words in (("plan", "g.json", "--out", "y", "--gantt", "y"), ("plan", "g.json", "--out", "y", "--gantt", "./y"),
                      ("plan", "g.json", "--out", "d/y", "--gantt", "d/../d/y"),
                      ("simulate", "s.jsonl", "--policy", "fair", "--csv", "y", "--log", "y"),
                      ("train", "parametric", "s.jsonl", "--checkpoint", "y", "-o", "y")):
            with self.subTest(words):
                self.bad(2, *words, "--platform", "uniform:2", holds="name one file")
                self.assertFalse(os.path.exists(self.path("y")))
        self.good("plan", "g.json", "--platform", "uniform:2", "--out", "/dev/null", "--gantt", "/dev/null")

    def test_standard_input_and_output_are_two(self):
        with open(self.path("g.json"), encoding="utf-8") as file:
            graph = file.read()
        self.assertIn("digraph", self.good("convert", "-", "-", "--format", "dot", stdin=graph))
        self.assertIn("clotho.plan/1", self.good("plan", "-", "--platform", "uniform:2", "--out", "-", stdin=graph))

    def test_a_file_on_standard_output_is_alone_there(self):
        page = lambda text: text.startswith("<!doctype") and text.endswith("</html>\n") and text.count("</html>") == 1
        drawing = lambda text: text.startswith("<svg") and text.endswith("</svg>\n")
        document = lambda text: json.loads(text) is not None
        flight = ("--releases-in-flight", "2", "--releases", "4")
        plan, run = ("plan", "g.json"), ("run", "g.json", "--clock", "virtual")
        simulate, stream = ("simulate", "g.json", "--policy", "fifo"), ("simulate", "s.jsonl", "--policy", "fair")
        runs = ("run", "s.jsonl", "--policy", "fair", "--clock", "virtual")
        for words, option, is_whole in (
                (plan, "--report", page), ((*plan, "--planner", "heft", "--planner", "deft"), "--report", page), (plan, "--out", document),
                (plan, "--gantt", drawing), ((*plan, "--pipeline"), "--out", document), (run, "--report", page), (run, "--gantt", drawing),
                (run, "--trace", document), (("run", "g.json", "--clock", "virtual", *flight), "--report", page), (simulate, "--report", page),
                (simulate, "--gantt", drawing), (simulate, "--trace", document), (("simulate", "g.json", *flight), "--report", page),
                (stream, "--report", page), (stream, "--gantt", drawing), (runs, "--report", page), (runs, "--gantt", drawing)):
            with self.subTest((words, option)):
                self.assertTrue(is_whole(self.good(*words, "--platform", "uniform:2", option, "-")))
        for words in (stream, runs):
            self.assertEqual(len(self.good(*words, "--platform", "uniform:2", "--csv", "-").splitlines()), 21)
            log = self.good(*words, "--platform", "uniform:2", "--log", "-").splitlines()
            self.assertEqual([line for line in log if not line.startswith(("{", "["))], [])
        self.assertRegex(self.good(*plan, "--platform", "rk3588", "--embed", "-"), r"(?s)\A/\* Made by.*};\n\Z")
        commands = self.graph([{"name": "c", "command": ["echo", "said"]}], file="c.json")
        self.assertTrue(page(self.good("run", commands, "-j", 1, "--report", "-")))

    def test_what_else_wants_standard_output_is_refused_beside_a_file_there(self):
        self.bad(2, "simulate", "g.json", "--releases-in-flight", "2", "--releases", "4", "--json", "--report", "-", holds="standard output")
        self.bad(2, "plan", "g.json", "--gantt-text", "--out", "-", holds="--gantt-text and '-'")

    def test_a_name_that_is_no_file_may_be_that_of_an_output(self):
        self.good("generate", "chain", "-n", "3", "-o", "chain")
        self.good("plan", "g.json", "--platform", "uniform:2", "--out", "uniform:2")

    def test_no_output_replaces_what_is_read(self):
        self.good("plan", "g.json", "--platform", "uniform:2", "--out", "p.json")
        self.good("simulate", "s.jsonl", "--policy", "fair", "--platform", "uniform:2", "--log", "f.log")
        os.symlink("g.json", self.path("link"))
        before = {name: self.bytes(name) for name in ("g.json", "s.jsonl", "f.log")}
        for words in (("plan", "g.json", "--out", "g.json"), ("plan", "g.json", "--gantt", "link"), ("run", "g.json", "--trace", "g.json"),
                      ("simulate", "s.jsonl", "--policy", "fair", "--csv", "s.jsonl"), ("convert", "g.json", "./g.json"),
                      ("simulate", "s.jsonl", "--replay", "f.log", "--csv", "f.log"),
                      ("train", "parametric", "s.jsonl", "-o", "s.jsonl")):
            with self.subTest(words):
                self.bad(2, *words, holds="would replace")
        self.assertEqual(before, {name: self.bytes(name) for name in before})

    def test_a_bad_output_is_refused_before_the_work(self):
        """The budget is an hour: the refusal comes first."""
        for option in ("--out", "--gantt"):
            for name, why in (("no/p", "No such file"), (".", "Is a directory"), ("", "needs a name"), ("p/", "irectory")):
                with self.subTest((option, name)):
                    self.bad(1, "plan", "g.json", "--platform", "uniform:2", "--planner", "best", "--budget", "3600s", option, name,
                             holds=("nothing was begun", why))
        self.bad(1, "platform", "calibrate", "-o", "no/p.xml", holds="nothing was begun")
        self.bad(1, "convert", "g.json", "no/g.dot", holds="nothing was begun")

    def test_links_and_rights_stay(self):
        for name, words in (("t.csv", ("simulate", "s.jsonl", "--policy", "fair", "--csv")), ("t.log", ("simulate", "s.jsonl", "--policy", "fair", "--log")),
                            ("p.json", ("plan", "g.json", "--out")), ("p.svg", ("plan", "g.json", "--gantt")),
                            ("t.json", ("simulate", "g.json", "--policy", "fifo", "--trace"))):
            with self.subTest(name):
                os.chmod(self.file(name, OLD), 0o600)
                os.symlink(name, self.path("link-" + name))
                self.good(*words, "link-" + name, "--platform", "uniform:2")
                self.assertTrue(os.path.islink(self.path("link-" + name)))
                self.assertNotEqual(self.bytes(name), OLD)
                self.assertEqual(stat.S_IMODE(os.stat(self.path(name)).st_mode), 0o600)

    def test_a_checkpoint_that_cannot_be_read_is_not_replaced(self):
        words = ("s.jsonl", "--platform", "uniform:4", "--jobs", "20", "--checkpoint", "c")
        for verb, more in (("parametric", ("--generations", "1", "--population", "4")),
                           ("decima", ("--force", "--pairs", "1", "--each", "1", "--seeds", "100-101", "--validation", "5000-5000", "--generations", "1"))):
            for content in (OLD, b"", b"clotho.checkpoint/2 " + verb.encode() + b" 1\n"):
                with self.subTest((verb, content)):
                    self.file("c", content)
                    self.bad(1, "train", verb, *words, *more, holds="c: ")
                    self.assertEqual(self.bytes("c"), content)

    def test_every_byte_of_a_checkpoint_counts(self):
        words = ("train", "decima", "s.jsonl", "--platform", "uniform:4", "--jobs", "20", "--checkpoint", "c", "--force", "--pairs", "1", "--each", "1",
                 "--seeds", "100-101", "--validation", "5000-5000", "--generations", "2")
        self.good(*words, "--stop", "1")
        whole = self.bytes("c")
        for at in range(0, len(whole), len(whole) // 12):
            self.file("c", whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            self.bad(1, *words, holds="c: ")
        self.file("c", whole)
        self.good(*words)


def verbs():
    """Rows (verb and its words, the files that it writes)."""
    return [(("plan", "g.json", "--platform", "uniform:2", "--out", "o1", "--gantt", "o2"), ("o1", "o2")),
            (("simulate", "s.jsonl", "--policy", "fair", "--platform", "uniform:2", "--csv", "o1", "--log", "o2"), ("o1", "o2")),
            (("simulate", "g.json", "--policy", "fifo", "--platform", "uniform:2", "--trace", "o1", "--gantt", "o2"), ("o1", "o2")),
            (("convert", "g.json", "o1"), ("o1",)), (("generate", "chain", "-n", "5", "-o", "o1"), ("o1",)),
            (("generate", "stream", "--jobs", "2", "-o", "o1"), ("o1",)),
            (("train", "parametric", "s.jsonl", "--platform", "uniform:2", "--jobs", "2", "--generations", "1", "--population", "4", "--each", "1",
              "--seeds", "100-100", "--validation", "200-200", "--checkpoint", "o1", "-o", "o2"), ("o1", "o2")),
            (("run", "g.json", "--platform", "uniform:2", "--clock", "virtual", "--trace", "o1", "--gantt", "o2"), ("o1", "o2"))]


@unittest.skipIf(SANITIZED, "the sanitizer's own calls would fail too; use the release preset")
class Faults(CommandTest):
    def setUp(self):
        super().setUp()
        self.diamond()
        self.good("generate", "stream", "--jobs", "20", "-o", "s.jsonl")
        traced = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False)
        if traced.returncode != 0:
            self.skipTest("strace may not trace here; mend: allow ptrace")

    def strace(self, words, *options):
        done = subprocess.run(["strace", "-f", "-qq", "-o", self.path("strace.txt"), *options, CLOTHO, *words], cwd=self.temporary.name,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=LONG,
                              check=False)
        with open(self.path("strace.txt"), encoding="utf-8", errors="replace") as file:
            return done, file.read()

    def calls(self, words):
        """What a run that nothing disturbs writes, and how often it makes each call, from its main program on."""
        done, said = self.strace(words, "-e", "trace=" + ",".join(sorted({call for call, _ in FAULTS})))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = re.findall(r"^\d+ (\w+)\(", said, re.MULTILINE)
        return {call: lines.count(call) for call, _ in FAULTS}

    def clear(self, outputs):
        for name in os.listdir(self.temporary.name):
            if name in outputs or name.startswith(".clotho-"):
                os.unlink(self.path(name))

    def one(self, words, outputs, new, call, error, when):
        checkpoint = words[words.index("--checkpoint") + 1] if "--checkpoint" in words else None
        self.clear(outputs)
        for name in outputs:
            if name != checkpoint:
                self.file(name, OLD)
        done, said = self.strace(words, "-e", f"trace={call},prlimit64", "-e", f"inject={call}:{error}:when={when}")
        lines = done.stderr.splitlines()
        place = f"{words[0]}: {call} {error} at {when}: exit {done.returncode}: {done.stderr}"
        if "prlimit64" not in said:  # glibc's loader asks for the stack's limit last; it ends by a signal where it has no memory
            return
        self.assertGreaterEqual(done.returncode, 0, place)  # no signal
        for name in outputs:
            if os.path.exists(self.path(name)):
                self.assertIn(self.bytes(name), (OLD, new[name]), place + f" {name} is torn")
        left = [name for name in os.listdir(self.temporary.name) if name.startswith(".clotho-")]
        self.assertEqual(left, [], place)
        self.assertIn(done.returncode, (0, 1), place)
        if done.returncode == 0:
            for name in outputs:
                self.assertEqual(self.bytes(name), new[name], place)
        elif not ("standard error" in done.stderr or lines == []):
            self.assertEqual([line[:8] for line in lines], ["clotho: "], place)

    def test_every_call_may_fail(self):
        draw = random.Random(os.environ.get("CLO_SAMPLE", "0"))
        for words, outputs in verbs():
            self.clear(outputs)
            counts = self.calls(words)
            new = {name: self.bytes(name) for name in outputs}
            for call, error in FAULTS:
                chosen = [when for when in range(1, counts[call] + 1) if draw.randrange(PARTS) == 0]
                for when in chosen:
                    with self.subTest((words[0], call, error, when)):
                        self.one(words, outputs, new, call, error, when)


if __name__ == "__main__":
    unittest.main()
