"""A folder that is configured for ninja: its manifest with a pool, its graph as ninja tells it, what a build makes."""
import os
import re
import subprocess

from trees import products as products_of

POOLED = "memory-budget.ninja"
LOGS = (".ninja_log", ".ninja_deps")


def manifest(folder):
    """The text of build.ninja, with what it includes in its place: the same scope."""
    def read(name):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return re.sub(r"^include (\S+)$", lambda match: read(match.group(1)), file.read(), flags=re.M)
    return read("build.ninja")


def write_pool(folder, text, pattern, depth):
    """A manifest beside the other whose rules that the pattern finds are in a pool. Returns how many those are."""
    text, count = re.subn(r"^rule (\S*(?:%s)\S*)$" % pattern, r"rule \1\n  pool = memory_budget", text, flags=re.M | re.I)
    with open(os.path.join(folder, POOLED), "w", encoding="utf-8") as file:
        file.write("pool memory_budget\n  depth = %d\n%s" % (depth, text))
    return count


def tool(folder, *words):
    return subprocess.run(["ninja", "-t", *words], cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout


def needs(folder):
    """Of each output, all that is made before it: also what only the order asks for."""
    names = [line.rsplit(": ", 1)[0] for line in tool(folder, "targets", "all").splitlines()]
    found, output, is_input = {}, None, False
    for at in range(0, len(names), 200):
        for line in tool(folder, "query", *names[at:at + 200]).splitlines():
            if not line.startswith(" "):
                output = line[:-1]
                found[output] = []
            elif not line.startswith("    "):
                is_input = line.startswith("  input:")
            elif is_input:
                found[output].append(re.sub(r"^\|+ ", "", line[4:]))
    return found


def longest_path(before, seconds):
    """An output of a step that is not its first one counts as nothing: that makes a bound lower, never higher."""
    path = {}
    for name in before:
        stack = [name]
        while stack:
            left = [n for n in before.get(stack[-1], ()) if n in before and n not in path]
            if left:
                stack += left
                continue
            last = stack.pop()
            path[last] = seconds.get(last, 0) + max((path[n] for n in before[last] if n in path), default=0)
    return max(path.values())


def remove(folder, *names):
    for name in names:
        if os.path.exists(os.path.join(folder, name)):
            os.unlink(os.path.join(folder, name))


def clean(folder):
    tool(folder, "clean")
    remove(folder, *LOGS)


def logged(folder):
    """The outputs of what was built since the logs were removed."""
    with open(os.path.join(folder, ".ninja_log"), encoding="utf-8") as file:
        return {line.split("\t")[3] for line in file if line.count("\t") == 4}


def products(folder):
    return {name: value for name, value in products_of(folder).items() if name != POOLED}


def is_up_to_date(folder, targets):
    said = subprocess.run(["ninja", "-n", *targets], cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout
    return said.splitlines()[-1] == "ninja: no work to do."
