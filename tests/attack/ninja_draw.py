"""Random build scenes for ninja.py: sources, steps of every kind, the manifests that describe them, and random edits.

The command of a step calls the functions of SHELL, so that it leaves its name in the file `trace`, writes a sum of its
inputs and flags, and fails as the file ctl/NAME orders. What a step reads is declared, so the contents of all outputs
follow from the sources. A scene draws its manifest anew after each edit, spelt as before (`style`)."""
import random
import shlex

SHELL = r"""# b NAME: begins; i FLAGS FILE...: reads; o, r FILE...: writes, r only what differs; d, m: name the headers
mode= text=
set -f
IFS='
'
b() {
  echo "$1" >> trace
  [ ! -e "ctl/$1" ] || read -r mode < "ctl/$1"
  case $mode in
    fail) echo "bad $1"; exit 3 ;;
    int) kill -INT $$ ;;
    term) kill -TERM $$ ;;
    kill) kill -KILL $$ ;;
    say) printf 'said by %s\n' "$1" ;;
    slow) sleep 0.03 ;;
  esac
}
i() { text=$1; shift; text="$text $(cksum -- "$@" 2>/dev/null < /dev/null)"; }
w() { printf '%s\n' "$text" > "$1"; }
o() {
  [ "$mode" != nowrite ] || return 0
  for x; do w "$x"; done
  [ "$mode" != failw ] || exit 4
}
r() {
  [ "$mode" != nowrite ] || return 0
  for x; do [ -e "$x" ] && [ "$(cat "$x")" = "$text" ] || w "$x"; done
  [ "$mode" != failw ] || exit 4
}
c() { [ "$mode" = nowrite ] || cp "$1" "$2"; }
s() { cmp -s "$1" "$2" || c "$1" "$2"; }
d() { cat "deps/$1.d" > "$2"; }
m() { sed "s|^|$2|" "deps/$1"; }
"""
FIND = "i '$flags' $in $also $$(cat deps/$id)"
# rule -> (what follows the begin, more bindings)
RULES = {
    "cat": ("i '$flags' $in $also; o $out $more", ""),
    "same": ("i '$flags' $in $also; r $out $more", "  restat = 1\n"),
    "gcc": (FIND + "; d $id $out.d; o $out $more", "  depfile = $out.d\n  deps = gcc\n"),
    "gccsame": (FIND + "; d $id $out.d; r $out $more", "  depfile = $out.d\n  deps = gcc\n  restat = 1\n"),
    "dep": (FIND + "; d $id $out.d; o $out $more", "  depfile = $out.d\n"),
    "msvc": (FIND + "; m $id 'Note: including file: '; o $out $more", "  deps = msvc\n"),
    "msvcp": (FIND + "; m $id 'P: '; o $out $more", "  deps = msvc\n  msvc_deps_prefix = P:\n"),
    "rsp": ("i '$flags' $out.rsp $in $also; o $out $more", "  rspfile = $out.rsp\n  rspfile_content = $in $flags\n"),
    "rspn": ("i '' $out.rsp $in $also; o $out $more", "  rspfile = $out.rsp\n  rspfile_content = $in_newline\n"),
    "gen": (": '$flags'; i gen $in $also; o $out $more", "  generator = 1\n"),
    "gensame": (": '$flags'; i gen $in $also; r $out $more", "  generator = 1\n  restat = 1\n"),
    "dyn": ("i '$flags' $in $also $$(cat dyn/$id.in); o $out $more $$(cat dyn/$id.out)", ""),
    "dynsame": ("i '$flags' $in $also $$(cat dyn/$id.in); r $out $more $$(cat dyn/$id.out)", ""),
    "make": ("c $in $out", ""),
    "makesame": ("s $in $out", "  restat = 1\n"),
    "regen": ("c build.ninja.in build.ninja", "  generator = 1\n"),
    "regensame": ("s build.ninja.in build.ninja", "  generator = 1\n  restat = 1\n"),
}
RESTAT = {"same", "gccsame", "gensame", "dynsame", "makesame", "regensame"}
FOUND = {"gcc", "gccsame", "dep", "msvc", "msvcp"}  # rules whose commands name headers
GENERATORS = {"gen", "gensame", "regen", "regensame"}
KINDS = ["cat"] * 5 + ["phony"] * 4 + ["same"] * 3 + ["gcc"] * 3 + ["dyn"] * 2 + [
    "dep", "msvc", "msvcp", "rsp", "rspn", "gen", "gensame", "gccsame", "dynsame"]
