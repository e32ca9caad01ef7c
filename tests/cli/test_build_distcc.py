"""clotho build --distcc: compiles run on the slots of several hosts, placed by us; two distccd on two ports are the hosts."""
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

from support import CommandTest

DISTCC, DISTCCD, GCC = shutil.which("distcc"), shutil.which("distccd"), shutil.which("gcc")
RULES = ("rule cc\n  command = distcc gcc -O1 -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n"
         "rule sh\n  command = echo \"$$DISTCC_HOSTS\" > $out\nrule link\n  command = gcc $in -o $out\n")
FILES = 12


def free_port():
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return some.getsockname()[1]


class Hosts(CommandTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("distcc"))
        self.file("h.h", "enum { ONE = 1 };\n")
        for i in range(FILES):
            self.file("f%d.c" % i, "#include \"h.h\"\nint f%d(int x);\nint f%d(int x)\n{\n    return x + ONE;\n}\n" % (i, i))
        self.file("main.c", "int main(void)\n{\n    return 0;\n}\n")
        objects = " ".join("f%d.o" % i for i in range(FILES))
        self.file("build.ninja", RULES + "".join("build f%d.o: cc f%d.c\n" % (i, i) for i in range(FILES)) +
                  "build main.o: cc main.c\nbuild all: link main.o %s\nbuild where: sh\n" % objects)

    def environment(self, hosts):
        value = {"DISTCC_HOSTS": hosts, "DISTCC_DIR": self.path("distcc"), "DISTCC_FALLBACK": "1"}
        for name, text in value.items():
            before = os.environ.get(name)
            self.addCleanup(lambda name=name, before=before: os.environ.pop(name) if before is None
                            else os.environ.__setitem__(name, before))
            os.environ[name] = text

    def daemon(self):
        """Port, file of what it says, and the process."""
        for _ in range(5):  # another one may take the port meanwhile
            port = free_port()
            said = self.path("distccd.%d" % port)
            with open(said, "wb") as file:
                runs = subprocess.Popen([DISTCCD, "--daemon", "--no-detach", "--port", str(port), "--listen", "127.0.0.1", "--allow",
                                         "127.0.0.1", "--jobs", "2", "--log-stderr", "--log-level", "info", "--enable-tcp-insecure"],
                                        stdout=file, stderr=file, start_new_session=True)
            self.addCleanup(self.end, runs)
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    return port, said, runs
                except OSError:
                    if runs.poll() is not None:
                        break
                    time.sleep(0.01)
        self.fail("distccd does not listen: " + self.bytes(os.path.basename(said)).decode())

    @staticmethod
    def end(runs):
        try:
            os.killpg(runs.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        runs.wait()

    def compiled(self, said):
        with open(said, encoding="utf-8", errors="replace") as file:
            return len(re.findall(r"COMPILE_OK", file.read()))

    @unittest.skipUnless(DISTCC and DISTCCD and GCC, "distcc, distccd or gcc is not installed; install distcc and gcc")
    def test_compiles_run_on_the_slots_of_two_hosts_and_links_here(self):
        one, two = self.daemon(), self.daemon()
        self.environment("--randomize localhost/7 127.0.0.1:%d/2 # both\n127.0.0.1:%d/2,lzo" % (one[0], two[0]))
        said = self.good("build", "-j", "1", "--distcc", "--summary")
        counts = [int(n) for n in re.search(r"steps ran on 127\.0\.0\.1:%d: (\d+), 127\.0\.0\.1:%d: (\d+), localhost: (\d+)" %
                                            (one[0], two[0]), said).groups()]
        self.assertEqual(sum(counts), FILES + 3)
        for host, count in ((one, counts[0]), (two, counts[1])):
            self.assertGreaterEqual(count, 2)
            while self.compiled(host[1]) < count:  # it writes when the client has gone already
                time.sleep(0.01)
            self.assertEqual(self.compiled(host[1]), count)
        self.assertGreaterEqual(counts[2], 2)
        self.assertRegex(self.bytes("where").decode(), r"^--localslots=1 --localslots_cpp=1 localhost/1\n$")
        self.assertEqual(self.good("build", "-n"), "clotho: no work to do.\n")
        subprocess.run(["./all"], cwd=self.temporary.name, check=True)
        learned = self.bytes(".clotho_steps").decode()  # what ran elsewhere has taken nothing here
        self.assertEqual(sum(line.endswith(".o") for line in learned.splitlines()), counts[2] - 2)

    @unittest.skipUnless(DISTCC and DISTCCD and GCC, "distcc, distccd or gcc is not installed; install distcc and gcc")
    def test_a_host_that_does_not_answer_costs_no_step(self):
        one, two = self.daemon(), self.daemon()
        self.end(two[2])
        self.environment("127.0.0.1:%d/2 127.0.0.1:%d/2" % (one[0], two[0]))
        self.good("build", "-j", "1", "--distcc")
        self.assertEqual(self.good("build", "-n"), "clotho: no work to do.\n")
        self.assertGreaterEqual(self.compiled(one[1]), 1)
        self.assertEqual(self.compiled(two[1]), 0)

    def test_hosts_that_are_written_wrongly(self):
        for hosts, word in (("", "names no other host"), ("localhost localhost/4", "names no other host"), ("+zeroconf", "+zeroconf"),
                            ("a/0", "'a/0' is no host"), ("a/x", "'a/x' is no host"), ("/4", "'/4' is no host"),
                            ("a/99999 b/99999", "slots"), ("a/123456", "'a/123456' is no host"), ("x" * 2000, "2000 bytes")):
            self.environment(hosts)
            self.bad(1, "build", "-j", "1", "--distcc", "where", holds=word)
        del os.environ["DISTCC_HOSTS"]
        self.bad(1, "build", "--distcc", "where", holds="DISTCC_HOSTS")
        os.environ["DISTCC_HOSTS"] = "a"
        for other in (("--memory", "1G"), ("--plan",)):
            self.bad(2, "build", "--distcc", *other, holds="--distcc")


if __name__ == "__main__":
    unittest.main()
