"""The README quotes programs and files of this repository: the text must be theirs, and every local link must lead somewhere."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QUOTED = {"c": "examples/01_hello_graph.c"}


def main():
    failed = 0
    for name in ["README.md", "docs/ARCHITECTURE.md", "runtime/README.md"]:
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
                    print("README.md does not quote %s as it is" % path)
                    failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
