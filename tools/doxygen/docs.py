#!/usr/bin/env python3
"""Makes the reference of the API with Doxygen. usage: docs.py DOXYFILE OUT

Every warning is an error, but that something has no comment, unless it is a call of a header in C: fields that say it all by their names, and
macros that make a struct, have none. Exit status 1 after printing what is wrong."""
import pathlib
import re
import shutil
import subprocess
import sys

ALLOWED = re.compile(r"is not documented\.$")
CALL = re.compile(r"\(function\) of file \S+\.h is not documented\.$")


def main():
    doxyfile, out = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(out / "html", ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / "warnings").unlink(missing_ok=True)
    subprocess.run(["doxygen", doxyfile], check=True)
    said = (out / "warnings").read_text(encoding="utf-8").splitlines()
    wrong = sorted({line for line in said if CALL.search(line) or not ALLOWED.search(line)})
    print(*wrong, sep="\n", end="\n" if wrong else "")
    calls = sum(page.read_text(encoding="utf-8").count('class="memitem"') for page in out.glob("html/*_8h.html"))
    print(f"docs: {len(wrong)} warnings, {calls} entries of headers in {out / 'html' / 'index.html'}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
