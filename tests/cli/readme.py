"""Every local link of every Markdown file leads somewhere, and the README quotes programs of this repository as they are.
--update copies the programs into the README."""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QUOTED = {"c": "examples/01_hello_graph.c"}


def update():
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for language, source in QUOTED.items():
        with open(os.path.join(ROOT, source), encoding="utf-8") as file:
            program = file.read()
        text = re.sub(r"(```%s\n).*?(```)" % language, lambda m, p=program: m.group(1) + p + m.group(2), text, count=1, flags=re.S)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


def main():
    failed = 0
    for name in ["README.md", *(n for top in ["docs", "runtime", "bench", "examples", "tests"]
                                for n in glob.glob(top + "/**/*.md", root_dir=ROOT, recursive=True))]:
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            text = file.read()
        for target in re.findall(r"\]\(([^)#]+)\)|<img src=\"([^\"]+)\"", text):
            path = target[0] or target[1]
            if "://" not in path and not os.path.exists(os.path.join(ROOT, os.path.dirname(name), path)):
                print("%s links to %s, which is not there" % (name, path))
                failed = 1
        if name != "README.md":
            continue
        for language, path in QUOTED.items():
            block = re.search(r"```%s\n(.*?)```" % language, text, re.S)
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                if block is None or block.group(1) != file.read():
                    print("README.md does not quote %s as it is; run tests/cli/readme.py --update" % path)
                    failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(update() if "--update" in sys.argv else main())
