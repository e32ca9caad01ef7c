#!/usr/bin/env python3
"""Measures the C and C++ of the project: functions over 60 lines, files over 600, lines over 120 columns.

A function is what stands between a '{' and a '}' in the first column (K&R with the brace on its own line); in C++ in any
column, but for namespaces and classes. Exit status 1 if
more than 2 % of the functions, or any by more than double, exceed 60 lines, a file exceeds 700, or a line 130
columns (tests may have tables); the rest is a report. Arrays that `clotho model embed` made are passed over."""
import os
import sys

FUNCTION, FILE, FILE_HARD, COLUMNS, COLUMNS_HARD = 60, 600, 700, 120, 130
GENERATED = "/* Made by `clotho model embed`"  # an array of numbers
SCOPE = ("namespace", "inline namespace", "class", "struct", "template <class T> class")  # no functions
FOLDERS = ("include", "kernels", "runtime", "tools", "examples", "bench", "tests")


def functions(lines, is_cxx):
    start = margin = None
    for number, line in enumerate(lines, 1):
        indent = line[:len(line) - len(line.lstrip())]
        if start is None or not is_cxx:
            if line.startswith("{") or (is_cxx and line.strip() == "{"):
                head = lines[number - 2].strip() if number > 1 else ""
                if not (is_cxx and head.startswith(SCOPE)):
                    start, margin = number, indent
                    continue
        if start is not None and line.startswith(margin + "}"):
            if line.strip() == "}":  # "};" ends a table, "} name;" a type
                yield start, number - start - 1, lines[start - 2].strip() if start > 1 else ""
            start = None


def main(root):
    lengths, failed, wide = [], 0, 0
    for folder in FOLDERS:
        for where, folders, files in os.walk(os.path.join(root, folder)):
            folders.sort()
            for name in sorted(f for f in files if f.endswith((".c", ".h", ".cpp", ".hpp"))):
                path = os.path.join(where, name)
                short = os.path.relpath(path, root)
                with open(path, encoding="utf-8") as file:
                    lines = file.read().splitlines()
                if lines and lines[0].startswith(GENERATED):
                    continue
                if len(lines) > FILE:
                    print("%s: %d lines; split it" % (short, len(lines)))
                    failed |= len(lines) > FILE_HARD
                for number, line in enumerate(lines, 1):
                    if len(line) > COLUMNS:
                        wide += 1
                        if len(line) > COLUMNS_HARD:
                            print("%s:%d: %d columns" % (short, number, len(line)))
                        failed |= len(line) > COLUMNS_HARD and folder != "tests"
                for start, length, head in functions(lines, name.endswith("pp")):
                    lengths.append(length)
                    if length > FUNCTION:
                        print("%s:%d: %d lines: %s" % (short, start, length, head))
                        failed |= length > 2 * FUNCTION
    lengths.sort()
    long = sum(length > FUNCTION for length in lengths)
    if lengths:
        print("style: %d functions, median %d lines, p90 %d, longest %d, %d over %d (%.1f %%); %d lines over %d columns" % (
            len(lengths), lengths[len(lengths) // 2], lengths[len(lengths) * 9 // 10], lengths[-1], long, FUNCTION,
            100 * long / len(lengths), wide, COLUMNS))
        failed |= long > 0.02 * len(lengths)
    return failed


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))))
