"""The documents match the repository. --update copies the programs that the README quotes into it.

- every local link of every Markdown file leads somewhere, and the README quotes the programs as they are;
- docs/ARCHITECTURE.md draws and describes each outer module of CMakeLists.txt, and those in OWN_ROWS, above all modules
  that it uses (tools/check_rooms.py sees to the other folders);
- runtime/README.md has the same rows;
- tests/README.md names every test, and no file that is not there."""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QUOTED = {"c": "examples/00_first.c"}
OWN_ROWS = re.compile(r"plan/|(cost/bound|sim/time)$")  # modules in modules that stand in the pictures
sys.path.insert(0, os.path.join(ROOT, "tools"))
from check_layers import read_modules  # noqa: E402


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def update():
    text = read("README.md")
    for language, source in QUOTED.items():
        text = re.sub(r"(```%s\n).*?(```)" % language, lambda m, p=read(source): m.group(1) + p + m.group(2), text, count=1, flags=re.S)
    with open(os.path.join(ROOT, "README.md"), "w", encoding="utf-8") as file:
        file.write(text)
    return 0


def wrong_links(name):
    text = re.sub(r"^```.*?^```", "", read(name), flags=re.S | re.M)  # a lambda is no link
    for link, image in re.findall(r"\]\(([^)#]+)\)|<img src=\"([^\"]+)\"", text):
        path = link or image
        if "://" not in path and not os.path.exists(os.path.join(ROOT, os.path.dirname(name), path)):
            yield "%s links to %s, which is not there" % (name, path)


def wrong_quotes():
    for language, path in QUOTED.items():
        block = re.search(r"```%s\n(.*?)```" % language, read("README.md"), re.S)
        if block is None or block.group(1) != read(path):
            yield "README.md does not quote %s as it is; run tests/cli/readme.py --update" % path


def outer_modules(uses):
    """The modules of the pictures: a folder in a folder counts as the outer one, but for those of OWN_ROWS."""
    shown = {module: module if OWN_ROWS.match(module) else module.split("/")[0] for module in uses}
    merged = {}
    for module, used in uses.items():
        mine = merged.setdefault(shown[module], set())
        mine |= {shown.get(other, other) for other in used} - {shown[module]}
    return merged


def rows_of(picture, modules):
    """The modules that each row of a picture names, before the text that explains the row."""
    rows = []
    for line in picture.splitlines():
        names = []
        for word in line.split():
            if word not in modules:
                break
            names.append(word)
        if names:
            rows.append(names)
    return rows


def wrong_rows(name, rows, modules):
    """Lower rows have larger numbers; a module inside plan stands where plan does for those outside."""
    at = {module: i for i, row in enumerate(rows) for module in row}
    for module, uses in sorted(modules.items()):
        if module not in at:
            yield "%s: the pictures do not show %s" % (name, module)
            continue
        for used in sorted(uses & at.keys()):
            if at[used] <= at[module]:
                yield "%s: %s uses %s, which does not stand below it" % (name, module, used)


def wrong_architecture(modules):
    name = "docs/ARCHITECTURE.md"
    text = read(name)
    outer, inner = [rows_of(picture, modules) for picture in re.findall(r"^```\n(.*?)^```", text, re.S | re.M)[:2]]
    plan = next((i for i, row in enumerate(outer) if "plan" in row), 0)
    yield from wrong_rows(name, outer[:plan] + inner + outer[plan + 1:], modules)
    described = set(re.findall(r"^\| `([\w/]+)` \|", text, re.M))
    for module in sorted(m for m in modules if not m.startswith("plan/") and m not in described):
        yield "%s: the table does not describe %s" % (name, module)
    short = rows_of(re.search(r"^```\n(.*?)^```", read("runtime/README.md"), re.S | re.M).group(1), modules)
    if short != outer:
        yield "runtime/README.md has other rows than %s" % name


def wrong_tests():
    """Paths in code spans of tests/README.md are relative to tests/."""
    name, folder = "tests/README.md", os.path.join(ROOT, "tests")
    named = set(re.findall(r"`((?:\.\./)?[\w./-]+\.(?:c|h|cpp|py|sh|txt))`", read(name)))
    tests = {n for n in glob.glob("**/test_*", root_dir=folder, recursive=True)
             if n.endswith((".c", ".h", ".cpp", ".py"))}
    for test in sorted(tests - named):
        yield "%s does not name %s; add a row that says what it shows" % (name, test)
    for path in sorted(p for p in named if not os.path.exists(os.path.join(folder, p))):
        yield "%s names %s, which is not there" % (name, path)


def main():
    wrong = [line for name in ["README.md", *(n for top in ["docs", "runtime", "bench", "examples", "tests"]
                                              for n in glob.glob(top + "/**/*.md", root_dir=ROOT, recursive=True))]
             for line in wrong_links(name)]
    wrong += wrong_quotes()
    wrong += wrong_architecture(outer_modules(read_modules(ROOT)))
    wrong += wrong_tests()
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(update() if "--update" in sys.argv else main())
