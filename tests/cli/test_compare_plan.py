"""plan of several planners on several graphs: one table with ratios to a baseline, CSV, picture, failures, Ctrl-C."""
import csv
import io
import json
import math
import os
import shutil
import signal
import subprocess
import time
import unittest
from xml.etree import ElementTree

from support import CLOTHO, DATA, LONG, SOURCE, CommandTest, needs_data, wait_for_handler

T = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571}  # Student, 97.5 %, by the number of graphs
PLANNERS = ("heft", "deft", "peft", "cpop", "olb")
SVG = "{http://www.w3.org/2000/svg}"
# A planner that places nothing, which is no plan.
EMPTY = """
#include <clotho/planner.h>
static clo_status p(const clo_planner *a, const clo_cost *b, const clo_plan_config *c, clo_placement *d, size_t *n)
{
    (void)a; (void)b; (void)c; (void)d;
    *n = 0;
    return CLO_OK;
}
const clo_planner clotho_planner = {"empty", "x", sizeof(clo_planner), .plan = p};
"""


def asked(*planners):
    return [word for planner in planners for word in ("--planner", planner)]


class ComparePlan(CommandTest):
    def graphs(self, count=6):
        """A folder of graphs of several families."""
        folder = self.path("graphs")
        os.mkdir(folder)
        for k in range(count):
            self.good("generate", ("layered", "cholesky", "fft")[k % 3], "--tasks", 20 + 5 * k, "--ccr", 1, "--seed", k, "-o",
                      os.path.join(folder, "g%02d.json" % k))
        return folder

    def compare(self, *arguments):
        return json.loads(self.good("plan", "--platform", "rk3588", *arguments, "--json", "--csv", self.path("rows.csv")))

    def rows(self):
        with open(self.path("rows.csv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_ratios_are_those_of_the_single_plans(self):
        folder = self.graphs()
        one = self.compare(folder, *asked(*PLANNERS), "--baseline", "peft")
        self.assertEqual((one["graphs"], one["unread"], one["baseline"], one["platform"]), (6, 0, "peft", "rk3588"))
        single = {planner: [json.loads(line) for line in self.good(
            "plan", "--platform", "rk3588", "--planner", planner, "--json", folder).splitlines()] for planner in PLANNERS}
        shortest = [min(single[planner][k]["makespan_ns"] for planner in PLANNERS) for k in range(6)]
        for row in one["planners"]:
            mine, base = single[row["planner"]], single["peft"]
            logs = [math.log(a["makespan_ns"] / b["makespan_ns"]) for a, b in zip(mine, base)]
            mean = sum(logs) / 6
            half = T[6] * math.sqrt(sum((x - mean) ** 2 for x in logs) / 5 / 6)
            for found, wanted in zip((row["makespan"][key] for key in ("ratio", "low", "high")), (mean, mean - half, mean + half)):
                self.assertAlmostEqual(math.log(found), wanted, places=9)
            self.assertEqual((row["graphs"], row["failed"]), (6, 0))
            self.assertEqual((row["shorter"], row["longer"]), (sum(x < 0 for x in logs), sum(x > 0 for x in logs)))
            self.assertEqual(row["best"], sum(a["makespan_ns"] == low for a, low in zip(mine, shortest)))
            bounds = [math.log(a["makespan_ns"] / a["lower_bound_ns"]) for a in mine]
            self.assertAlmostEqual(math.log(row["over_bound"]), sum(bounds) / 6, places=9)
        ratios = [row["makespan"]["ratio"] for row in one["planners"]]
        self.assertEqual(ratios, sorted(ratios))

    def test_rows_have_the_numbers_of_the_plans(self):
        folder = self.graphs(3)
        self.compare(folder, *asked("heft", "deft"))
        lines = [json.loads(line) for line in self.good("plan", folder, "--platform", "rk3588", *asked("heft", "deft"), "--json").splitlines()]
        rows = self.rows()
        self.assertEqual(len(rows), 6)
        for row, line in zip(rows, lines):
            for key in ("tasks", "edges", "executors", "makespan_ns", "lower_bound_ns", "transfers", "transferred_bytes", "duplicates",
                        "schedules"):
                self.assertEqual(int(row[key]), line[key], key)
            for key in ("gap", "slr", "speedup", "utilization"):
                self.assertEqual(float(row[key]), line[key], key)
            self.assertEqual((row["file"], row["line"], row["graph"], row["planner"], row["platform"], row["optimal"], row["error"]),
                             (line["file"], "", line["graph"], line["planner"], "rk3588", str(int(line["optimal"])), ""))
            self.assertGreater(int(row["plan_ns"]), 0)

    def test_two_hundred_graphs_and_ten_planners_are_one_table_one_csv_and_one_picture(self):
        lines = []
        for k in range(200):
            times = [(7 * k + 13 * t) % 17 + 1 for t in range(12)]
            lines.append(json.dumps({"name": "i%d" % k, "n": 12, "proc_time": times,
                                     "pred": [[] if t < 3 else [(k + t) % 3, t - 1] if (k + t) % 3 != t - 1 else [t - 1] for t in range(12)]}))
        path = self.file("many.jsonl", "\n".join(lines) + "\n")
        ten = ("heft", "deft", "peft", "cpop", "olb", "minmin", "maxmin", "mct", "dls", "etf")
        text = self.good("plan", path, "--platform", "uniform:3", *asked(*ten), "--csv", self.path("rows.csv"), "--svg", self.path("r.svg"))
        head, table = text.split("\n\n")
        self.assertIn("graphs       200 compared\n", head)
        self.assertIn("those of heft", head)
        self.assertIn("Student's t", head)
        rows = [line.split() for line in table.splitlines()]
        self.assertEqual(rows[0][:4], ["planner", "graphs", "failed", "ratio"])
        self.assertEqual(sorted(row[0] for row in rows[1:]), sorted(ten))
        self.assertEqual({(row[1], row[2]) for row in rows[1:]}, {("200", "0")})
        written = self.rows()
        self.assertEqual(len(written), 2000)
        self.assertEqual([row["line"] for row in written[::10]], [str(k + 1) for k in range(200)])
        drawing = ElementTree.parse(self.path("r.svg")).getroot()
        texts = ["".join(node.itertext()) for node in drawing.iter(SVG + "text")]
        self.assertLessEqual(set(ten), set(texts))
        self.assertIn("10 planners on 200 graphs, uniform:3", texts)
        self.assertEqual(len(list(drawing.iter(SVG + "circle"))), 10 * (200 + 1))
        again = self.good("plan", path, "--platform", "uniform:3", *asked(*ten))  # without the options, too
        self.assertEqual([line.split()[:9] for line in again.split("\n\n")[1].splitlines()], [row[:9] for row in rows])

    def test_published_makespans_are_a_column_where_there_are_some(self):
        lines = [json.dumps({"name": "one", "n": 2, "proc_time": [3, 4], "pred": [[], []], "optimal": {"2": 4}}),
                 json.dumps({"name": "two", "n": 2, "proc_time": [3, 4], "pred": [[], [0]]}),
                 json.dumps({"name": "three", "n": 2, "proc_time": [3, 4], "pred": [[], [0]], "optimal": {"2": 5}})]
        path = self.file("many.jsonl", "\n".join(lines) + "\n")
        text = self.good("plan", path, "--platform", "uniform:2", *asked("heft", "serial"), "--csv", self.path("rows.csv"), "--svg",
                         self.path("r.svg"))
        self.assertEqual([row["published_ns"] for row in self.rows()], ["4000", "4000", "", "", "5000", "5000"])
        self.assertEqual([line.split()[-1] for line in text.splitlines()[-2:]], ["%.3f" % math.sqrt(1 * 7 / 5), "%.3f" % math.sqrt(7 / 4 * 7 / 5)])
        self.assertIn("over published\n", text)
        self.assertNotIn("over published", self.good("plan", path, "--platform", "uniform:3", *asked("heft", "serial")))

    def test_the_baseline_is_heft_if_it_is_among_them_else_the_first(self):
        folder = self.graphs(2)
        self.assertEqual(self.compare(folder, *asked("deft", "HEFT"))["baseline"], "heft")
        self.assertEqual(self.compare(folder, *asked("peft", "deft"))["baseline"], "peft")
        self.assertEqual(self.compare(folder, *asked("peft", "HEFT_append"), "--baseline", "HEFT_append")["baseline"], "heft-append")

    def test_one_graph_has_no_interval(self):
        one = self.compare(self.diamond(), *asked("heft", "deft"))
        self.assertEqual(one["planners"][0]["makespan"], {"ratio": 1, "low": None, "high": None})
        text = self.good("plan", self.diamond(), "--platform", "uniform:2", *asked("heft", "deft"), "--baseline", "heft")
        self.assertNotIn("[", text)
        self.assertNotIn("Student", text)

    def test_one_planner_is_compared_where_it_is_asked_for(self):
        self.assertEqual(self.compare(self.graphs(2))["planners"][0]["makespan"], {"ratio": 1, "low": 1, "high": 1})

    def test_a_graph_that_cannot_be_read_is_a_line_and_counted(self):
        folder = self.graphs(2)
        with open(os.path.join(folder, "g01a.json"), "w", encoding="utf-8") as file:
            file.write("{")
        with open(os.path.join(folder, "notes.txt"), "w", encoding="utf-8") as file:
            file.write("no graph")
        os.mkdir(os.path.join(folder, "inner.json"))
        said = self.say("plan", folder, self.path("none.json"), self.diamond(), "--platform", "uniform:2", *asked("heft", "deft"))
        self.assertEqual((said.code, len(said.err.splitlines())), (1, 2), said.err)
        self.assertIn("g01a.json:1", said.err.splitlines()[0])
        self.assertIn("none.json", said.err.splitlines()[1])
        self.assertIn("graphs       3 compared, 2 not read\n", said.out)

    def test_no_graph_at_all(self):
        bad, rows = self.file("bad.json", "{"), self.path("rows.csv")
        said = self.bad(1, "plan", bad, "--platform", "uniform:2", *asked("heft", "deft"), "--csv", rows, "--svg", self.path("r.svg"),
                        holds="bad.json:1")
        self.assertEqual(said.out, "graphs       0 compared, 1 not read; there is nothing to compare\n")
        self.assertEqual(self.rows(), [])
        ElementTree.parse(self.path("r.svg"))
        os.mkdir(self.path("empty"))
        self.bad(1, "plan", self.path("empty"), "--platform", "uniform:2", holds="without graph files")
        self.bad(1, "plan", self.path("x*.json"), "--platform", "uniform:2", holds="none matches")

    def test_patterns_and_folders_are_taken_in_the_order_of_their_names(self):
        folder = self.graphs(4)
        self.compare(os.path.join(folder, "g0[02]*"), folder, *asked("heft"))
        self.assertEqual([os.path.basename(row["file"])[:3] for row in self.rows()], ["g00", "g02", "g00", "g01", "g02", "g03"])
        odd = self.path("odd[1].json")  # a name, not a pattern
        shutil.copy(os.path.join(folder, "g00.json"), odd)
        self.assertEqual(self.json("plan", odd, "--platform", "uniform:2")["file"], odd)

    def test_names_with_commas_quotes_and_lines(self):
        name = 'a, "b"\n<c>&'
        path = self.graph([{"work_ns": 1000}], name=name, file='x, "y" & <z>.json')
        self.compare(path, *asked("heft", "deft"), "--svg", self.path("r.svg"))
        self.assertEqual([(row["file"], row["graph"]) for row in self.rows()], [(path, name)] * 2)
        ElementTree.parse(self.path("r.svg"))

    def test_huge_and_no_times(self):
        huge = self.graph([{"work_ns": 1 << 59}, {"work_ns": 1 << 59}], name="huge", file="huge.json")
        none = self.graph([{}, {}], [(0, 1)], name="none", file="none.json")
        said = self.say("plan", huge, none, "--platform", "uniform:1", *asked("heft", "olb"), "--json", "--csv", self.path("rows.csv"))
        self.assertEqual((said.code, said.err.count("\n")), (0, 1), said.err)  # the warning about times
        self.assertEqual(json.loads(said.out)["planners"][0]["makespan"], {"ratio": 1, "low": 1, "high": 1})
        self.assertEqual([int(row["makespan_ns"]) for row in self.rows()], [1 << 60, 1 << 60, 0, 0])

    @unittest.skipIf(shutil.which("cc") is None, "no compiler")
    def test_planners_that_fail_are_counted_and_their_first_failure_is_a_line(self):
        own = self.path("empty.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-I" + os.path.join(SOURCE, "include"), self.file("own.c", EMPTY), "-o", own], check=True)
        folder = self.graphs(3)
        common = ("plan", folder, "--platform", "rk3588", "--planner", own, "--csv", self.path("rows.csv"))
        said = self.bad(1, *common, "--planner", "heft", "--json", "--svg", self.path("r.svg"), holds=["g00.json", "planner empty"])
        rows = {row["planner"]: row for row in json.loads(said.out)["planners"]}
        self.assertEqual((rows["empty"]["graphs"], rows["empty"]["failed"], rows["empty"]["makespan"]["ratio"]), (0, 3, None))
        self.assertEqual((rows["heft"]["graphs"], rows["heft"]["failed"], rows["heft"]["best"]), (3, 0, 3))
        self.assertEqual([(row["planner"], row["makespan_ns"] == "", row["error"] == "") for row in self.rows()],
                         [("empty", True, False), ("heft", False, True)] * 3)
        texts = ["".join(node.itertext()) for node in ElementTree.parse(self.path("r.svg")).getroot().iter(SVG + "text")]
        self.assertIn("no ratio", texts)
        said = self.bad(1, *common, "--planner", "heft", "--baseline", own, holds="planner empty")
        self.assertIn("over those of empty", said.out)
        said = self.bad(1, *common, holds="planner empty")  # all fail
        self.assertEqual(said.out.splitlines()[-1].split(), ["empty", "0", "3", "-", "0", "0", "0", "-", "-"])

    def test_what_is_asked_wrongly(self):
        g, platform = self.diamond(), ("--platform", "uniform:2")
        self.bad(2, "plan", g, *platform, *asked("heft", "deft"), "--baseline", "peft",
                 holds="--baseline is 'peft', which is not compared; add --planner peft")
        self.bad(2, "plan", g, *platform, "--baseline", "hefft", holds="did you mean 'heft'?")
        self.bad(2, "plan", g, *platform, "--csv", "-", "--json", holds="standard output")
        self.bad(2, "plan", g, *platform, "--csv", "-", "--svg", "-", holds="standard output")
        for more in (("--gantt", self.path("g.svg")), ("--out", self.path("p.json")), ("--gantt-text",), ("--pipeline",)):
            self.bad(2, "plan", g, *platform, "--csv", self.path("rows.csv"), *more, holds="leave --pipeline, --gantt")
        for option, name in (("--csv", "no/rows.csv"), ("--svg", "no/r.svg")):
            self.bad(1, "plan", g, *platform, option, self.path(name), holds=[name, "nothing was begun"])
        self.bad(2, "plan", g, *platform, "--csv", g, holds="write F.csv")
        os.symlink(g, self.path("link.csv"))
        self.bad(2, "plan", g, *platform, "--csv", self.path("link.csv"), holds="would replace")
        folder = self.graphs(2)
        os.symlink(os.path.join(folder, "g01.json"), self.path("other.csv"))
        self.bad(2, "plan", folder, *platform, "--csv", self.path("other.csv"), holds=["--csv would replace", "other.csv"])
        self.bad(1, "plan", g, *platform, "--csv", "/dev/full", "--json", holds="/dev/full")
        self.bad(2, "plan", folder, *platform, "--gantt", self.path("g.svg"), holds="one GRAPH")
        self.assert_nothing_half_written("rows.csv", "r.svg", "g.svg", "p.json")

    def test_a_drawing_in_the_terminal_is_not_forgotten(self):
        folder, platform = self.graphs(2), ("--platform", "uniform:2", "--gantt-text")
        self.bad(2, "plan", folder, *platform, *asked("heft", "deft"), holds="for --gantt-text name one GRAPH or one planner")
        self.bad(2, "plan", self.diamond(), *platform, "--json", holds="--json and --gantt-text both want standard output")
        self.assertEqual(self.good("plan", folder, *platform).count("\ne0 "), 2)

    def test_no_graph_does_without_a_profile_that_cannot_be_read(self):
        lines = [json.dumps({"name": "i%d" % k, "n": 2, "proc_time": [3, 4], "pred": [[], []]}) for k in range(3)]
        many, profile = self.file("many.jsonl", "\n".join(lines) + "\n"), self.file("profile.json", "{}")
        for more in ((), ("--csv", self.path("rows.csv"))):
            said = self.say("plan", many, "--platform", "uniform:2", "--profile", profile, *more)
            self.assertEqual((said.code, [profile in line for line in said.err.splitlines()]), (1, [True] * 3), said.err)
            self.assertNotIn("4000", said.out)
        self.assertEqual(self.rows(), [])

    def test_a_folder_is_its_files_and_no_pipe_is_waited_for(self):
        folder = self.graphs(2)
        os.mkfifo(os.path.join(folder, "g00a.json"))
        os.symlink("g00.json", os.path.join(folder, "g09.json"))
        os.symlink("nowhere", os.path.join(folder, "h.json"))
        said = self.bad(1, "plan", folder, "--platform", "uniform:2", *asked("heft", "deft"), holds="h.json: No such file")
        self.assertIn("graphs       3 compared, 1 not read\n", said.out)

    def test_a_file_alone_on_standard_output(self):
        text = self.good("plan", self.graphs(2), "--platform", "uniform:2", *asked("heft", "deft"), "--csv", "-")
        self.assertEqual([row["planner"] for row in csv.DictReader(io.StringIO(text))], ["heft", "deft"] * 2)

    def test_standard_input_among_the_files(self):
        with open(os.path.join(self.graphs(2), "g00.json"), encoding="utf-8") as file:
            text = file.read()
        out = self.good("plan", "-", self.path("graphs/g01.json"), "--platform", "uniform:2", *asked("heft", "deft"), stdin=text)
        self.assertIn("graphs       2 compared\n", out)

    def test_an_interrupt_ends_it_with_the_graphs_that_are_done(self):
        self.good("generate", "montage", "-n", 300, "--ccr", 5, "-o", self.path("long.json"))
        pipe = self.path("pipe.json")
        os.mkfifo(pipe)
        with subprocess.Popen([CLOTHO, "plan", self.diamond(), pipe, self.path("none.json"), "--platform", "rk3588", "--budget", "%ds" % LONG,
                               *asked("deft", "best"), "--csv", self.path("rows.csv")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            with open(pipe, "wb") as file:  # waits until it is read: the first graph is done
                file.write(self.bytes("long.json"))
            wait_for_handler(process, signal.SIGINT)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=LONG)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(err.splitlines()[-1], "clotho: warning: interrupted: 1 graph is done")
        self.assertIn("graphs       1 compared", out)  # a signal may also come while the second one is read
        self.assertEqual([(row["graph"], row["planner"]) for row in self.rows()], [("diamond", "deft"), ("diamond", "best")])

    def wait_for(self, process, key, is_so):
        """Until a line of the process's status says so, or it has ended."""
        while process.poll() is None:
            with open("/proc/%d/status" % process.pid, encoding="ascii", errors="replace") as file:
                if any(is_so(line.split(None, 1)[1].strip()) for line in file if line.startswith(key)):
                    return
            time.sleep(0.001)

    def test_a_file_that_an_interrupt_cuts_short_is_none_that_cannot_be_read(self):
        pipe = self.path("pipe.json")
        os.mkfifo(pipe)
        with subprocess.Popen([CLOTHO, "plan", self.diamond(), pipe, "--platform", "rk3588", *asked("heft", "deft"), "--json", "--csv",
                               self.path("rows.csv")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            with open(pipe, "wb"):  # waits until it is opened for reading: the first graph is done
                self.wait_for(process, "State:", lambda state: state.startswith("S"))
                process.send_signal(signal.SIGINT)
                self.wait_for(process, "SigCgt:", lambda caught: int(caught, 16) >> signal.SIGINT - 1 & 1 == 0)  # it has come
            out, err = process.communicate(timeout=LONG)
        self.assertEqual((process.returncode, err.splitlines()[-1]), (1, "clotho: warning: interrupted: 1 graph is done"))
        self.assertEqual((json.loads(out)["graphs"], json.loads(out)["unread"]), (1, 0))

    def test_operands_that_hold_nothing_are_counted(self):
        said = self.say("plan", self.graphs(2), self.path("no*"), self.path("none.json"), "--platform", "uniform:2", *asked("heft", "deft"))
        self.assertEqual((said.code, len(said.err.splitlines())), (1, 2))
        self.assertIn("graphs       2 compared, 2 not read\n", said.out)

    @needs_data("saga_reference/topcuoglu2002.json")
    def test_a_folder_of_files_with_platforms_of_their_own(self):
        text = self.good("plan", os.path.join(DATA, "saga_reference"), *asked("heft", "cpop"))
        self.assertIn("platform     not the same for all graphs", text)


if __name__ == "__main__":
    unittest.main()
