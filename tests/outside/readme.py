"""Every command line of the README works as it is printed. usage: readme.py BUILD SOURCE [README]

- Lines of `sh` blocks and lines with "$ " of `console` blocks run one after the other in one shell, in an empty folder and with
  a fresh HOME. "# text" behind ./PROGRAM is what the program prints; the text below a "$ " line has the labels that it prints.
- ./dev run and ./dev test take minutes: .ci/run must have them. Of ./dev bench, which are tests, the options are tried, and its figures in the
  table of the README must stand on the page of that benchmark, bench/NAME/README.md.
- Of a line with cmake -S only the configuration is done: it has the library and the command, no test, and no -Werror.
- Code spans with a command are such lines too; only ./dev may stand there. A picture must be the one that
  the lines draw, or one of what ./dev run --all measures."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

TWO_GRAPHS = """{"format": "clotho.graph/1", "name": "a", "tasks": [{"work_ns": 9}, {"work_ns": 9}], "edges": [{"from": 0, "to": 1}]}
{"format": "clotho.graph/1", "name": "b", "tasks": [{"work_ns": 9}]}
"""
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.S | re.M)
MARK = "@line "


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def shell_lines(text):
    """The command lines of all blocks, each with the text that the README prints below it."""
    for language, block in BLOCK.findall(text):
        if language not in ("c", "sh", "console"):
            sys.exit("README: a block of the language '%s'; write sh, console or c, so that this test knows what to do" % language)
        if language == "sh":
            yield from ((line, "") for line in block.splitlines() if line.strip())
        elif language == "console":
            for command in re.split(r"^\$ ", block, flags=re.M)[1:]:
                line, _, below = command.partition("\n")
                yield line, below


def dev_lines(text):
    """./dev lines of blocks and of code spans; any other command in a code span is an error."""
    yield from (line for line, _ in shell_lines(text) if line.startswith("./dev"))
    for span in re.findall(r"`([^`\n]+)`", BLOCK.sub("", text)):
        if span.startswith("./dev "):
            yield span
        elif re.match(r"(clotho|cmake|build/\S+) ", span):
            sys.exit("README: `%s` in a sentence is not run; put it into a sh block" % span)


def check_bench(build, words):
    """The benchmark knows these options, and --only names one of what its help lists."""
    program = os.path.join(build, "bin", "bench-" + words[0])
    if not os.path.exists(program):
        return "there is no benchmark '%s'" % words[0]
    done = subprocess.run([program, *words[1:], "--help"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr.strip()
    if "--only" in words:
        name = words[words.index("--only") + 1]
        listed = re.search(r"--only .*", done.stdout).group(0)
        if not re.search(r"\b%s\b" % re.escape(name), listed):
            return "bench-%s %s" % (words[0], listed)
    return None


def check_dev(build, source, line):
    """What is wrong with a ./dev line, or None."""
    words = shlex.split(line, comments=True)[1:]
    plain = " ".join(["./dev", *words])
    always = [line.partition("#")[0].removeprefix("stage ").strip() for line in read(source, ".ci", "run").splitlines()]
    if words == ["help"]:
        return None if subprocess.run([os.path.join(source, "dev"), "help"], capture_output=True, check=False).returncode == 0 else "fails"
    if words[0] == "bench" and len(words) > 1:
        return check_bench(build, words[1:])  # each is run as the test bench.NAME
    return None if any(line in always for line in (plain, plain + " --all", plain + " --times")) else ".ci/run does not have it"


def check_figures(text, source):
    """Figures in rows with a ./dev bench command stand on that benchmark's page."""
    rows = re.findall(r"^\|(.*)\| `\./dev bench (\w+).*` \|$", text, re.M)
    if len(rows) < 3:
        yield "README: the table has %d rows with ./dev bench; it should have 3" % len(rows)
    for row, name in rows:
        page = os.path.join(source, "bench", name, "README.md")
        there = set(re.findall(r"[\d.]+", read(page))) if os.path.exists(page) else set()
        for figure in re.findall(r"\| ([\d.]+) ", "|" + row):
            if figure not in there:
                yield "README: %s is not a figure of bench/%s/README.md" % (figure, name)


def may_use_fifo():
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except PermissionError:
        return False
    return True


