"""Pages of the manual and completions: each option of each --help is in them, and what reads them finds no fault."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import CLOTHO, LONG, SOURCE, CommandTest

OPTION = re.compile(r"^  (?:-(\w), |    )--([\w-]+)(?: (\S+))?", re.M)

# What zsh has for the end of a line: outer.zsh FOLDER LINE. A second zsh, on a terminal of its own, completes; its compadd prints.
ZSH_OUTER = r"""zmodload zsh/zpty || exit 77
local line found=
zpty z zsh -f -i || exit 77
zpty -w z "fpath=(${(q)1} \$fpath); source ${(q)1}/inner.zsh"
repeat 50; do zpty -r z line || exit 2; [[ $line == *inner\ is\ ready* ]] && break; done
zpty -w -n z "$2"$'\t'
while zpty -r z line; do
    found+=$line
    [[ $line == *'end of matches'* ]] && break
done
zpty -d z
print -r -- $found
"""
ZSH_INNER = r"""PROMPT=
autoload -Uz compinit
compinit -u -D
unset zle_bracketed_paste
bindkey '^I' complete-word
compadd() {
    local -a hits
    local hit
    if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then # else it only asks
        builtin compadd -A hits "$@"
        for hit in $hits; do print -r -- "match:$hit:"; done
    fi
    builtin compadd "$@"
}
ends() { print -r -- 'end of matches' }
comppostfuncs=(ends)
print inner is ready
"""


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False, timeout=LONG, **more)


class Pages(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.pages = os.path.join(cls.folder.name, "pages")
        subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "tools/pages/make.py"), os.path.dirname(CLOTHO), cls.pages,
                        "--date", "2026-11-29"], check=True, timeout=LONG)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def page(self, name):
        with open(os.path.join(self.pages, name), encoding="utf-8") as file:
            return file.read()

    def helps(self):
        """Words of each verb and action, with the options of its --help."""
        for verb in re.findall(r"^  (\w+) ", self.good("--help"), re.M):
            if verb in ("help", "version"):
                continue
            text = self.good(verb, "--help")
            actions = re.findall(r"^  (\w+) ", text, re.M) if " ACTION " in text.splitlines()[0] else []
            actions += ["stream"] if verb == "generate" else []
            if OPTION.search(text):
                yield [verb], OPTION.findall(text)
            for action in actions:
                yield [verb, action], OPTION.findall(self.good(verb, action, "--help"))

    def complete(self, line):
        """What bash has for the end of a line."""
        script = ("source \"$1\"; COMP_LINE=$2 COMP_POINT=${#2}; read -ra COMP_WORDS <<<\"$2\"; COMP_CWORD=1; _clotho; "
                  "[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' \"${COMPREPLY[@]}\"")
        path = {**os.environ, "PATH": os.path.dirname(CLOTHO) + ":" + os.environ["PATH"]}
        said = run("bash", "-c", script, "bash", os.path.join(self.pages, "bash/clotho"), line, env=path)
        self.assertEqual((said.returncode, said.stderr), (0, ""), line)
        return said.stdout.split()

    def test_each_option_of_each_help_is_in_its_page(self):
        seen = 0
        for words, options in self.helps():
            text = self.page("man/clotho-%s.1" % words[0]).replace("\\-", "-")
            for letter, name, argument in options:
                self.assertRegex(text, r"\\fB--%s\\fR%s" % (name, r" \\fI" if argument else ""), words)
                if letter:
                    self.assertIn("\\fB-%s\\fR, \\fB--%s" % (letter, name), text, words)
                seen += 1
        self.assertGreater(seen, 150)

    def test_each_option_of_each_help_is_completed_by_bash(self):
        for words, options in self.helps():
            self.assertEqual(set(self.complete("clotho %s -" % " ".join(words))), {"--" + name for _, name, _ in options}, words)

    def test_each_option_of_each_help_is_in_the_files_of_zsh_and_fish(self):
        zsh, fish = self.page("zsh/_clotho"), self.page("fish/clotho.fish")
        for words, options in self.helps():
            mine = zsh.split("\n    %s)\n        shift words" % (" ".join(words) if len(words) == 1 else "'%s'" % " ".join(words)))[1]
            mine = mine.split("\n        ;;")[0]
            at = [line for line in fish.splitlines() if re.search(r"'__clotho_at %s( --but .*)?' -l" % " ".join(words), line)]
            for letter, name, argument in options:
                self.assertRegex(mine, r"--%s%s\[" % (name, "=" if argument else ""), words)
                wanted = r" -l %s%s%s " % (name, " -s " + letter if letter else "", " -r" if argument else "")
                self.assertTrue(any(re.search(wanted, line) for line in at), (words, name))
                self.assertTrue(not letter or re.search(r"-%s\+?\[" % letter, mine), (words, letter))

    def test_each_verb_has_a_page_that_the_first_one_names(self):
        first = self.page("man/clotho.1").replace("\\-", "-")
        for words, _ in self.helps():
            self.assertIn(".BR clotho-%s (1)" % words[0], first)
            self.assertIn("\\fB%s\\fR" % words[0], first)

    def test_bash_completes_verbs_actions_names_and_values(self):
        for line, wanted in [("clotho pl", ["platform", "plan"]), ("clotho platform ", ["show", "calibrate", "list", "check"]),
                             ("clotho plan g.json --planner heft-e", ["heft-expected"]), ("clotho plan --planner=heft-e", ["heft-expected"]),
                             ("clotho platform show rk356", ["rk3568"]), ("clotho generate st", ["stream"]), ("clotho generate chol", ["cholesky"]),
                             ("clotho plan --contention ", ["choose", "times"]), ("clotho generate stream --arrivals b", ["batch"]),
                             ("clotho list planners --j", ["--json"]), ("clotho help conv", ["convert"]), ("clotho list famil", ["families"]),
                             ("clotho nonsense --", []), ("clot", []), ("", []), ("clotho plan --seed ", []), ("clotho plan --out ", []), ("clotho version x", [])]:
            self.assertEqual(self.complete(line), wanted, line)

    def test_bash_takes_no_name_apart(self):
        self.assertEqual(self.complete("clotho plan --planner $(touch x) ; "), [])
        self.assertFalse(os.path.exists("x") or os.path.exists(os.path.join(self.pages, "x")))
        self.assertEqual(self.complete("clotho planning --bu"), [])
        self.assertEqual(self.complete("clotho plan *"), [])
        self.assertEqual(self.complete("clotho "), re.findall(r"^  (\w+) ", self.good("--help"), re.M) + ["--help", "--version"])

    def test_the_pages_have_no_fault(self):
        names = sorted(os.listdir(os.path.join(self.pages, "man")))
        for name in names:
            path = os.path.join(self.pages, "man", name)
            if shutil.which("mandoc"):
                self.assertEqual(run("mandoc", "-Tlint", "-Wstyle", path).stdout, "", name)
            if shutil.which("groff"):
                said = run("groff", "-man", "-Tutf8", "-ww", "-z", path)
                self.assertEqual(said.stdout + said.stderr, "", name)
            if shutil.which("man"):
                said = run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path, env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
                self.assertEqual(said.stderr, "", name)
        self.assertIn("clotho-ninja.1", names)

    def test_the_shells_read_their_files(self):
        for words in [("bash", "-n", "bash/clotho"), ("zsh", "-n", "zsh/_clotho"), ("fish", "-n", "fish/clotho.fish")]:
            if shutil.which(words[0]):
                said = run(*words[:2], os.path.join(self.pages, words[2]))
                self.assertEqual((said.returncode, said.stderr), (0, ""), words)

    @unittest.skipUnless(shutil.which("fish"), "needs fish")
    def test_fish_completes(self):
        home = {**os.environ, "HOME": self.folder.name, "XDG_CONFIG_HOME": self.folder.name, "PATH": os.path.dirname(CLOTHO) + ":" + os.environ["PATH"]}
        for line, wanted in [("clotho pl", {"plan", "platform"}), ("clotho plan --pla", {"--planner", "--platform"}),
                             ("clotho plan --planner heft-e", {"heft-expected"}), ("clotho platform ", {"show", "calibrate", "list", "check"}),
                             ("clotho platform show --js", {"--json"}), ("clotho generate stream --arr", {"--arrivals"}),
                             ("clotho generate chain --arr", set())]:
            said = run("fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", os.path.join(self.pages, "fish/clotho.fish"), line,
                       env=home)
            self.assertEqual(({found.split("\t")[0] for found in said.stdout.splitlines()}, said.stderr), (wanted, ""), line)

    @unittest.skipUnless(shutil.which("zsh"), "needs zsh")
    def test_zsh_completes(self):
        for name, text in (("inner.zsh", ZSH_INNER), ("outer.zsh", ZSH_OUTER)):
            with open(os.path.join(self.pages, "zsh", name), "w", encoding="utf-8") as file:
                file.write(text)
        folder = os.path.join(self.pages, "zsh")
        home = {**os.environ, "HOME": self.folder.name, "ZDOTDIR": self.folder.name, "TERM": "xterm",
                "PATH": os.path.dirname(CLOTHO) + ":" + os.environ["PATH"]}
        for line, wanted in [("clotho pl", {"plan", "platform"}), ("clotho plan --pla", {"--planner", "--platform"}),
                             ("clotho plan --planner heft-e", {"heft-expected"}), ("clotho plan --planner=heft-e", {"heft-expected"}),
                             ("clotho platform ", {"show", "calibrate", "list", "check"}), ("clotho platform show --js", {"--json"}),
                             ("clotho platform show rk356", {"rk3568"}), ("clotho plan --contention ", {"choose", "times"}),
                             ("clotho generate stream --arr", {"--arrivals"}), ("clotho generate chol", {"cholesky"}), ("clotho help conv", {"convert"}),
                             ("clotho help platform cali", {"calibrate"}), ("clotho list famil", {"families"}), ("clotho generate chain --arr", set())]:
            said = subprocess.run(["zsh", "-f", os.path.join(folder, "outer.zsh"), folder, line], capture_output=True, timeout=LONG, env=home, check=False,
                                  stdin=subprocess.DEVNULL)
            if said.returncode == 77:
                self.skipTest("zsh has no zpty here")
            self.assertEqual(said.returncode, 0, said)
            self.assertEqual({found.decode() for found in re.findall(rb"match:([^:]*):", said.stdout)}, wanted, line)

    def test_the_description_is_json_for_one_verb_too(self):
        self.assertEqual(self.json("help", "platform", "show")["name"], "platform show")
        self.assertEqual([option["name"] for option in self.json("convert", "--help")["options"]][-1], "help")
        self.assertEqual(self.good("plan", "--json", "--help"), self.good("plan", "--help"))
        self.bad(2, "help", "plna", "--json", holds="did you mean 'plan'?")


if __name__ == "__main__":
    unittest.main()
