"""The rounds of one scene for ninja.py: edits, an action by both builders, and the judgement on what they did."""
import collections
import os
import re
import shutil
import signal
import subprocess
import time

import ninja_edits
from ninja_draw import RESTAT

ALLOWED = {  # name -> the sentence of docs/BUILD.md
    "restat behind phony": "A restat step with a phony input that is not a file is up to date after it has left its "
                           "output unchanged. ninja runs it in each build if a file behind that phony input is the "
                           "newest.",
    "failed again": "A failed command runs again even if it has written its output and the log considers that current.",
    "no work after dyndep": "\"no work to do.\" is not printed after a phase that built a dyndep file.",
    "dry dyndep": "A dry run ignores dyndep files that are not up to date.",
    "dry files": "`-n` removes nothing; ninja removes depfiles and response files that a former run has kept.",
    "empty depfile": "An empty depfile of `deps = gcc` is removed too.",
    "restat reads": "`restat` needs the manifest.",
    "torn log": "An incomplete last line or record of a log is cut off; ninja 1.11 appends to such a line, and does "
                "not find what it has appended.",
    "dead by dyndep": "`cleandead` keeps what a dyndep file declares; ninja 1.11 removes it.",
    "restat by dyndep": "A step that is up to date by the `restat` of its dyndep file does not run again because that "
                        "file was made anew, or its step waited for others; with ninja it does.",
    "half depfile": "An incomplete depfile is ignored if the log does not say that its command has succeeded; ninja "
                    "stops with an error.",
    "rule twice": "A rule's variable may be used twice in a value (ninja 1.11 reports a cycle).",
    "dry deps": "`-n` does not check the dependencies that a command would write (a missing `depfile`, an unknown "
                "`deps`).",
    "which failed first": "`--policy NAME`: how the next ready step is chosen (-k N and interrupts leave others).",
}
FAILING = ("fail", "failw", "kill", "int", "term")
LONG = 300  # seconds that no scene needs
SETTLE_S = 0.012  # more than a tick of the clock of files
QUIET = {"NINJA_STATUS": None, "CLICOLOR_FORCE": None, "MAKEFLAGS": None, "LC_ALL": "C.UTF-8"}


class Finding(Exception):
    pass


class Crash(Exception):
    """Of ninja itself: nothing to compare with."""


class Ran:
    """What one builder did: status, lines, steps."""

    def __init__(self, done, trace):
        self.code, self.steps = done.returncode, trace
        self.out, self.err = (text.decode(errors="replace") for text in (done.stdout, done.stderr))

    def text(self):
        """As ninja says it."""
        text = re.sub(r"(?m)^clotho: ", "ninja: ", self.out)
        text = re.sub(r"(?m)^ninja: (build stopped|Entering directory).*\n", "", text)
        return re.sub(r"/(theirs|mine)\b", "/DIR", text)

    def lines(self):
        return sorted(re.sub(r"(?m)^\[\d+/\d+\] ", "", self.text()).splitlines())

    def found_no_work(self):
        return "no work to do." in self.out


