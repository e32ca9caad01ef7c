"""What the tests of the command share: run it, look at what it said. CLOTHO names the program, CLO_DATA the real workloads."""
import json
import os
import resource
import subprocess
import tempfile
import time
import unittest

CLOTHO = os.path.abspath(os.environ.get("CLOTHO", "build/release/bin/clotho"))
DATA = os.environ.get("CLO_DATA", "")
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SANITIZED = os.environ.get("CLO_SANITIZED", "") != ""
LONG = 500  # seconds that nothing takes, on the busiest machine, unless it hangs


def instead(words, *more):
    """`words` and `more`, without the options of `words`, and their values, that `more` has: no option is given twice."""
    again = {word for word in more if str(word).startswith("--")}
    kept, drops = [], False
    for word in words:
        drops = word in again if str(word).startswith("--") else drops
        if not drops:
            kept.append(word)
    return [*kept, *more]


class Said:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)

    def path(self, name):
        return os.path.join(self.temporary.name, name)

    def file(self, name, content):
        """Writes a file (a str, bytes, or something for JSON) and returns its path."""
        if not isinstance(content, (str, bytes)):
            content = json.dumps(content)
        with open(self.path(name), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return self.path(name)

    def bytes(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def renew(self, name):
        """Touches a file; it is newer then than what was made of it in the same tick of the clock of files."""
        time.sleep(0.02)
        os.utime(self.path(name))

    def graph(self, tasks, edges=(), name="g", file="g.json", **more):
        document = {"format": "clotho.graph/1", "name": name, "tasks": tasks,
                    "edges": [dict(zip(("from", "to", "bytes"), e)) for e in edges], **more}
        return self.file(file, document)

    def diamond(self, **more):
        """Four tasks of 1000 ns: 2000 ns of chain, one step in parallel, no bytes."""
        task = {"work_ns": 1000, **more}
        return self.graph([dict(task, name=n) for n in "abcd"], [(0, 1), (0, 2), (1, 3), (2, 3)], name="diamond")

    def say(self, *arguments, stdin=None, environment=None, stdout=subprocess.PIPE, timeout=LONG, preexec=None):
        done = subprocess.run([CLOTHO, *map(str, arguments)], input=stdin, stdout=stdout, stderr=subprocess.PIPE,
                              env={**os.environ, **(environment or {})}, timeout=timeout, text=True, errors="replace",
                              cwd=self.temporary.name, preexec_fn=preexec, check=False)
        return Said(done)

    def interrupt(self, number, written, *arguments):
        """Starts the command and sends it a signal when the file `written` is there; it must end by that signal. On a busy machine it
        may have ended well before the file is seen: then what it has made is removed, and it starts again."""
        before = set(os.listdir(self.temporary.name))
        for _ in range(100):
            with subprocess.Popen([CLOTHO, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  cwd=self.temporary.name) as process:
                while process.poll() is None and not os.path.exists(written):
                    time.sleep(0.001)
                process.send_signal(number)
                code, said = process.wait(LONG), process.stderr.read()
            if code != 0:
                break
            for name in set(os.listdir(self.temporary.name)) - before:
                os.unlink(self.path(name))
        self.assertEqual(code, -number, said)

    def good(self, *arguments, **how):
        said = self.say(*arguments, **how)
        self.assertEqual((said.code, said.err), (0, ""), said.out)
        return said.out

    def json(self, *arguments, **how):
        """Exactly one JSON object, on one line, and nothing else."""
        lines = self.good(*arguments, "--json", **how).splitlines()
        self.assertEqual(len(lines), 1)
        return json.loads(lines[0])

    def bad(self, code, *arguments, **how):
        """Must fail with `code` and exactly one line "clotho: ..." that holds each text of `holds`."""
        holds = how.pop("holds", ())
        said = self.say(*arguments, **how)
        lines = said.err.splitlines()
        self.assertEqual(said.code, code, said.err + (said.out or ""))
        self.assertEqual(len(lines), 1, said.err)
        self.assertTrue(lines[0].startswith("clotho: "), said.err)
        for text in [holds] if isinstance(holds, str) else holds:
            self.assertIn(text, lines[0])
        return said

    def assert_nothing_half_written(self, *names):
        """No temporary neighbour was left behind, and none of the named files exists."""
        left = [n for n in os.listdir(self.temporary.name) if n in names or n.startswith(".clotho-")]
        self.assertEqual(left, [])


def limit_files(count):
    """For preexec: so many bytes is the longest file; writing more fails with EFBIG, as a full disk does."""
    import signal

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (count, count))
    return limit


def wait_for_handler(process, number):
    """Returns when the process catches the signal, or has ended."""
    while process.poll() is None:
        with open("/proc/%d/status" % process.pid, encoding="ascii", errors="replace") as file:
            caught = next((line.split()[1] for line in file if line.startswith("SigCgt:")), "0")
        if int(caught, 16) >> (number - 1) & 1:
            return
        time.sleep(0.001)


def needs_data(path):
    if not os.path.exists(os.path.join(DATA, path)):
        print("skipped: no workloads at %s; mend: put them there, or: cmake --preset release -DCLOTHO_DATA=FOLDER"
              % os.path.join(DATA, path))
    return unittest.skipUnless(os.path.exists(os.path.join(DATA, path)), "no workloads at %s" % os.path.join(DATA, path))
