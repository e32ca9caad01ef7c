"""The actions of one scene for ninja.py: builds, dry runs, tools, broken manifests, interrupts, and the end."""
import os
import re
import shutil
import signal
import subprocess
import time

from ninja_draw import RULES, escape
from ninja_edits import mend_all
from ninja_rounds import LONG, Finding, Rounds

WEIGHTS = {"build": 60, "dry": 8, "ask": 8, "cross": 6, "clean": 5, "logs": 3, "hand": 3, "syntax": 3, "broken": 5,
           "stop": 4, "torn": 2}
BROKEN = [  # what follows the manifest; OUT is an output, IN a source
    "build OUT: cat IN\n  id = twice\n", "build cyc1: cat cyc2\nbuild cyc2: cat cyc1\n", "build zz: cat nowhere\n",
    "build zz: nothing\n", "include nowhere\n", "build zz: cat OUT |@ nowhere IN\n  id = zz\n", "default nowhere\n",
    "build zz: cat zz OUT\n", "build z1: phony z1 OUT\n", "pool one\n  depth = 1\n", "rule cat\n  command = x\n",
    "build zz: cat OUT || z2\nbuild z2: phony z3\nbuild z3: cat zz\n", "build zz: cat OUT\n  pool = no\n",
    "build zz zz: cat OUT\n  id = zz\n", "build zz | z4: cat OUT\n  id = zz\n  dyndep = IN\n", "  x = 1\n",
    "build zz: phony\nbuild z5: cat zz OUT\n  id = z5\n", "default OUT",
    "build zz: cat IN |@ z5\n  id = zz\nbuild z5: cat zz\n"]
SMALL = [*"$:| \t\n=#\"'\r^}", "$\n", "||", "|@", "$$", "${", "build ", "rule ", "\n  ", "\nbuild", "\n\n"]


