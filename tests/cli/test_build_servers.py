"""clotho build: servers that steps start (sccache, watchman, Gradle) live on for the next steps and builds; all else of a step ends."""
import os
import signal
import socket
import subprocess
import time
import unittest

from support import CLOTHO, LONG, CommandTest

SH = "rule sh\n  command = $do\n"

# Starts a server as daemon(7) says, if none runs, and waits until it does. KEEPS: it keeps the output of the step open.
LAUNCH = """
import os, sys, time
def runs(name):
    try:
        os.kill(int(open(name).read()), 0)
        return True
    except (OSError, ValueError):
        return False
name, keeps = sys.argv[1], "KEEPS" in sys.argv
if not runs(name):
    if os.fork() == 0:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        nothing = os.open("/dev/null", os.O_RDWR)
        for i in range(1 if keeps else 3):
            os.dup2(nothing, i)
        with open(name + ".starts", "a") as file:
            file.write("x")
        with open(name + ".new", "w") as file:
            file.write(str(os.getpid()))
        os.rename(name + ".new", name)
        time.sleep(0 if "SHORT" in sys.argv else 3600)
        os._exit(0)
    os.wait()
    while not os.path.exists(name):
        time.sleep(0.01)
"""


class Servers(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("launch.py", LAUNCH)
        self.addCleanup(self.end_servers)

    def servers(self):
        return {name: int(self.bytes(name)) for name in os.listdir(self.temporary.name) if name.startswith("srv") and "." not in name}

    def is_alive(self, pid):
        """Another process may have the number of one that has ended, but not its folder."""
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
                state = file.read().rsplit(") ", 1)[1][0]
            return state not in "ZX" and os.path.samefile("/proc/%d/cwd" % pid, self.temporary.name)
        except OSError:
            return False

    def end_servers(self):
        for pid in self.servers().values():
            if self.is_alive(pid):
                os.kill(pid, signal.SIGKILL)

    def wait_for_end(self, pid):
        while self.is_alive(pid):  # it would run on beyond the time that this test has
            time.sleep(0.01)

    def wait_for(self, name, running):
        while not os.path.exists(self.path(name)) and running.poll() is None:
            time.sleep(0.005)
        self.assertTrue(os.path.exists(self.path(name)))

    def begin(self, *words):
        return subprocess.Popen([CLOTHO, "build", *words], cwd=self.temporary.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_a_server_serves_all_steps_and_the_next_build(self):
        for more in ("", "  pool = console\n"):
            self.file("build.ninja", SH + "".join("build o%d: sh\n  do = python3 launch.py srv && touch o%d\n%s" % (i, i, more) for i in range(6)))
            for words in (("-j", "1"), ("-j", "1", "--memory", "4G")):
                self.good("build", *words)
                for i in range(6):
                    os.unlink(self.path("o%d" % i))
        self.assertEqual(self.bytes("srv.starts"), b"x")
        self.assertTrue(self.is_alive(self.servers()["srv"]))

    def test_it_ends_with_its_step_where_that_is_wanted(self):
        self.file("build.ninja", SH + "build a: sh\n  do = python3 launch.py srv; touch a\n")
        self.good("build", "--end-servers")
        self.wait_for_end(self.servers()["srv"])

    def test_what_has_not_left_the_session_of_the_step_ends(self):
        for number, more in enumerate(("", "; exit 3", "\n  pool = console")):
            self.file("build.ninja", SH + "build a: sh\n  do = (sleep 3600 </dev/null >/dev/null 2>&1 & echo $$! > srv%d); touch a%s\n"
                      % (number, more))
            self.say("build")
            self.wait_for_end(self.servers()["srv%d" % number])

    def test_an_interrupt_ends_what_holds_the_output_and_spares_servers(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            self.end_servers()
            for name in self.servers():
                os.unlink(self.path(name))
            self.file("build.ninja", SH + "build a: sh\n  do = python3 launch.py srv\nbuild b: sh a\n"
                      "  do = python3 launch.py srv2; python3 launch.py srv3 KEEPS; touch begun; sleep 3600\n")
            with self.subTest(number), self.begin() as running:
                self.wait_for("begun", running)
                os.unlink(self.path("begun"))
                running.send_signal(number)
                self.assertEqual(running.wait(LONG), 2 if number != signal.SIGKILL else -number)
                servers = self.servers()
                self.wait_for_end(servers["srv3"])
                self.assertEqual([name for name in ("srv", "srv2") if not self.is_alive(servers[name])], [])

    def test_the_next_build_spares_servers_of_one_that_was_killed(self):
        """Also before the helper of the killed one has seen to them."""
        self.file("build.ninja", SH + "build b: sh\n  do = python3 launch.py srv; touch begun; sleep 3600\n")
        os.mkdir(self.path("other"))
        self.file("other/build.ninja", SH + "build c: sh\n  do = touch c\n")
        with self.begin() as running:
            self.wait_for("begun", running)
            helpers = set()
            for thread in os.listdir("/proc/%d/task" % running.pid):
                with open("/proc/%d/task/%s/children" % (running.pid, thread), encoding="utf-8") as file:
                    helpers |= set(map(int, file.read().split()))
            for helper in helpers:
                os.kill(helper, signal.SIGSTOP)
            running.kill()
            running.wait(LONG)
            self.good("build", "-C", "other", "--memory", "100M")
            for helper in helpers:
                os.kill(helper, signal.SIGCONT)
            for helper in helpers:
                self.wait_for_end(helper)
            self.assertTrue(self.is_alive(self.servers()["srv"]))

    def test_what_an_interrupted_step_waits_for_ends_wherever_it_is(self):
        self.file("build.ninja", SH + "build a: sh\n  do = python3 launch.py srv; "
                  "setsid sh -c 'echo $$$$ > srv2; touch begun; sleep 3600; sleep 3600' < /dev/null > log 2>&1\n")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number), self.begin() as running:
                self.wait_for("begun", running)
                os.unlink(self.path("begun"))
                running.send_signal(number)
                self.assertEqual(running.wait(LONG), 2 if number != signal.SIGKILL else -number)
                self.wait_for_end(self.servers()["srv2"])
                self.assertTrue(self.is_alive(self.servers()["srv"]))

    def test_a_helper_that_is_killed_takes_no_server_of_another_step_with_it(self):
        self.file("build.ninja", SH + "build a: sh\n  do = python3 launch.py srv; touch a\n"
                  "build b: sh a\n  do = sleep 3600 & echo $$! > srv2; touch begun; kill -9 $$PPID; sleep 3600\n")
        self.assertEqual(self.say("build").code, 1)
        self.wait_for_end(self.servers()["srv2"])
        self.assertTrue(self.is_alive(self.servers()["srv"]))

    def test_servers_that_have_ended_do_not_stay_as_zombies(self):
        self.file("build.ninja", SH + "build a: sh\n  do = python3 launch.py srv SHORT\n"
                  "build b: sh a\n"
                  "  do = while grep -qs '[^)]*) [^ZX]' /proc/$$(cat srv)/stat; do sleep 0.01; done\n"
                  "build c: sh b\n  do = cat /proc/[0-9]*/stat > stats 2> /dev/null; true\n")
        self.good("build", "-j", "1")
        pid = self.servers()["srv"]
        self.assertFalse([line for line in self.bytes("stats").decode(errors="replace").splitlines() if line.startswith("%d (" % pid)])

    def test_an_output_that_a_stranger_holds_does_not_hold_an_interrupt(self):
        """The command sends its output to a process that is not its own, as systemd-run --pipe does."""
        self.file("give.py", "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('socket')\nsocket.send_fds(s, [b'x'], [1, 2])\n")
        self.file("build.ninja", SH + "build a: sh\n  do = python3 give.py; touch begun; sleep 3600\n")
        os.chdir(self.temporary.name)  # a socket's path is short
        self.addCleanup(os.chdir, os.path.dirname(os.path.abspath(__file__)))
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket")
            server.listen()
            with self.begin() as running, server.accept()[0] as taken:
                files = socket.recv_fds(taken, 10, 2)[1]
                self.wait_for("begun", running)
                running.send_signal(signal.SIGINT)
                self.assertEqual(running.wait(LONG), 2)
                for file in files:
                    os.close(file)


if __name__ == "__main__":
    unittest.main()
