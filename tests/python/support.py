"""What the tests of the Python package share. CLOTHO names the command, CLO_SANITIZED a build with a sanitizer."""
import os
import subprocess
import sys
import tempfile
import unittest
import warnings

PRELOAD = os.environ.pop("LD_PRELOAD", None)  # the sanitizer's is for Python alone, not for the command or the compiler
import clotho

COMMAND = os.environ.get("CLOTHO", "")
DATA = os.environ.get("CLO_DATA", "")
SANITIZED = os.environ.get("CLO_SANITIZED", "") != ""
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(clotho.__file__)))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LONG = 500  # seconds that nothing takes, on the busiest machine, unless it hangs


def needs_data(path):
    """Skips a test whose workload is not here."""
    there = os.path.exists(os.path.join(DATA, path))
    return unittest.skipUnless(there, "no workloads at %s; mend: put them there, or: cmake --preset release -DCLOTHO_DATA=FOLDER" % (
        os.path.join(DATA, path)))


def needs(*modules):
    """Skips a test whose package is missing; in CI that is a failure."""
    for module in modules:
        try:
            __import__(module)
        except ImportError:
            package = "python3-" + module
            if "CI" in os.environ:
                raise
            return unittest.skip("no %s; mend: apt-get install %s" % (module, package))
    return lambda test: test


class PackageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        warnings.simplefilter("error")
        self.addCleanup(warnings.resetwarnings)

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, *arguments):
        """What the command prints."""
        done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder, timeout=LONG, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def python(self, text, *arguments, **how):
        """Runs a program in a process of its own; returns what it prints."""
        done = subprocess.run([sys.executable, "-B", "-c", text, *arguments], capture_output=True, text=True, cwd=self.folder, timeout=LONG,
                              env=dict(os.environ, PYTHONPATH=PACKAGE, **({"LD_PRELOAD": PRELOAD} if PRELOAD else {}),
                                       **how.pop("environment", {})), check=False)
        self.assertEqual(done.returncode, how.get("code", 0), done.stdout + done.stderr)
        return done.stdout


def layered(tasks=60, seed=3, **more):
    """A graph that is worth planning."""
    return clotho.Graph.generate("layered", tasks=tasks, seed=seed, **{"ccr": 0.5, "work_spread": 0.5, **more})


def hello():
    """The README's first program: 6 * 6 + 6."""
    graph = clotho.Graph("hello")
    six = graph.task("six", body=lambda call: 6, work_ns=500)
    square = graph.task("square", body=lambda call: call.values[0] ** 2, after=[six], work_ns=500)
    graph.task("add", body=lambda call: sum(call.values), after=[six, square], work_ns=500)
    return graph


def rank_planner(cost, seed):
    """HEFT without gaps."""
    del seed
    schedule, rank = clotho.Schedule(cost), cost.rank_u
    while ready := schedule.ready():
        schedule.place(max(ready, key=lambda task: rank[task]))
    return schedule


def fifo_policy(view):
    """The oldest ready stage to the first executor."""
    for job, stage in view.ready():
        executor = view.free_for(job, stage)
        if executor is not None:
            return job, stage, executor
    return None