class Actions(Rounds):
    def play(self):
        for number in range(self.draw.choice((4, 8, 16))):
            if number > 0 and self.draw.random() < 0.85:
                for _ in range(self.draw.choice((1, 1, 2, 3))):
                    self.random_edit()
            time.sleep(0.012)
            name = self.draw.choices(list(WEIGHTS), list(WEIGHTS.values()))[0] if number > 0 else "build"
            self.keep_before()
            self.counts["actions"] += 1
            getattr(self, name)()
        self.keep_before()
        self.finish()

    def targets(self):
        known = self.scene.outputs()
        some = self.draw.sample(known, min(len(known), self.draw.choice((0, 0, 0, 1, 1, 2, 3))))
        if some and self.draw.random() < 0.1:
            some[0] = self.draw.choice(("./%s", "zz/../%s")) % some[0]
        if self.draw.random() < 0.04:
            used = self.draw.choice([path for step in self.scene.steps for path in step.ins] or known)
            some.append(self.draw.choice(("nowhere", used, used + "^")))
        return some

    def build(self):
        words = ["-j%d" % self.draw.choice((1, 1, 2, 3, 8))]
        words.append(self.draw.choice(("-k0", "-k0", "-k0", "-k0", "-k0", "-k1", "-k2")))
        for word in ("-v", "-dexplain", "-dkeeprsp", "-dkeepdepfile", "--quiet"):
            words += [word] * (self.draw.random() < (0.4 if word == "-v" else 0.06))
        words += self.draw.choice([[]] * 20 + [["-C", "."], ["-f", "./build.ninja"], ["-f", "build.ninja"]])
        words += self.targets()
        policy = self.draw.choice((None, None, "fifo", "steal"))
        mine = ["--policy", policy] if policy else []
        self.judge_build(words, *self.both(words, mine=mine))

    def dry(self):
        words = ["-n", "-v", *self.targets()]
        if not self.judge_dry(*self.both(words), self.folders["mine"]):
            return self.hand_over("what the dry run allows")
        return self.same_files_after_dry()

    def same_files_after_dry(self):
        """ninja's dry run removes what others would have."""
        one, other = (self.tree(self.folders[name]) for name in ("theirs", "mine"))
        names = set(other) ^ set(one)
        if names and all(name.endswith((".rsp", ".d")) for name in names):
            self.counts["allowed dry files"] += 1
            self.edit([("remove", name) for name in names])
        self.same_files("files after a dry run:")

    def cross(self):
        """Both look at the folder of one: what it has built, the other takes for built."""
        for name, folder in self.folders.items():
            words = ["-n", "-v", *self.targets()]
            program = self.mine()
            self.told.append("in %s: ninja and %s %s" % (name, " ".join(program), words))
            self.counts["pairs"] += 1
            mine = self.run(folder, program, words)  # before ninja, whose dry run removes files
            self.judge_dry(self.run(folder, ["ninja"], words), mine, folder)
        self.same_files_after_dry()

    def hand(self):
        self.hand_over("handed over")

    def torn(self):
        """The end of a log is lost."""
        self.hand_over("the same logs")
        name = os.path.join(self.scene.builddir, self.draw.choice((".ninja_log", ".ninja_deps")))
        count = self.draw.randint(1, 90)
        self.told.append("# %s loses %d bytes" % (name, count))
        self.scene.stale.update(path for step in self.scene.steps for path in step.made())
        for folder in self.folders.values():
            if os.path.isfile(os.path.join(folder, name)):
                os.truncate(os.path.join(folder, name), max(0, len(self.read(folder, name)) - count))
        self.keep_before()
        if self.draw.random() < 0.5:
            self.cross()
        else:
            self.is_torn = name.endswith("_log")
            self.build()
            self.is_torn = False
        self.allow("torn log")
        self.end_line()

    def end_line(self):
        """What is left of a torn line of the log goes: with it, later steps of the two builders differ too."""
        name = os.path.join(self.scene.builddir, ".ninja_log")
        for folder in self.folders.values():
            if os.path.isfile(os.path.join(folder, name)):
                os.truncate(os.path.join(folder, name), self.read(folder, name).rfind(b"\n") + 1)

    def ask(self):
        """Tools that change nothing."""
        some, rule = self.targets(), self.draw.choice(list(RULES))
        one = some[:1] or self.scene.outputs()[:1]
        words = self.draw.choice((
            ["targets"], ["targets", "all"], ["targets", "rule"], ["targets", "rule", rule], ["targets", "depth", "2"],
            ["query", *one], ["commands", *some], ["commands", "-s", *some], ["compdb"], ["compdb", rule, "cat"],
            ["compdb", "-x"], ["rules"], ["rules", "-d"], ["inputs", *some], ["deps"], ["deps", *some],
            ["missingdeps", *some], ["graph", *some]))
        self.judge_tool(["-t", *words], *self.both(["-t", *words]))
        self.same_files()

    def judge_tool(self, words, theirs, mine):
        if (theirs.code == 0) != (mine.code == 0):
            self.differ("success of a tool", theirs.err, mine.err)
        texts = [re.sub(r"mtime \d+", "", ran.text()) for ran in (theirs, mine)]
        if "deps" in words:
            texts = [sorted(text.rstrip("\n").split("\n\n")) for text in texts]
        elif "missingdeps" in words or "clean" in words:
            texts = [sorted(text.splitlines()) for text in texts]
        elif "graph" in words:
            texts = [self.named(text) for text in texts]
        if texts[0] != texts[1] and theirs.code == 0:
            self.differ("answer of a tool", *texts)

    def named(self, text):
        """Nodes and statements by the order in which they come."""
        names = {}
        number = lambda match: names.setdefault(match.group(), str(len(names)))
        return re.sub(r'"(0x[0-9a-f]+|[ne][0-9]+)"', number, text)

    def clean(self):
        words = ["-v"] * (self.draw.random() < 0.3) + ["-n"] * (self.draw.random() < 0.2) + ["-t"]
        words += self.draw.choice((["clean"], ["clean"], ["clean", *self.targets()], ["cleandead"],
                                   ["clean", "-r", self.draw.choice([name for name in RULES if name[:5] != "regen"])],
                                   ["clean"] if self.scene.regen else ["clean", "-g"]))
        theirs, mine = self.both(words)
        if words[-1] == "cleandead" and any(step.dyn_out for step in self.scene.steps) and theirs.out != mine.out:
            return self.allow("dead by dyndep")
        self.judge_tool(words, theirs, mine)
        return self.same_files()

    def logs(self):
        words = ["-t", self.draw.choice(("recompact", "restat"))]
        if words[1] == "restat":
            if self.scene.builddir:
                return  # "`restat` needs the manifest": it finds the log by it, and ninja does not
            self.scene.stale.update(path for step in self.scene.steps for path in step.made())
            words += self.targets() if self.draw.random() < 0.5 else []
        theirs, mine = self.both(words)
        if theirs.code == 0 and mine.code != 0 and words[1] == "restat":
            if self.run(self.folders["theirs"], ["ninja"], ["-n"]).code != 0:
                return self.allow("restat reads")
        if (theirs.code == 0) != (mine.code == 0):
            self.differ("success of a tool", theirs.err, mine.err)
        self.same_files()
        self.cross()

    # ---- manifests that are wrong for a while

    def changed(self, name, change):
        """Changes a manifest in both folders and returns how to restore it."""
        kept = {}
        self.hand_over("before mutations")
        for folder in self.folders.values():
            path = os.path.join(folder, name)
            kept[path] = (self.read(folder, name).decode(), os.stat(path).st_mtime_ns)
        text = change(next(iter(kept.values()))[0])
        for folder in self.folders.values():
            self.write(folder, name, text)

        def restore():
            for folder in self.folders.values():
                path = os.path.join(folder, name)
                self.write(folder, name, kept[path][0])
                os.utime(path, ns=(kept[path][1],) * 2)
        return restore

    def broken(self):
        more = self.draw.choice(BROKEN).replace("OUT", escape(self.draw.choice(self.scene.outputs())))
        more = more.replace("IN", escape(sorted(self.scene.sources)[0]))
        self.told.append("# build.ninja ends with %r for the next command" % more)
        kept = {folder: os.path.join(folder, "build.ninja") for folder in self.folders.values()}
        times = {path: os.stat(path).st_mtime_ns for path in kept.values()}
        texts = {path: self.read(folder, "build.ninja").decode() for folder, path in kept.items()}
        for folder, path in kept.items():
            self.write(folder, "build.ninja", texts[path] + more)
            os.utime(path, ns=(times[path],) * 2)
        words = ["-k0", *self.targets(), *(["zz"] if self.draw.random() < 0.3 else [])]
        self.judge_build(words, *self.both(words))
        for folder, path in kept.items():
            if self.read(folder, "build.ninja").decode() == texts[path] + more:
                self.write(folder, "build.ninja", texts[path])
                os.utime(path, ns=(times[path],) * 2)
        for path in ("zz", "z4", "z5"):
            self.edit([("remove", path)])

    def mutate(self, text):
        text = text or "\n"
        draw, at = self.draw, self.draw.randrange(len(text))
        lines = text.splitlines(True)
        line = draw.randrange(len(lines))
        kind = draw.randrange(7)
        if kind == 0:
            return text[:at] + text[at + 1:]
        if kind == 1:
            return text[:at] + draw.choice(SMALL) + text[at:]
        if kind == 2:
            return text[:at]
        if kind == 3:
            return text[:at] + draw.choice(SMALL) + text[at + 1:]
        if kind == 4:
            return "".join(lines[:line] + lines[line + 1:])
        if kind == 5:
            return "".join(lines[:line] + [lines[line]] + lines[line:])
        return "".join(lines[:line] + [lines[draw.randrange(len(lines))]] + lines[line:])

    def syntax(self):
        """Mutations of the manifest; what is not refused is only looked at."""
        for _ in range(6):
            name = self.draw.choice(self.scene.files)[0]
            restore = self.changed(name, self.mutate)
            self.told.append("# %s is mutated, as in after-theirs" % name)
            for words in (["-n", "-v"], ["-t", "targets", "all"], ["-t", "commands"], ["-t", "rules", "-d"],
                          ["-t", "query", self.draw.choice(self.scene.outputs())]):
                theirs, mine = self.both(words)
                if self.is_known(theirs):
                    continue
                if words[0] == "-t":
                    self.judge_tool(words, theirs, mine)
                elif not self.judge_dry(theirs, mine, self.folders["mine"]):
                    break
            restore()
        self.hand_over("after mutations")

    def is_known(self, theirs):
        """What ninja 1.11 alone refuses."""
        for text, name in (("cycle in rule variables", "rule twice"), ("unknown deps type", "dry deps"),
                           ("no depfile", "dry deps")):
            if text in theirs.err + theirs.out:
                self.counts["allowed " + name] += 1
                return True
        return False

    # ---- interrupts and the end

    def stop(self):
        """A signal to both at some moment, then a whole build: its files are the same."""
        if self.scene.regen:
            return None  # a half manifest is removed, and neither can go on
        number, wait_s = self.draw.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)), self.draw.random() * 0.04
        self.told.append("signal %d after %.3f s" % (number, wait_s))
        for name, program in (("theirs", ["ninja"]), ("mine", [self.programs[0], "build"])):
            with subprocess.Popen([*program, "-j3", "-k0"], cwd=self.folders[name], env=self.environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as running:
                time.sleep(wait_s)
                running.send_signal(number)
                try:
                    code = running.wait(LONG)
                except subprocess.TimeoutExpired:
                    running.kill()
                    raise Finding("%s does not end after signal %d" % (name, number)) from None
            if name == "mine" and (code not in (0, 1, 2, -number)):
                raise Finding("clotho ended with %d after signal %d" % (code, number))
        time.sleep(0.05)  # processes that ninja leaves
        for folder in self.folders.values():
            self.do(folder, ("remove", "trace"), 0)
        theirs, mine = self.both(["-k0"])
        if self.scene.faults or self.scene.bad_depfiles or self.scene.missing:
            return self.allow("which failed first")
        if (theirs.code == 0) != (mine.code == 0):
            self.differ("success after a signal", theirs.err, mine.err)
        self.same_files("after a signal:")
        return self.hand_over("after a signal") if self.draw.random() < 0.5 else None

    def finish(self):
        """All is mended and built; a clean build by ninja gives the same."""
        self.told.append("# the end: no faults, all sources new, outputs that need not follow from them removed")
        self.edit(mend_all(self.scene))
        made = [path for step in self.scene.steps for path in step.outs + step.more]
        for words in (["-k0"], ["-k0", *made]):  # the first one may make the manifest
            theirs, mine = self.both(words)
            if theirs.code or mine.code:
                self.differ("success at the end", (theirs.code, theirs.out[-300:], theirs.err),
                            (mine.code, mine.out[-300:], mine.err))
        self.same_files()
        self.cross()
        clean = os.path.join(self.base, "clean")
        self.fill(clean)
        time.sleep(0.012)
        done = self.run(clean, ["ninja"], ["-k0", *made])
        if done.code != 0:
            raise Finding("the clean build fails\n" + done.out[-500:] + done.err)
        one, other = self.tree(self.folders["mine"]), self.tree(clean)
        names = [path for step in self.scene.steps if step.rule != "phony" for path in step.made()
                 if one.get(path) != other.get(path)]
        if names:
            self.differ("clean build: %s" % names, other.get(names[0]), one.get(names[0]))
        shutil.rmtree(clean)