def run_lines(lines, build, source, work):
    """What each line printed, and the exit status: 0, or that of the first line that fails."""
    home = os.path.join(work, "home")
    os.mkdir(home)
    os.mkdir(os.path.join(work, "build"))
    os.symlink(build, os.path.join(work, "build", "release"))
    os.symlink(os.path.join(source, "examples"), os.path.join(work, "examples"))
    with open(os.path.join(work, "jobs.jsonl"), "w", encoding="utf-8") as file:
        file.write(TWO_GRAPHS)
    if not may_use_fifo():
        print("SCHED_FIFO is not permitted here: lines run without --fifo")
        lines = [re.sub(r" --fifo \d+", "", line) for line in lines]
    script = "".join("echo '%s%d'\n%s\n" % (MARK, i, line) for i, line in enumerate(lines))
    environment = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    done = subprocess.run(["sh", "-e", "-c", script], cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", errors="replace", check=False)
    return re.split(r"^%s\d+\n" % MARK, done.stdout, flags=re.M)[1:], done.returncode


def labels(text):
    return set(re.findall(r"^[a-z]+\b", text, re.M))


def check_output(line, below, printed):
    said = re.match(r"\./\S+ +# (.*)$", line)
    if said and said.group(1) not in printed.splitlines():
        yield "%s: no line reads '%s'" % (line, said.group(1))
    for label in sorted(labels(below) - labels(printed)):
        yield "%s: the README shows a line '%s', the command prints none" % (line, label)


def check_lines(text, build, source):
    lines = [pair for pair in shell_lines(text) if not pair[0].startswith(("./dev", "cmake -S"))]
    with tempfile.TemporaryDirectory() as work:
        printed, status = run_lines([line for line, _ in lines], build, source, work)
        if status != 0:
            yield "README: this line fails with status %d: %s\n%s" % (status, lines[len(printed) - 1][0], printed[-1])
            return
        for (line, below), said in zip(lines, printed, strict=True):
            yield from check_output(line, below, said)
            if line.startswith("clotho list planners"):
                count = len(said.splitlines())
                if not re.search(r"one of\s%d planners" % count, text):
                    yield "README: 'clotho list planners' prints %d" % count
        for picture in re.findall(r"!\[.*\]\(docs/(\S+\.svg)\)", text):
            if not os.path.exists(os.path.join(work, picture)):  # measured: another one each time
                if "out/" + picture not in read(source, "dev"):
                    yield "docs/%s is drawn neither by the README's lines nor by ./dev run --all" % picture
            elif read(work, picture) != read(source, "docs", picture):
                yield "docs/%s is not what the README's lines draw; copy the new one there" % picture


def check_plain(text, source):
    """A build without ./dev: what a stranger's compiler warns of does not stop it, and it builds nothing that only we need."""
    lines = [line for line, _ in shell_lines(text) if line.startswith("cmake -S . -B build/plain ")]
    if len(lines) != 1:
        yield "README: %d lines begin with 'cmake -S . -B build/plain '; one should" % len(lines)
        return
    with tempfile.TemporaryDirectory() as work:
        options = shlex.split(lines[0].partition("&&")[0])[5:]
        done = subprocess.run(["cmake", "-S", source, "-B", work, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8", check=False)
        if done.returncode != 0:
            yield "README: %s\n%s" % (lines[0], done.stdout)
            return
        commands = json.loads(read(work, "compile_commands.json"))
    folders = {os.path.relpath(row["file"], source).split(os.sep)[0] for row in commands}
    if not {"runtime", "tools"} <= folders or folders & {"tests", "bench", "examples"}:
        yield "README: %s compiles files of %s" % (lines[0], ", ".join(sorted(folders)))
    if any("-Werror" in row["command"] for row in commands):
        yield "README: %s takes warnings for errors" % lines[0]


def main():
    build, source = map(os.path.abspath, sys.argv[1:3])
    text = read(sys.argv[3] if len(sys.argv) > 3 else os.path.join(source, "README.md"))
    wrong = ["README: %s: %s" % (line, why) for line in dev_lines(text) if (why := check_dev(build, source, line))]
    wrong += check_figures(text, source)
    wrong += check_plain(text, source)
    wrong += check_lines(text, build, source)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
