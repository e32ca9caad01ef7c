"""Every function that the public headers declare with CLO_API is called in a test_arguments*.c.

usage: arguments.py INCLUDE_FOLDER TEST_FILE ... Also checks itself: a name that the test lacks must be found."""
import glob
import os
import re
import sys

DECLARED = re.compile(r"CLO_API\b[^;{]*?\b(clo_\w+)\s*\(")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def declared(folder):
    names = set()
    for path in glob.glob(os.path.join(folder, "**", "*.h"), recursive=True):
        with open(path, encoding="utf-8") as file:
            names |= set(DECLARED.findall(COMMENT.sub("", file.read())))
    return names


def missing(names, test):
    """A name counts where it is called, or given to one of the refuses macros."""
    return sorted(name for name in names if not re.search(r"\b%s(\(|,)" % name, test))


def main():
    folder, *paths = sys.argv[1:]
    test = ""
    for path in paths:
        with open(path, encoding="utf-8") as file:
            test += COMMENT.sub("", file.read())
    names = declared(folder)
    if len(names) < 100 or missing({"clo_no_such_call"}, test) != ["clo_no_such_call"]:
        sys.exit("arguments: the headers were not understood: %d calls" % len(names))
    lacking = missing(names, test)
    if lacking:
        names = ", ".join(os.path.basename(path) for path in paths)
        sys.exit("arguments: no call with bad arguments in %s of: %s" % (names, ", ".join(lacking)))
    print("arguments: all %d calls of the headers are there" % len(names))


if __name__ == "__main__":
    main()