NAMES = ["o%d"] * 6 + ["dir/o%d", "dir/sub/o%d", "sp o%d", "q'o%d", "d$o%d", "c:o%d", "h#o%d", "p+o%d", "é%d", "o%d.x"]
PLAIN = ["o%d", "o%d", "dir/o%d", "sp o%d"]  # what depfiles can name
FLAGS = ["", "-a", "-a  $v0", "${v1}-$v2.x", "$$HOME $$$$", "a$:b", "$ lead ", "x$\n    y", "# none",
         "\"q\" | ; = :", "$v0$v0", "-b $unknown"]


def escape(path):
    return path.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def value(words):
    """Words for the shell as the value of a variable."""
    return " ".join(map(shlex.quote, words)).replace("$", "$$")


class Step:
    def __init__(self, name, rule):
        self.id, self.rule, self.file, self.pool, self.flags = name, rule, 0, None, None
        self.outs, self.more, self.ins, self.also, self.order, self.valid = [], [], [], [], [], []
        self.headers, self.dyndep, self.dyn_in, self.dyn_out = [], None, [], []

    def made(self):
        return self.outs + self.more + self.dyn_out

    def needs(self):
        return self.ins + self.also + self.order + self.dyn_in + self.headers + ([self.dyndep] if self.dyndep else [])


