"""Every command line and program of the guides works as it is printed. usage: guides.py BUILD SOURCE [NAME...]

- docs/guides/README.md says how to set up a shell; then each guide begins there, in an empty folder with a fresh HOME, as a reader
  does who follows this guide alone. Lines run and are judged as those of the README (readme.py).
- A block after a line that ends with "`NAME`:" is the file NAME, written before the lines below it run. Any other block must be lines of
  a file that the guide links to, as they stand there (indentation apart).
- A block of lines that begins with "# as root", "# on a board" or "# on your project" is read and not run; one that says "needs A and B"
  there runs where these packages of Debian are, and CI has them; one with "# takes minutes" runs with CLO_FULL.
- A figure in a row of a table whose last column links to a page of a benchmark stands on that page.
- A guide has at most 150 lines, and README.md names it."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from readme import BLOCK, MARK, check_output, may_use_fifo, read

LINES_MAX = 150
NEVER = ("as root", "on a board", "on your project")
VERDICT = re.compile(r"^(ok|warn|lack) .*\n", re.M)  # of the host, which is another one everywhere
NAMED = re.compile(r"`([\w./-]+)`:\n\n?$")


class Step:
    """A command line with the text that the guide prints below it, or a file to write (its path in `line`)."""

    def __init__(self, line, below="", content=None):
        self.line, self.below, self.content = line, below, content


def packages_are_there(names):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev}\n", *names], capture_output=True, text=True, check=False)
    return done.returncode == 0 and all(line.startswith("ii") for line in done.stdout.splitlines())


def why_not(mark):
    """Why a block with this first line is not run here, "" where nothing can be done about it; None: it is run."""
    if mark.startswith(NEVER):
        return ""
    if mark.startswith("takes minutes") and not os.environ.get("CLO_FULL"):
        return "takes minutes; mend: CLO_FULL=1 ctest -V -R outside.guides"
    needs = re.search(r"\bneeds ((?:[a-z][\w+.-]+(?:, | and )?)+)", mark)
    names = re.split(", | and ", needs.group(1)) if needs else []
    if names and not packages_are_there(names) and not os.environ.get("CI"):
        return "not all of %s are here; mend: apt-get install %s" % (" ".join(names), " ".join(names))
    return None


def join_lines(block):
    return re.sub(r"\\\n\s*", "", block).splitlines()


def is_quoted(block, text, source, folder):
    """Whether the block is in a file that the guide links to."""
    def bare(lines):
        return "\n".join(line.strip() for line in lines.splitlines() if line.strip())
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        path = os.path.join(source, folder, link)
        if "://" not in link and os.path.isfile(path) and not path.endswith(".md") and bare(block) in bare(read(path)):
            return True
    return False


def steps_of(text, name, source):
    """(steps, skips, complaints) of a guide."""
    steps, skips, wrong = [], [], []
    for match in BLOCK.finditer(text):
        language, block = match.groups()
        named = NAMED.search(text[:match.start()])
        if language in ("sh", "console"):
            mark = re.match(r"# ([^\n]*)\n", block)
            reason = why_not(mark.group(1)) if mark else None
            if reason is not None:
                skips += ["skipped: docs/guides/%s: %s" % (name, reason)] if reason else []
            elif language == "sh":
                steps += [Step(line) for line in join_lines(block) if line.strip() and not line.startswith("#")]
            else:
                commands = (command.partition("\n") for command in re.split(r"^\$ ", block, flags=re.M)[1:])
                steps += [Step(line, below) for line, _, below in commands]
        elif named:
            steps.append(Step(named.group(1), content=block))
        elif not is_quoted(block, text, source, "docs/guides"):
            wrong.append("docs/guides/%s: this block is no file, as no line `NAME`: stands before it, and no part of a linked file:\n%s" % (
                name, block))
    return steps, skips, wrong


def script_of(steps, blocks):
    script = ""
    for i, step in enumerate(steps):
        script += "echo '%s%d'\n" % (MARK, i)
        if step.content is None:
            script += step.line + "\n"
            continue
        with open(os.path.join(blocks, str(i)), "w", encoding="utf-8") as file:
            file.write(step.content)
        script += "mkdir -p \"$(dirname '%s')\" && cp '%s' '%s'\n" % (step.line, os.path.join(blocks, str(i)), step.line)
    return script


def run_steps(steps, clone, home):
    """What each step printed, and the exit status. All run in one shell that begins in the clone."""
    with tempfile.TemporaryDirectory() as blocks:
        script = script_of(steps, blocks)
        if not may_use_fifo():
            script = re.sub(r" --fifo \d+", "", script)
        environment = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "MPLBACKEND": "Agg"}
        done = subprocess.run(["sh", "-e", "-c", script], cwd=clone, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace", check=False)
    return re.split(r"^%s\d+\n" % MARK, done.stdout, flags=re.M)[1:], done.returncode


def check_table_figures(text, name, source):
    for row, link in re.findall(r"^\|(.*)\| \[[^]]+\]\((\.\./\.\./bench/[^)#]+)[^)]*\) \|$", text, re.M):
        there = set(re.findall(r"\d+(?:\.\d+)?", read(source, "docs", "guides", link)))
        for figure in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", re.sub(r"`[^`]*`", "", row)):
            if figure not in there:
                yield "docs/guides/%s: %s is no figure of %s" % (name, figure, link)


def check_guide(name, source, clone, home, setup):
    text = read(source, "docs", "guides", name)
    steps, skips, wrong = steps_of(text, name, source)
    if skips:
        print("\n".join(skips) + "\nOK (skipped=%d)" % len(skips))  # as tools/skipped.py reads it
    wrong += check_table_figures(text, name, source)
    if len(text.splitlines()) > LINES_MAX:
        wrong.append("docs/guides/%s has %d lines; at most %d" % (name, len(text.splitlines()), LINES_MAX))
    if name == "README.md":
        return wrong
    printed, status = run_steps(setup + steps, clone, home)
    if status != 0:
        wrong.append("docs/guides/%s: this line fails with status %d: %s\n%s" % (
            name, status, (setup + steps)[len(printed) - 1].line, printed[-1]))
    for step, said in zip(setup + steps, printed):
        below = VERDICT.sub("", step.below)
        wrong += ["docs/guides/%s: %s" % (name, why) for why in check_output(step.line, below, said)] if status == 0 else []
    return wrong


def make_clone(work, build, source):
    """What a reader has after ./dev build; the build may lie anywhere."""
    clone = os.path.join(work, "clotho")
    os.mkdir(clone)
    for entry in os.listdir(source):
        if entry != "build":
            os.symlink(os.path.join(source, entry), os.path.join(clone, entry))
    os.mkdir(os.path.join(clone, "build"))
    os.symlink(build, os.path.join(clone, "build", "release"))
    return clone


def main():
    build, source = map(os.path.abspath, sys.argv[1:3])
    names = sorted(entry for entry in os.listdir(os.path.join(source, "docs", "guides")) if entry.endswith(".md"))
    index = read(source, "docs", "guides", "README.md")
    setup, _, wrong = steps_of(index, "README.md", source)
    wrong += ["docs/guides/README.md does not name %s" % name for name in names if name != "README.md" and "(%s)" % name not in index]
    with tempfile.TemporaryDirectory() as work:
        clone, home = make_clone(work, build, source), os.path.join(work, "home")
        os.mkdir(home)
        for name in names:
            if len(sys.argv) > 3 and name not in sys.argv[3:]:
                continue
            wrong += check_guide(name, source, clone, home, setup)
            shutil.rmtree(os.path.join(home, "guides"), ignore_errors=True)
            if name != "README.md":  # it is installed once
                setup = [step for step in setup if not step.line.startswith("cmake --install")]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