class Rounds:
    def __init__(self, base, scene, bin_dir):
        self.base, self.scene, self.draw = base, scene, scene.draw
        self.folders = {name: os.path.join(base, name) for name in ("theirs", "mine")}
        self.programs = [os.path.join(os.path.abspath(bin_dir), name) for name in ("clotho", "clotho-ninja")]
        self.told, self.counts, self.failed = [], collections.Counter(), set()
        self.is_torn = False  # the log had an incomplete last line before this build
        self.environment = {**os.environ, **QUIET}
        self.environment = {name: text for name, text in self.environment.items() if text is not None}
        now_ns = time.time_ns()
        for folder in self.folders.values():
            self.fill(folder)
            for name in self.scene.first():
                self.do(folder, ("touch", name), now_ns)

    # ---- files

    def fill(self, folder):
        for name, text in self.scene.first().items():
            self.write(folder, name, text)

    def write(self, folder, name, text):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def read(self, folder, name):
        with open(os.path.join(folder, name), "rb") as file:
            return file.read()

    def tree(self, folder):
        """Path -> content; not the logs of the builders."""
        found = {}
        for where, _, names in os.walk(folder):
            for name in names:
                path = os.path.relpath(os.path.join(where, name), folder)
                if not name.startswith((".ninja", ".clotho")) and path != "trace":
                    found[path] = self.read(folder, path)
        return found

    def do(self, folder, operation, now_ns):
        kind, name, *more = operation
        path = os.path.join(folder, name)
        if kind == "write":
            if not os.path.isfile(path) or self.read(folder, name) != more[0].encode():
                self.write(folder, name, more[0])
                os.utime(path, ns=(now_ns, now_ns))
            self.scene.missing.discard(name)
        elif kind == "log":
            self.forget(folder, name)
        elif not os.path.isfile(path):
            return
        elif kind == "remove":
            os.unlink(path)
        elif kind == "touch":
            os.utime(path, ns=(now_ns, now_ns))
        elif kind == "time":
            os.utime(path, ns=(more[0], more[0]))
        elif os.path.isfile(os.path.join(folder, more[0])):
            time_ns = os.stat(os.path.join(folder, more[0])).st_mtime_ns
            os.utime(path, ns=(time_ns, time_ns))

    def forget(self, folder, output):
        """Takes an output out of the log."""
        name = os.path.join(self.scene.builddir, ".ninja_log")
        if os.path.exists(os.path.join(folder, name)):
            lines = self.read(folder, name).decode().splitlines(True)
            self.write(folder, name, "".join(line for line in lines if line.split("\t")[3:4] != [output]))

    def edit(self, operations):
        time.sleep(SETTLE_S)
        now_ns = time.time_ns()
        for folder in self.folders.values():
            for operation in operations:
                self.do(folder, operation, now_ns)
        time.sleep(SETTLE_S)

    def random_edit(self):
        there = set(self.tree(self.folders["theirs"]))
        is_missing = self.scene.missing and not self.scene.faults and self.draw.random() < 0.6
        kind, operations = ninja_edits.edit(self.scene, there, "mend" if is_missing else None)
        short = [tuple(str(word)[:60] for word in operation) for operation in operations
                 if operation[0] != "write" or self.changes(operation)]
        self.told.append("edit: %s %s" % (kind, short))
        self.edit(operations)

    def changes(self, operation):
        path = os.path.join(self.folders["theirs"], operation[1])
        return not os.path.isfile(path) or self.read(self.folders["theirs"], operation[1]) != operation[2].encode()

    def keep_before(self):
        for name, folder in self.folders.items():
            kept = os.path.join(self.base, "before-" + name)
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept)

    def hand_over(self, why):
        """One folder becomes a copy of the other, so that one builder goes on with the logs of the other."""
        source, target = self.draw.choice((("theirs", "mine"), ("mine", "theirs")))
        self.told.append("# %s is now a copy of %s: %s" % (target, source, why))
        shutil.rmtree(self.folders[target])
        shutil.copytree(self.folders[source], self.folders[target])
        self.remove_half_made()

    def allow(self, name):
        assert name in ALLOWED
        self.counts["allowed " + name] += 1
        self.hand_over("allowed: " + name)

    # ---- runs

    def run(self, folder, program, words):
        trace = os.path.join(folder, "trace")
        try:
            done = subprocess.run([*program, *words], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LONG, check=False)
        except subprocess.TimeoutExpired:
            raise Finding("no end after %d s: %s" % (LONG, " ".join([*program, *words]))) from None
        steps = collections.Counter()
        if os.path.exists(trace):
            with open(trace, encoding="utf-8") as file:
                steps.update(file.read().split())
            os.unlink(trace)
        return Ran(done, steps)

    def mine(self):
        """The words that begin a command line of Clotho."""
        return [self.programs[1]] if self.draw.random() < 0.2 else [self.programs[0], "build"]

    def both(self, words, *, mine=()):
        """Both builders, each in its folder."""
        program = self.mine()
        self.told.append(" ".join(["ninja", *map(repr, words)]) + "   # and: " + " ".join([*program, *mine]))
        theirs = self.run(self.folders["theirs"], ["ninja"], words)
        done = self.run(self.folders["mine"], program, [*mine, *words])
        self.counts["pairs"] += 1
        self.counts["steps"] += sum(theirs.steps.values())
        if theirs.code < 0:
            raise Crash("ninja ended with %d" % theirs.code)
        if done.code < 0 or done.code > 2:
            raise Finding("clotho ended with %d: %s" % (done.code, done.err))
        return theirs, done

    def differ(self, what, theirs, mine):
        raise Finding("%s differ(s)\ntheirs: %s\nmine: %s" % (what, theirs, mine))

    def same_files(self, what="files"):
        theirs, mine = (self.tree(self.folders[name]) for name in ("theirs", "mine"))
        empty = [name for name in theirs if name.endswith(".d") and theirs[name] == b"" and name not in mine]
        if empty:
            self.counts["allowed empty depfile"] += 1
            self.edit([("remove", name) for name in empty])
            theirs = self.tree(self.folders["theirs"])
        if theirs != mine:
            names = sorted(name for name in {*theirs, *mine} if theirs.get(name) != mine.get(name))
            texts = [{name: tree.get(name) for name in names[:3]} for tree in (theirs, mine)]
            self.differ("%s %s" % (what, names), *texts)

    # ---- what is allowed

    def excuse(self, theirs, mine):
        """Steps by one alone that docs/BUILD.md explains. Returns the name of the difference."""
        scene, more, less = self.scene, mine - theirs, theirs - mine
        if more and not less and set(more) <= scene.below(self.failed):
            return "failed again"
        behind = [step.id for step in scene.steps if step.rule in RESTAT and
                  any(scene.is_phony(path) for path in step.ins + step.also + step.dyn_in)]
        if less and not more and set(less) <= scene.below(behind):
            return "restat behind phony"
        if self.is_torn and not more and less == collections.Counter(["regen"]):
            return "torn log"  # ninja reads the log again after the first one
        read_late = [step.id for step in scene.steps if step.rule == "dynsame" and
                     scene.above(["m" + step.dyndep]).intersection(mine)]
        if less and not more and set(less) <= scene.below(read_late):
            return "restat by dyndep"
        return None

    def stops_at_depfile(self, theirs, folder):
        """Whether ninja did nothing but refuse a depfile whose command has not succeeded by the log of that folder."""
        refused = re.search(r"error: (.*)\.d: (no outputs declared|expected ':' in depfile)", theirs.err)
        outputs = [step.outs[0] for step in self.scene.bad_depfiles.values()]
        if theirs.code == 0 or theirs.steps or not refused or refused.group(1) not in outputs:
            return False
        name = os.path.join(self.scene.builddir, ".ninja_log")
        log = self.read(folder, name).decode(errors="replace") if os.path.exists(os.path.join(folder, name)) else ""
        lines = [line.split("\t") for line in log.splitlines(True) if line.endswith("\n")]
        times = [line[2] for line in lines if line[3:4] == [refused.group(1)]]
        return times[-1:] in ([], ["0"])

    def is_weak(self, words):
        """Which steps run before the build stops depends on their order."""
        scene = self.scene
        modes = set(scene.faults.values())
        has_dyndep = any(step.dyndep for step in scene.steps)
        if modes & {"int", "term"} or (has_dyndep and (scene.bad_depfiles or scene.missing)):
            return True
        if any(name.startswith("mdd") and mode in ("nowrite", "kill") for name, mode in scene.faults.items()):
            return True
        return "-k0" not in words and bool(modes & set(FAILING) or scene.bad_depfiles)

    def remove_half_made(self):
        """What a command wrote before it failed, which only Clotho makes anew in each case ("failed again")."""
        scene = self.scene
        paths = [path for step in scene.steps for path in step.made() if scene.faults.get(step.id) == "failw" or
                 (step.id in scene.bad_depfiles and step.rule != "dep")]
        for folder in self.folders.values():
            for path in paths:
                self.do(folder, ("remove", path), 0)

    # ---- judgement

    def judge_build(self, words, theirs, mine):
        for name in set(theirs.steps) | set(mine.steps):
            (self.failed.add if self.scene.faults.get(name) in FAILING or name in self.scene.bad_depfiles else
             self.failed.discard)(name)
        if self.stops_at_depfile(theirs, os.path.join(self.base, "before-mine")):
            return self.allow("half depfile")
        reason = self.excuse(theirs.steps, mine.steps)
        if self.is_weak(words):
            if (theirs.code == 0) != (mine.code == 0) and not reason:
                self.differ("success", theirs.err, mine.err)
            if theirs.steps == mine.steps and not {"int", "term"} & set(self.scene.faults.values()):
                self.same_files()
            return self.allow("which failed first")
        if reason:
            return self.allow(reason)
        if theirs.steps != mine.steps:
            self.differ("steps", sorted(theirs.steps.elements()), sorted(mine.steps.elements()))
        if (theirs.code == 0) != (mine.code == 0):
            self.differ("success", (theirs.code, theirs.out[-300:], theirs.err), (mine.code, mine.out[-300:], mine.err))
        self.same_files()
        if theirs.found_no_work() != mine.found_no_work():
            if any(name.startswith("mdd") for name in mine.steps):
                return self.allow("no work after dyndep")
            self.differ("no work to do", theirs.out, mine.out)
        self.judge_lines(words, theirs, mine)
        return self.remove_half_made()

    def has_console(self):
        return any(step.pool == "console" for step in self.scene.steps)

    def judge_lines(self, words, theirs, mine):
        if self.scene.bad_depfiles or self.has_console():  # what is said of those is not promised
            return
        if sum(theirs.steps.values()) <= 1 and not any(step.dyndep for step in self.scene.steps):
            if theirs.text() != mine.text():
                self.differ("output", theirs.text(), mine.text())
        elif theirs.lines() != mine.lines():
            one, other = (collections.Counter(ran.lines()) for ran in (theirs, mine))
            self.differ("lines", sorted((one - other).elements())[:4], sorted((other - one).elements())[:4])

    def judge_dry(self, theirs, mine, folder):
        """Dry runs of the same folder, or of two that are the same. Returns whether all was comparable."""
        texts = theirs.text(), mine.text()
        if theirs.code != 0 and mine.code != 0:
            return True
        if theirs.code == -signal.SIGSEGV:  # ninja 1.11 crashes in some dry runs with dyndep
            self.counts["ninja crashed"] += 1
            return False
        if texts[0] == texts[1] and theirs.code == mine.code:
            return True
        if self.stops_at_depfile(theirs, folder):
            self.counts["allowed half depfile"] += 1
            return False
        if any(step.dyndep for step in self.scene.steps) and theirs.lines() == mine.lines():
            return theirs.code == mine.code  # "Dyndep files ... are built in phases", which have an order of their own
        if theirs.code != 0 and "FAILED: " in theirs.out:  # it reads what a former run has left
            self.counts["allowed dry deps"] += 1
            return False
        ids = [collections.Counter(re.findall(r"\bb (s\d+|mdd\d+|regen);", text)) for text in texts]
        if any(name.startswith("mdd") for each in ids for name in each):
            self.counts["allowed dry dyndep"] += 1
            return False
        reason = self.excuse(*ids)
        if reason:
            self.counts["allowed " + reason] += 1
            return False
        if self.has_console() and theirs.code == mine.code:
            lines = [collections.Counter(ran.lines()) for ran in (theirs, mine)]
            total = re.search(r"(?m)^\[\d+/(\d+)\] ", texts[1])
            if total and not lines[0] - lines[1] and sum(lines[1].values()) == int(total.group(1)):
                return True  # "No line of output is lost while a step has the console."
        return self.differ("dry run", *[(ran.code, ran.text()[-600:], ran.err) for ran in (theirs, mine)])