class Scene:
    """`steps` in the order of the manifest; `sources`: path -> text of what no step makes."""

    def __init__(self, draw):
        self.draw, self.style = draw, draw.random()
        self.steps, self.sources, self.count = [], {}, 0
        self.crlf, self.builddir = draw.random() < 0.1, draw.choice(["", "", "", "", "bd"])
        self.regen = draw.choice([None] * 4 + ["regen", "regensame"])
        self.files = [("build.ninja", "")] + [f for f in (("sub.ninja", "subninja"), ("inc/part.ninja", "include"))
                                              if draw.random() < 0.3]
        self.variables = {"v%d" % i: draw.choice(("", "x", "1 2", "a$$b")) for i in range(3)}
        self.rule_tail = {}
        self.faults, self.bad_depfiles, self.gone = {}, {}, {}
        self.stale, self.missing = set(), set()
        for i in range(draw.randint(1, 6)):
            self.sources[draw.choice(("src%d", "src%d", "in/src%d", "s rc%d")) % i] = "source %d\n" % i
        for i in range(draw.randint(1, 3)):
            self.sources[draw.choice(("h%d.h", "inc/h%d.h", "h %d.h")) % i] = "header %d\n" % i
        self.headers = [name for name in self.sources if name.endswith(".h")]
        for _ in range(draw.choice((2, 4, 6, 9, 14, 22))):
            self.add()
        while all(step.rule == "phony" for step in self.steps):
            self.add()
        for step in self.steps:
            if draw.random() < 0.12:
                step.valid = [draw.choice(self.outputs())]
        draw.shuffle(self.steps)
        # a manifest that makes itself must be readable before it is made anew, whatever its other files say by then
        has_defaults = draw.random() < 0.3 and not (self.regen and len(self.files) > 1)
        self.defaults = draw.sample(self.outputs(), 2) if has_defaults else []

    def name(self, patterns):
        self.count += 1
        return self.draw.choice(patterns) % self.count

    def outputs(self):
        """What statements name; not what only dyndep files do."""
        return [path for step in self.steps for path in step.outs + step.more]

    def is_phony(self, path):
        return any(step.rule == "phony" and path in step.outs for step in self.steps)

    def some(self, weights, among):
        return [self.draw.choice(among) for _ in range(self.draw.choice(weights))] if among else []

    def add(self):
        """One more step, which may use all that there is."""
        rule, draw = self.draw.choice(KINDS), self.draw
        step = Step("s%d" % len(self.steps), rule)
        single = rule in FOUND or rule.startswith(("rsp", "dyn", "phony"))
        known = list(self.sources) + self.outputs() * 2
        count = 1 if single else draw.choice((1, 1, 1, 2))
        step.outs = [self.name(PLAIN if rule in FOUND else NAMES) for _ in range(count)]
        step.more = [self.name(NAMES) for _ in range(draw.choice((0, 0, 0, 0, 1)))] if rule != "phony" else []
        step.ins = self.some((0, 1, 2, 2, 3) if rule == "phony" else [1, 2, 3] * 6 + [0], known)
        step.also, step.order = self.some((0, 0, 0, 1, 2), known), self.some((0, 0, 0, 1, 2), self.outputs())
        step.file, step.pool = draw.randrange(len(self.files)), draw.choice([None] * 9 + ["one", "two", "console"])
        if draw.random() < 0.4:
            step.flags = draw.choice(FLAGS) if draw.random() < 0.97 else "-l" * 10000
        if rule in FOUND:
            self.find(step)
        if rule.startswith("dyn"):
            self.find_dyndep(step)
        self.steps.append(step)

    def find(self, step):
        """Draws headers; those that are made are waited for."""
        made = [path for other in self.steps for path in other.outs if other.rule in ("cat", "same", "gen") and
                (path.startswith(("o", "dir", "sp")))]
        step.headers = self.some((0, 1, 2, 3), self.headers + made)
        step.order += [path for path in step.headers if path in made]
        step.also.append("deps/" + step.id)
        self.write_headers(step)

    def write_headers(self, step):
        """deps/NAME has one path a line, deps/NAME.d is the depfile as some compiler writes it."""
        draw = self.draw
        spelt = [("./" if draw.random() < 0.1 else "") + path for path in step.headers]
        name = lambda path: path.replace(" ", "\\ ").replace("#", "\\#")
        gap = draw.choice((" ", "  ", " \\\n  ", " \\\r\n "))
        end = draw.choice(("\n", "\n", "", "\r\n", "\n\n"))
        text = name(step.outs[0]) + ":" + "".join(gap + name(path) for path in spelt) + end
        if draw.random() < 0.2 and end:
            text += "".join(name(path) + ":\n" for path in dict.fromkeys(spelt))
        self.sources["deps/" + step.id] = "".join(path + "\n" for path in spelt)
        self.sources["deps/" + step.id + ".d"] = text

    def find_dyndep(self, step):
        """A dyndep file of its own, or one of a former step; made by a step, or a source."""
        draw, known = self.draw, [other for other in self.steps if other.dyndep]
        if known and draw.random() < 0.4:
            step.dyndep = draw.choice(known).dyndep
        else:
            step.dyndep = self.name(["dd%d"])
            if draw.random() < 0.7:
                maker = Step("m" + step.dyndep, draw.choice(("make", "make", "makesame")))
                maker.outs, maker.ins = [step.dyndep], [step.dyndep + ".in"]
                maker.order = self.some((0, 0, 1), self.outputs())
                self.steps.append(maker)
        step.dyn_out = [self.name(PLAIN) for _ in range(draw.choice((0, 0, 1)))]
        for paths in (step.ins, step.also, step.order):  # twice among the inputs, ninja reads it twice
            paths[:] = [path for path in paths if path != step.dyndep]
        (step.also if draw.random() < 0.5 else step.order).append(step.dyndep)
        step.also += ["dyn/%s.in" % step.id, "dyn/%s.out" % step.id]
        self.steps.append(step)
        self.draw_dyndep(step)
        self.steps.pop()

    def draw_dyndep(self, step):
        """New inputs, of what stood before the step when it was drawn."""
        before = int(step.id[1:])
        old = [s for s in self.steps if not s.rule.startswith("make") and int(s.id[1:]) < before]
        shared = [path for s in old if s.dyndep == step.dyndep for path in s.dyn_out]
        plain = [path for s in old for path in s.outs if path[0] in "od"]
        plain += [path for path in self.sources if path.startswith("src")]
        step.dyn_in = self.some((0, 1, 2), plain + shared * 2)
        self.write_dyndep(step.dyndep)
        self.sources["dyn/%s.in" % step.id] = "".join(path + "\n" for path in step.dyn_in)
        self.sources["dyn/%s.out" % step.id] = "".join(path + "\n" for path in step.dyn_out)

    def write_dyndep(self, name):
        text = "ninja_dyndep_version = 1\n"
        for step in self.steps:
            if step.dyndep == name:
                more = [" | " + " ".join(map(escape, paths)) if paths else "" for paths in (step.dyn_out, step.dyn_in)]
                text += "build %s%s: dyndep%s\n" % (escape(step.outs[0]), *more)
                text += "  restat = 1\n" if step.rule == "dynsame" else ""
        is_made = any(step.outs == [name] for step in self.steps)
        self.sources[name + ".in" if is_made else name] = text

    def statement(self, step):
        draw = random.Random("%s %s" % (self.style, step.id))
        gap = lambda: " $\n    " if draw.random() < 0.05 else " "
        spell = lambda path: gap() + draw.choice([""] * 8 + ["./", "zz/../", ".//"]) + escape(path)
        line = "build" + "".join(map(spell, step.outs)) + (" |" + "".join(map(spell, step.more)) if step.more else "")
        line += ":" + gap() + step.rule + "".join(map(spell, step.ins))
        for mark, paths in (("|", step.also), ("||", step.order), ("|@", step.valid)):
            if paths or draw.random() < 0.04:
                line += " " + mark + "".join(map(spell, paths))
        binds = ["  id = " + step.id] if step.rule != "phony" else []
        if step.also and step.rule != "phony":
            binds.append("  also = " + value([path for path in step.also if not self.is_phony(path)]))
        if step.more:
            binds.append("  more = " + value(step.more))
        binds += ["  pool = " + step.pool] if step.pool else []
        binds += ["  flags = " + step.flags] if step.flags is not None else []
        binds += ["  dyndep = " + step.dyndep] if step.dyndep else []
        binds += ["  # a remark"] if draw.random() < 0.05 else []
        draw.shuffle(binds)
        return line + "\n" + "".join(bind + "\n" for bind in binds)

    def rules(self, names, tail=""):
        text = ""
        for name in names:
            draw = random.Random("%s %s" % (self.style, name))
            command, more = RULES[name]
            command += self.rule_tail.get(name, "") + tail
            text += "rule %s\n  command = . ./s; b $id; %s\n%s" % (name, command, more)
            if draw.random() < 0.4:
                text += "  description = %s\n" % draw.choice(("D $out", "D ${id}: $flags", "$in", ""))
        return text

    def head(self):
        text = "ninja_required_version = 1.5\n" + ("builddir = %s\n" % self.builddir if self.builddir else "")
        text += "pool one\n  depth = 1\npool two\n  depth = 2\n"
        text += "".join("%s = %s\n" % pair for pair in self.variables.items())
        return text + "flags = -g $v1\n" + self.rules(RULES)

    def manifests(self):
        """File -> text, as the steps are now."""
        draw, texts = random.Random(self.style), {}
        subs = "".join("%s %s\n" % (how, name) for name, how in self.files[1:])
        is_early = draw.random() < 0.3
        for number, (name, how) in enumerate(self.files):
            text = self.head() + subs * is_early if number == 0 else ""
            if how == "subninja":
                text = "flags = -s $v2\nv1 = sub\n"
                text += self.rules(["cat", "same"], "; : sub") if draw.random() < 0.5 else ""
            for step in self.steps:
                if step.file == number:
                    text += self.statement(step)
                if draw.random() < 0.08:
                    text += draw.choice(("v0 = late\n", "v1 = $v0$v2\n", "\n", "   \n", "# remark\n", "flags = -l\n"))
            texts[name] = text
        known = set(self.outputs())
        top = "" if is_early else subs
        top += "build build.ninja: %s build.ninja.in\n  id = regen\n" % self.regen if self.regen else ""
        top += "".join("default %s\n" % escape(path) for path in self.defaults if path in known)
        texts["build.ninja"] += top
        return {name: text.replace("\n", "\r\n") if self.crlf else text for name, text in texts.items()}

    def written(self):
        """The manifests by the names under which edits write them."""
        texts = self.manifests()
        if self.regen:
            texts["build.ninja.in"] = texts.pop("build.ninja")
        return texts

    def first(self):
        """All files of the scene before any build."""
        return {"s": SHELL, **self.sources, **self.manifests(), **self.written()}

    def below(self, names):
        """The steps of these names and all that need them."""
        names = set(names)
        for _ in self.steps:
            made = {path for step in self.steps if step.id in names for path in step.made()}
            more = {step.id for step in self.steps if made.intersection(step.needs())} - names
            if not more:
                return names
            names |= more
        return names

    def above(self, names):
        """The steps of these names and all that they need."""
        names = set(names)
        for _ in self.steps:
            needs = {path for step in self.steps if step.id in names for path in step.needs()}
            more = {step.id for step in self.steps if needs.intersection(step.made())} - names
            if not more:
                return names
            names |= more
        return names
