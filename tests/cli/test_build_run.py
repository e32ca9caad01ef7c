"""clotho build: what it has built, ninja takes for built; what fails or is interrupted leaves a good folder."""
import os
import random
import resource
import shutil
import signal
import subprocess
import time
import unittest

from support import CLOTHO, LONG, SANITIZED, CommandTest
from test_build_dirty import NINJA, SOURCES, Tree

SH = "rule sh\n  command = $do\n"


@unittest.skipUnless(NINJA, "ninja-build is not installed")
class Builds(Tree):
    def build(self, *words, code=0):
        said = self.say("build", *words)
        self.assertEqual(said.code, code, said.err + said.out)
        return said.out

    def up_to_date(self, *words):
        self.assertEqual(self.run_ninja("-n", "-d", "explain", *words).stdout.splitlines()[-1], "ninja: no work to do.")
        self.assertEqual(self.build("-n", *words).splitlines()[-1], "clotho: no work to do.")

    def products(self, folder="."):
        return {name: self.bytes(os.path.join(folder, name)) for name in os.listdir(self.path(folder))
                if os.path.isfile(self.path(os.path.join(folder, name))) and not name.endswith((".ninja", ".json"))}

    def processes(self):
        """Numbers of the processes whose folder is this test's."""
        found = []
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink("/proc/%s/cwd" % number) == os.path.realpath(self.temporary.name):
                    found.append(number)
            except OSError:  # ended, or somebody else's
                pass
        return found

    def test_ninja_finds_nothing_to_do_after_any_edits(self):
        """Both build in turns, in one folder; ninja alone builds a copy: the files are the same."""
        draw = random.Random(11)
        for i in range(14):
            done = [self.edit(draw) for _ in range(draw.choice((1, 2, 3)))] if i > 0 else []
            for kind, name in done:
                if kind == "write" and name not in SOURCES and os.path.exists(self.path(name)):
                    os.unlink(self.path(name))  # nobody would make it anew, as it is newer than what it is made of
            with self.subTest(i, edits=done):
                theirs = [line.split("] ")[1] for line in self.run_ninja("-n", "-v").stdout.splitlines() if line[0] == "["]
                # restat may spare steps of the dry run
                self.build("-v", "-j", str(draw.randint(1, 4)), "--policy", draw.choice(("rank", "fifo", "steal")))
                if any(kind == "newest" for kind, _ in done):  # a file of the future stays newer than what is made of it
                    for name in SOURCES:
                        os.utime(self.path(name))
                    self.build()
                self.up_to_date()
                self.assertTrue(theirs or i > 0)
            if i % 4 == 3:
                self.run_ninja()
        shutil.rmtree(self.path("copy"), ignore_errors=True)
        os.mkdir(self.path("copy"))
        for name in [*SOURCES, "build.ninja", "sub.ninja"]:
            if os.path.exists(self.path(name)):
                shutil.copy(self.path(name), self.path("copy"))
        subprocess.run([NINJA], cwd=self.path("copy"), stdout=subprocess.DEVNULL, check=True)
        self.assertEqual(self.products(), self.products("copy"))

    def test_restat_and_headers_run_the_right_steps(self):
        self.build()
        self.assertEqual(self.build(), "clotho: no work to do.\n")
        self.renew("gen.in")
        self.assertEqual(self.build("-v").count("\n"), 1)  # gen.h, which stays as it was
        self.up_to_date()
        self.renew("y.h")
        steps = self.build()
        self.assertIn("GCC b.o", steps)
        self.assertIn("GCC deeper", steps)
        self.assertNotIn("GCC a.o", steps)
        self.up_to_date()
        text = self.bytes("build.ninja").decode()
        self.file("build.ninja", text.replace("-b $flags", "-B $flags"))
        self.assertIn("GCC b.o", self.build())
        self.assertTrue(self.bytes("b.o").endswith(b"-B -a\n"))
        self.up_to_date()

    def test_restat_below_a_phony_statement_is_done_after_one_run(self):
        """Its only input is no file; what stands behind it is newer than the output, which stays as it was."""
        self.file("build.ninja", "rule same\n  command = cmp -s in $out || cp in $out\n  restat = 1\n"
                  "build group: phony more in\nbuild more: phony in\nbuild out: same group\n")
        self.file("in", "")
        self.build()
        self.renew("in")
        self.assertIn("[1/1] cmp", self.build())
        self.up_to_date()
        self.assertEqual(self.build(), "clotho: no work to do.\n")

    def test_a_failure_stops_the_build_and_keeps_its_response_file(self):
        self.file("build.ninja", SH + "rule rsp\n  command = cat $out.rsp; echo said; exit 3\n  rspfile = $out.rsp\n"
                  "  rspfile_content = text\nbuild a: rsp\nbuild b: sh a\n  do = touch b\nbuild c: sh || a\n  do = touch c\n"
                  "build d: sh\n  do = sleep 0.1; touch d\nbuild e: sh d\n  do = touch e\n")
        said = self.say("build", "-j", "1", "--policy", "fifo")
        self.assertEqual(said.code, 1)
        self.assertEqual(said.err, "clotho: 1 step failed; see above\n")
        self.assertEqual(said.out.count("FAILED: a \ncat a.rsp; echo said; exit 3\ntextsaid\n"), 1, said.out)
        self.assertEqual(said.out.count("textsaid"), 1)
        self.assertTrue(os.path.exists(self.path("a.rsp")))
        self.assertFalse(os.path.exists(self.path("c")))
        said = self.say("build", "-k", "0")
        self.assertEqual(said.code, 1)
        self.assertTrue(os.path.exists(self.path("e")))
        self.assertFalse(os.path.exists(self.path("b")) or os.path.exists(self.path("c")))

    def test_no_step_begins_after_as_many_failures_as_said(self):
        self.file("build.ninja", SH + "".join("build f%d: sh\n  do = echo x >> ran; exit 1\n" % i for i in range(5)))
        for failures in ("1", "2", "4", "9"):
            said = self.say("build", "-j", "1", "-k", failures)
            self.assertEqual(said.code, 1)
            self.assertEqual(said.out.count("FAILED: "), min(5, int(failures)), said.out)
            self.assertEqual(self.run_ninja("-j", "1", "-k", failures).stdout.count("FAILED: "), min(5, int(failures)))
        self.assertEqual(self.bytes("ran").count(b"x"), 2 * (1 + 2 + 4 + 5))

    def test_what_a_command_sees(self):
        """An empty input, one pipe for output and errors, a process group and all CPUs of its own, the usual signals."""
        self.file("build.ninja", SH + "build deep/er/a: sh\n  do = cat; echo err >&2; grep -h Cpus_allowed_list "
                  "/proc/self/status > deep/er/a; cut -d' ' -f5 /proc/$$$$/stat >> deep/er/a; echo $$$$ >> deep/er/a; "
                  "grep -h SigBlk /proc/self/status >> deep/er/a\n")
        self.assertIn("err\n", self.build("-j", "1"))
        lines = self.bytes("deep/er/a").decode().split("\n")
        with open("/proc/self/status", encoding="utf-8") as file:
            self.assertIn(lines[0] + "\n", file.read())
        self.assertEqual(lines[1], lines[2])
        self.assertIn("0000000000000000", lines[3])

    def test_a_system_without_room_for_all_jobs_runs_fewer(self):
        """Files of each running step, and this process may open few."""
        self.file("build.ninja", SH + "".join("build o%d: sh\n  do = sleep 0.02; touch o%d\n" % (i, i) for i in range(60)) +
                  "build c: sh\n  do = touch c\n  pool = console\n")
        said = self.say("build", "-j", "40", preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)))
        self.assertEqual((said.code, said.err), (0, ""))
        self.assertEqual(sorted(line.split("] ")[1] for line in said.out.splitlines()),
                         sorted(["touch c"] + ["sleep 0.02; touch o%d" % i for i in range(60)]))
        self.up_to_date()

    def test_no_more_steps_at_once_than_said(self):
        rule = "rule %s\n  command = mkdir %s$out; ls -d %s[0-9]* | wc -l > $out; sleep 0.05; rmdir %s$out\n"
        self.file("build.ninja", rule % (("any",) + 3 * ("m",)) + rule % (("few",) + 3 * ("q",)) + "pool two\n  depth = 2\n" +
                  "".join("build %d: any\n" % i for i in range(6)) +
                  "".join("build 1%d: few\n  pool = two\n" % i for i in range(5)))
        self.build("-j", "4")
        self.assertLessEqual(max(int(self.bytes(str(i))) for i in range(6)), 4)
        self.assertLessEqual(max(int(self.bytes("1%d" % i)) for i in range(5)), 2)
        self.up_to_date()

    def test_an_interrupt_leaves_no_half_written_file_and_no_process(self):
        self.file("build.ninja", SH + "build half: sh\n  do = echo x > half; touch begun; sleep 3600; echo y >> half\n"
                  "build old: sh in\n  do = sleep 3600\nbuild later: sh half\n  do = touch later\n")
        self.file("in", "")
        self.file("old", "kept")
        with subprocess.Popen([CLOTHO, "build", "-j", "2"], cwd=self.temporary.name, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as running:
            while not os.path.exists(self.path("begun")) and running.poll() is None:
                time.sleep(0.01)
            running.send_signal(signal.SIGINT)
            _, err = running.communicate(timeout=LONG)
        self.assertEqual(running.returncode, 2)
        self.assertIn("interrupted", err)
        self.assertFalse(os.path.exists(self.path("half")))
        self.assertEqual(self.bytes("old"), b"kept")
        while self.processes():  # what was killed may be seen for a moment; else it runs on beyond the time that this test has
            time.sleep(0.01)
        self.file("build.ninja", self.bytes("build.ninja").replace(b"sleep 3600", b"true"))
        self.assertIn("later", self.build("-v"))

    def test_the_manifest_is_made_and_read_again(self):
        self.file("build.ninja", "rule g\n  command = cp in build.ninja\n  generator = 1\nbuild build.ninja: g in\n")
        self.file("in", self.bytes("build.ninja") + SH.encode() + b"build new: sh\n  do = touch new\n")
        os.utime(self.path("build.ninja"), (9, 9))
        self.build()
        self.assertTrue(os.path.exists(self.path("new")))
        self.up_to_date()

    def test_logs_are_mended_and_made_smaller(self):
        self.build()
        with open(self.path("logs/.ninja_log"), "ab") as file:
            file.write(b"1\t2\t3\tsay\t0\n" * 400 + b"5\t6\t7\tgone\t0\n" + b"8\t9\ttorn")
        with open(self.path("logs/.ninja_deps"), "ab") as file:
            file.write(b"\x10\0\0\0torn")
        self.build()
        self.up_to_date()
        log = self.bytes("logs/.ninja_log").decode().splitlines()
        self.assertLess(len(log), 40)
        self.assertTrue(all(line.count("\t") == 4 for line in log[1:]))
        self.assertEqual([line for line in log if "gone" in line], [])
        self.assertEqual(self.run_ninja("-t", "deps", "a.o").stdout.count("\n"), 5)
        self.renew("x.h")
        self.build()
        self.up_to_date()

    def test_a_disk_that_cannot_be_written_is_one_line(self):
        os.mkdir(self.path("logs"))
        os.mkdir(self.path("logs/.ninja_log"))
        self.bad(1, "build", holds="logs/.ninja_log")
        shutil.rmtree(self.path("logs"))
        self.file("logs", "")
        self.bad(1, "build", holds="logs")

    def test_a_plan_of_the_next_build(self):
        self.file("build.ninja", SH + "pool one\n  depth = 1\nbuild a: sh\n  do = sleep 0.2; touch a\n  pool = one\n"
                  "build b: sh\n  do = sleep 0.2; touch b\n  pool = one\nbuild c: sh a | p\n  do = sleep 0.1; touch c\n"
                  "build p: phony b\n")
        first = self.json("build", "--plan", "-j", "4")
        self.assertEqual((first["steps"], first["tasks"], first["edges"], first["known"]), (3, 4, 3, 0))
        self.build("-j", "4")
        plan = self.json("build", "--plan", "-j", "4", "--gantt", self.path("g.svg"), "-o", self.path("g.json"))
        self.assertEqual(plan["known"], 3)
        self.assertIn(plan["critical_path"], (["a", "c"], ["b", "c"]))
        self.assertGreaterEqual(plan["makespan_ns"], 5e8)  # the pool lets out one at a time
        self.assertGreaterEqual(plan["critical_path_ns"], 3e8)
        self.assertIn(b"<svg", self.bytes("g.svg"))
        self.assertEqual(self.json("plan", self.path("g.json"), "--planner", "heft")["makespan_ns"], plan["makespan_ns"])
        self.bad(1, "build", "--plan", "-n", holds="no step")
        os.unlink(self.path("c"))
        self.assertEqual(self.json("build", "--plan", "-n")["steps"], 1)
        self.assertIn("critical path", self.good("build", "--plan"))
        self.bad(2, "build", "-n", "--gantt", "x", holds="--plan")
        self.bad(2, "build", "-j", "99999", holds="-j")

    @unittest.skipIf(SANITIZED, "long")
    def test_a_project_of_cmake(self):
        if not shutil.which("cmake"):
            self.skipTest("cmake is not installed")
        self.file("CMakeLists.txt", "cmake_minimum_required(VERSION 3.13)\nproject(p C)\nadd_library(l STATIC l.c)\n"
                  "add_custom_command(OUTPUT g.h COMMAND ${CMAKE_COMMAND} -E touch g.h)\n"
                  "add_executable(e e.c ${CMAKE_BINARY_DIR}/g.h)\ntarget_link_libraries(e l)\n"
                  "target_include_directories(e PRIVATE ${CMAKE_BINARY_DIR})\n")
        self.file("l.c", "int l(void) { return 1; }\n")
        self.file("h.h", "")
        self.file("e.c", "#include <g.h>\n#include \"h.h\"\nint main(void) { return 0; }\n")
        subprocess.run(["cmake", "-G", "Ninja", "-S", ".", "-B", "b"], cwd=self.temporary.name, check=True, stdout=subprocess.DEVNULL)
        self.build("b")
        self.up_to_date("-C", "b")
        self.file("h.h", "/* new */\n")
        self.assertIn("e.c.o", self.build("b", "-v"))
        self.up_to_date("-C", "b")
        self.renew("CMakeLists.txt")
        self.assertIn("cmake", self.build("b", "-v"))
        self.up_to_date("-C", "b")


if __name__ == "__main__":
    unittest.main()
